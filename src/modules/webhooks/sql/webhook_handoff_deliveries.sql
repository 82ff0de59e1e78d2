-- why: lists of deliveries show what is in memory beside what stands in tables, in one snapshot; the lines of a batch are taken apart where the tables are read.

-- The deliveries of a handoff batch, as src/modules/webhooks/fan-out/handoff.ts writes them.
create or replace function webhook_handoff_deliveries(p_endpoints text, p_deliveries text) returns table (endpoint_id text, id text, event_id text, event_type text)
language sql immutable as $$
  select e.endpoint_id, 'whd_' || substr(split_part(line, ' ', 3), 5, 14) || split_part(line, ' ', 2), split_part(line, ' ', 3), split_part(line, ' ', 4)
  from unnest(text_column(p_deliveries)) line
  join unnest(text_column(p_endpoints)) with ordinality e (endpoint_id, n) on e.n = split_part(line, ' ', 1)::int
$$;
