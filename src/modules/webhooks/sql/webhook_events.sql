-- why: events grow by thousands a second. A plan that was made while there were few would read all of them through for a handful; a function is planned under settings of its own.

-- The events of these ids, each of its own account and mode, with the object as the text that was stored.
create or replace function webhook_events(p_wanted json) returns table (id text, mode text, type text, created_at timestamptz, object text)
language plpgsql stable set enable_seqscan = off as $$
#variable_conflict use_column
begin
  return query
    select e.id, e.mode, e.type, e.created_at, e.object from json_to_recordset(p_wanted) as w (account_id text, mode text, id text)
    join events e on e.account_id = w.account_id and e.mode = w.mode and e.id = w.id;
end $$;
