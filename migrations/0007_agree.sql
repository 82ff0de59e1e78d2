-- why: a statement that finds a concurrent twin of an idempotency key takes everything back and is repeated whole.
create function agree(holds boolean) returns boolean language plpgsql stable as $$
begin
  if holds then return true; end if;
  raise exception 'a concurrent request used the same idempotency key' using errcode = '40001';
end $$;
