-- why: what the webhook lanes do, as functions: each is one round trip, and each is planned without reading a queue through,
-- however small the queue was when its plan was made. They commit without waiting for the disk: after a crash they are done again, which
-- at most repeats deliveries.

-- Follows the feed by up to `p_limit` events: makes the deliveries of active subscriptions and moves the cursor. Who finds another
-- process at it gets nothing. The id of a delivery follows from its event and endpoint. `unripe`: there are events that become final
-- only when a transaction under way has ended. `p_careful`: passes over deliveries that are there already, which only happens after an
-- operator has moved the cursor; asking the index before every insert would cost as much as the insert.
create function webhook_follow_feed(p_at timestamptz, p_limit int, p_careful boolean) returns table (events int, deliveries int, unripe boolean)
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
  at_position bigint;
  at_id text;
  horizon bigint;
  to_position bigint;
  to_id text;
begin
  horizon := feed_horizon();
  select position, id into at_position, at_id from webhook_fan_out where only_row;
  unripe := exists (select 1 from events where position >= horizon);
  if not exists (select 1 from events where (position, id) > (at_position, at_id) and position < horizon) then
    return query select 0, 0, unripe;
    return;
  end if;
  perform set_config('synchronous_commit', 'off', true);
  select position, id into at_position, at_id from webhook_fan_out where only_row for update skip locked;
  if not found then
    return query select 0, 0, false;
    return;
  end if;
  horizon := feed_horizon();
  with batch as materialized (
    select account_id, mode, id, type, endpoint_id, created_at, position from events
    where (position, id) > (at_position, at_id) and position < horizon
    order by position, id limit p_limit
  ), made as (
    insert into webhook_queue (endpoint_id, id, account_id, mode, event_id, event_type, due_at, created_at)
    select s.endpoint_id, 'whd_' || substr(b.id, 5, 14) || substr(md5(b.id || s.endpoint_id), 1, 12), b.account_id, b.mode, b.id, b.type, b.created_at, p_at
    from batch b
    -- two look-ups by the whole key: an endpoint that does not want the event is never looked at
    cross join lateral (
      select * from webhook_subscriptions w where w.account_id = b.account_id and w.mode = b.mode and w.event_type = b.type
      union all
      select * from webhook_subscriptions w where w.account_id = b.account_id and w.mode = b.mode and w.event_type = '*'
    ) s
    where b.endpoint_id is null
      and webhook_is_later(b.position, s.since_position, s.since_snapshot)
      and case when s.filters is null then true else webhook_filters_pass(s.filters, b.type,
        (select object from events e where e.account_id = b.account_id and e.mode = b.mode and e.id = b.id)) end
    on conflict do nothing
    returning 1
  )
  select (select count(*) from batch), (select count(*) from made), last.position, last.id
  into events, deliveries, to_position, to_id
  from (select 1) one left join (select position, id from batch order by position desc, id desc limit 1) last on true;
  if events > 0 then
    update webhook_fan_out set position = to_position, id = to_id where only_row;
  end if;
  return next;
end $$;

-- Brings retries whose time has come to the queue, and answers the endpoints that have something due, each with whose turn it is
-- after those that nobody living holds were taken for this process. Skips from endpoint to endpoint, however much waits for one.
create function webhook_take_turns(p_process text, p_at timestamptz, p_lease_until timestamptz, p_alive_since timestamptz, p_after text, p_limit int, p_retries int)
returns table (endpoint_id text, owner text)
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
  ready text[] := '{}';
  next_id text := p_after;
begin
  if exists (select 1 from webhook_retries where due_at <= p_at) then
    perform set_config('synchronous_commit', 'off', true);
    with due as (
      select endpoint_id, id from webhook_retries where due_at <= p_at order by due_at limit p_retries for update skip locked
    ), gone as (
      delete from webhook_retries r using due where r.endpoint_id = due.endpoint_id and r.id = due.id returning r.*
    )
    insert into webhook_queue (endpoint_id, id, account_id, mode, event_id, event_type, attempts, response_status, duration_ms, error, error_message, scheduled, due_at, created_at)
    select endpoint_id, id, account_id, mode, event_id, event_type, attempts, response_status, duration_ms, error, error_message, scheduled, due_at, created_at
    from gone on conflict do nothing;
  end if;
  loop
    select q.endpoint_id into next_id from webhook_queue q where q.endpoint_id > next_id order by q.endpoint_id limit 1;
    exit when not found;
    ready := ready || next_id;
    exit when cardinality(ready) >= p_limit;
  end loop;
  if cardinality(ready) = 0 then
    return;
  end if;
  if exists (select 1 from webhook_turns t where t.endpoint_id = any (ready) and t.owner is distinct from p_process) then
    update webhook_turns t set owner = p_process, lease_until = p_lease_until
    where t.endpoint_id in (
      select f.endpoint_id from webhook_turns f
      where f.endpoint_id = any (ready) and f.owner is distinct from p_process
        and (f.owner is null or f.lease_until <= p_at or not exists (select 1 from processes p where p.id = f.owner and p.beat_at > p_alive_since))
      order by f.endpoint_id for update skip locked);
  end if;
  return query select r.endpoint_id, t.owner from unnest(ready) r (endpoint_id) left join webhook_turns t on t.endpoint_id = r.endpoint_id;
