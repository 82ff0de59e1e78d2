-- why: the queue is empty at one moment and holds 100,000 rows at the next. A plan made while it was small would read it through for every endpoint; a function is planned under settings of its own.

-- The endpoints behind p_after that have something due, each with the process that holds its lease, a line each; skips from endpoint to endpoint, however much
-- waits for one of them. retries_due: some retry's time has come, which is not in the queue yet.
create or replace function webhook_due_endpoints(p_at timestamptz, p_after text, p_limit int) returns table (retries_due boolean, endpoint_ids text, process_ids text)
language plpgsql stable set enable_seqscan = off as $$
#variable_conflict use_column
declare
  found_ids text[] := '{}';
  next_id text := p_after;
begin
  loop
    select q.endpoint_id into next_id from webhook_queue q where q.endpoint_id > next_id order by q.endpoint_id limit 1;
    exit when not found;
    found_ids := found_ids || next_id;
    exit when cardinality(found_ids) >= p_limit;
  end loop;
  return query
    select exists (select 1 from webhook_retries where next_run_at <= p_at), string_agg(f.endpoint_id, E'\n'), string_agg(coalesce(l.process_id, ''), E'\n')
    from unnest(found_ids) f (endpoint_id) left join webhook_leases l on l.endpoint_id = f.endpoint_id;
end $$;
