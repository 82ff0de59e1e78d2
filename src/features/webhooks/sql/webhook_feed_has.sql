-- why: events grow by thousands a second. A plan that was made while there were few would read all of them through for one; a function is planned under settings of its own.

-- Whether this event is in the feed. One that was read before the database crashed, or before another took its place, may be lost since.
create or replace function webhook_feed_has(p_position bigint, p_id text) returns boolean
language plpgsql stable set enable_seqscan = off as $$
begin
  return exists (select from events where position = p_position and id = p_id);
end $$;