end $$;

-- What is due for each endpoint of `p_wants` after the id that was read last, oldest first, up to its own limit.
create function webhook_due(p_wants json) returns setof webhook_queue
language plpgsql stable set enable_seqscan = off as $$
begin
  return query
    select q.* from json_to_recordset(p_wants) as w (endpoint_id text, after text, "limit" int)
    cross join lateral (select * from webhook_queue d where d.endpoint_id = w.endpoint_id and d.id > w.after order by d.id limit w."limit") q;
end $$;

-- The events of these ids, each of its own account and mode, with the object as the text that was stored.
create function webhook_events(p_wanted json) returns table (id text, mode text, type text, created_at timestamptz, object text)
language plpgsql stable set enable_seqscan = off as $$
#variable_conflict use_column
begin
  return query
    select e.id, e.mode, e.type, e.created_at, e.object::text from json_to_recordset(p_wanted) as w (account_id text, mode text, id text)
    join events e on e.account_id = w.account_id and e.mode = w.mode and e.id = w.id;
end $$;

-- Settles attempts, given as columns of lines: takes each off the queue, records what ended, puts back what is tried again, and counts
-- failures in a row. What is no longer in the queue was settled by someone else and is passed over. Answers the counts that changed.
-- Attempts that were under way together count up to `p_circuit` only: a short outage never disables an endpoint. `p_careful`: forgets
-- those that are on record already.
create function webhook_settle(
  p_endpoint_ids text, p_ids text, p_statuses text, p_attempts text, p_response_statuses text, p_durations text, p_errors text, p_error_messages text, p_next_attempts text,
  p_counts json, p_circuit int, p_careful boolean
) returns table (endpoint_id text, failures int)
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
begin
  perform set_config('synchronous_commit', 'off', true);
  return query
    with gone as (
      delete from webhook_queue q
      using unnest(
        split_lines(p_endpoint_ids), split_lines(p_ids), split_lines(p_statuses), split_lines(p_attempts), split_lines(p_response_statuses), split_lines(p_durations),
        split_lines(p_errors), split_lines(p_error_messages), split_lines(p_next_attempts)
      ) as d (endpoint_id, id, status, attempts, response_status, duration_ms, error, error_message, next_attempt_at)
      where q.endpoint_id = d.endpoint_id and q.id = d.id
      returning q.account_id, q.mode, q.endpoint_id, q.id, q.event_id, q.event_type, q.created_at, q.scheduled,
        d.status, d.attempts::int as attempts, d.response_status::int as response_status, d.duration_ms::int as duration_ms, d.error, d.error_message, d.next_attempt_at::timestamptz as next_attempt_at
    ), ended as (
      insert into webhook_deliveries (account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms, error, error_message, created_at)
      select account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms, error, error_message, created_at
      from gone g where status is not null and (not p_careful or not exists (
        select 1 from webhook_deliveries w where w.account_id = g.account_id and w.mode = g.mode and w.endpoint_id = g.endpoint_id and w.id = g.id))
    ), failed as (
      insert into webhook_failures (account_id, mode, endpoint_id, id)
      select account_id, mode, endpoint_id, id from gone where status = 'failed' on conflict do nothing
    ), again as (
      insert into webhook_retries (endpoint_id, id, account_id, mode, event_id, event_type, attempts, response_status, duration_ms, error, error_message, scheduled, due_at, created_at)
      select endpoint_id, id, account_id, mode, event_id, event_type, attempts, response_status, duration_ms, error, error_message, scheduled, next_attempt_at, created_at
      from gone where status is null on conflict do nothing
    ), counted as (
      select * from json_to_recordset(p_counts) as t (endpoint_id text, reset boolean, closed int, open int)
    )
    update webhook_turns t
    set failures = case when c.reset then 0 else t.failures end
      + least(c.closed, greatest(0, p_circuit - case when c.reset then 0 else t.failures end)) + c.open
    from counted c where t.endpoint_id = c.endpoint_id and (t.failures > 0 or c.closed + c.open > 0)
    returning t.endpoint_id, t.failures;
end $$;
