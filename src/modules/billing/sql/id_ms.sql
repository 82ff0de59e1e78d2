-- why: a statement that finds a wallet ahead of its ids must place them behind the wallet's last entry while it holds the wallet.
-- The milliseconds since 1970 at which an id was made: its first ten characters behind the prefix (src/lib/ids.ts, idTime).
create or replace function id_ms(id text) returns bigint language sql immutable strict parallel safe as $$
  select sum((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(id, strpos(id, '_') + place, 1)) - 1)::bigint << (5 * (10 - place)))::bigint
  from generate_series(1, 10) as place
$$;
