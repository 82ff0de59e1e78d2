-- why: the queue is empty at one moment and holds 100,000 rows at the next. A plan made while it was small would read it through; a function is planned under settings of its own.

-- The due deliveries of each endpoint of p_wanted after the last id that was read, oldest first, up to its own limit.
create or replace function webhook_due_deliveries(p_wanted json) returns setof webhook_queue
language plpgsql stable set enable_seqscan = off as $$
begin
  return query
    select q.* from json_to_recordset(p_wanted) as w (endpoint_id text, after text, "limit" int)
    cross join lateral (select * from webhook_queue d where d.endpoint_id = w.endpoint_id and d.id > w.after order by d.id limit w."limit") q;
end $$;
