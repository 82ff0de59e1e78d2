-- why: as that of id_ms.
-- The id as it would be, had it been made at another millisecond: what made it unique, and the order among those of one millisecond, stay.
create or replace function id_at(id text, ms bigint) returns text language sql immutable strict parallel safe as $$
  select left(id, strpos(id, '_'))
    || (select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> (5 * (10 - place))) & 31)::int + 1, 1), '' order by place) from generate_series(1, 10) as place)
    || substr(id, strpos(id, '_') + 11)
$$;
