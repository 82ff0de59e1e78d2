-- why: events grow by thousands a second. A plan that was made while there were few would read all of them through for one; a function is planned under settings of its own.

-- Whether this event is in the feed. One that was read may be lost since: a fail-over to a replica that was behind takes it, or a crash of a server that does not wait for its disk.
create or replace function webhook_feed_has(p_position bigint, p_id text) returns boolean
language plpgsql stable set enable_seqscan = off as $$
begin
  return exists (select from events where position = p_position and id = p_id);
end $$;
