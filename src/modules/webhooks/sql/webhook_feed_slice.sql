-- why: events grow by thousands a second. A plan that was made while there were few would read all of them through for those that are new; a function is planned under settings of its own.

-- The events behind the fan-out's cursor that are final, up to p_limit, a text a column and a line an event, and where the cursor is. An event that goes to
-- one endpoint alone has no type. blocked: there are events that become final only when a transaction under way has ended.
create or replace function webhook_feed_slice(p_limit int)
returns table (at_position text, at_id text, blocked boolean, account_ids text, modes text, ids text, types text, positions text, times text)
language plpgsql stable set enable_seqscan = off as $$
#variable_conflict use_column
declare
  horizon bigint := feed_horizon();
  cursor_position bigint;
  cursor_id text;
begin
  select position, id into cursor_position, cursor_id from webhook_fan_out where only_row;
  return query
    select cursor_position::text, cursor_id, exists (select 1 from events where position >= horizon),
      string_agg(e.account_id, E'\n'), string_agg(e.mode, E'\n'), string_agg(e.id, E'\n'),
      string_agg(case when e.endpoint_id is null then e.type else '' end, E'\n'), string_agg(e.position::text, E'\n'), string_agg(e.created_at::text, E'\n')
    from (
      select account_id, mode, id, type, endpoint_id, position, created_at from events
      where (position, id) > (cursor_position, cursor_id) and position < horizon
      order by position, id limit p_limit
    ) e;
end $$;
