-- why: what a pass of the fan-out hands on within its process needs no row of its own in the queue. One row for all of them, a span, is
-- written with the cursor; a delivery that ends at its first attempt is written down once, when it ends.
-- A span stays until each of its deliveries is on record, waits for a retry, or was brought to the queue. What a dead process leaves
-- is brought to the queue by any other.
create table webhook_spans (
  process_id text collate "C" not null,
  -- counted by the process, so that a number lost with a crash never comes again
  id bigint not null,
  created_at timestamptz not null,
  -- the endpoints, a line each
  endpoints text not null,
  -- a line for each delivery: the number of its endpoint, the end of its id, its event and the event's type
  deliveries text not null,
  size integer not null,
  -- endpoints that were disabled or deleted since: their deliveries are on record as failed
  dropped text[] not null default '{}',
  primary key (process_id, id)
) with (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 100000, autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);
alter table webhook_spans alter column endpoints set storage external;
alter table webhook_spans alter column deliveries set storage external;

-- The deliveries of a span.
create function webhook_span_deliveries(p_endpoints text, p_deliveries text) returns table (endpoint_id text, id text, event_id text, event_type text)
language sql immutable as $$
  select e.endpoint_id, 'whd_' || substr(split_part(line, ' ', 3), 5, 14) || split_part(line, ' ', 2), split_part(line, ' ', 3), split_part(line, ' ', 4)
  from unnest(split_lines(p_deliveries)) line
  join unnest(split_lines(p_endpoints)) with ordinality e (endpoint_id, n) on e.n = split_part(line, ' ', 1)::int
$$;

-- Follows the feed by up to `p_limit` events: makes the deliveries of active subscriptions and moves the cursor. Who finds another
-- process at it gets nothing. The id of a delivery follows from its event and endpoint. `unripe`: there are events that become final
-- only when a transaction under way has ended. Deliveries to the endpoints offered, each as its process knows it and while that
-- process holds its turn, are handed on up to the endpoint's room, the oldest first: answered, and written down as a span. The
-- others are queued.
drop function webhook_follow_feed(timestamptz, int, boolean);
create function webhook_follow_feed(p_at timestamptz, p_limit int, p_process text, p_span bigint, p_offered text, p_versions text, p_rooms text, p_turns_until timestamptz)
returns table (events int, queued int, unripe boolean, endpoints text, handed text)
language plpgsql set enable_seqscan = off set enable_nestloop = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  at_position bigint;
  at_id text;
  horizon bigint;
  to_position bigint;
  to_id text;
  handed_size int;
begin
  horizon := feed_horizon();
  select position, id into at_position, at_id from webhook_fan_out where only_row;
  unripe := exists (select 1 from events where position >= horizon);
  if not exists (select 1 from events where (position, id) > (at_position, at_id) and position < horizon) then
    return query select 0, 0, unripe, null::text, null::text;
    return;
  end if;
  perform set_config('synchronous_commit', 'off', true);
  select position, id into at_position, at_id from webhook_fan_out where only_row for update skip locked;
  if not found then
    return query select 0, 0, false, null::text, null::text;
    return;
  end if;
  horizon := feed_horizon();
  with batch as materialized (
    select account_id, mode, id, type, endpoint_id, created_at, position, row_number() over (order by position, id) as nth from events
    where (position, id) > (at_position, at_id) and position < horizon
    order by position, id limit p_limit
  ), kinds as materialized (
    select distinct account_id, mode, type from batch where endpoint_id is null
  ), wanted as materialized (
    -- two look-ups by the whole key for each kind of event: an endpoint that does not want it is never looked at
    select k.account_id, k.mode, k.type, s.endpoint_id, s.filters, s.since_position, s.since_snapshot
    from kinds k cross join lateral (
      select * from webhook_subscriptions w where w.account_id = k.account_id and w.mode = k.mode and w.event_type = k.type
      union all
      select * from webhook_subscriptions w where w.account_id = k.account_id and w.mode = k.mode and w.event_type = '*'
    ) s
  ), offered as materialized (
    select unnest(split_lines(p_offered)) collate "C" as endpoint_id, unnest(split_lines(p_versions))::int as version, unnest(split_lines(p_rooms))::int as room
  ), takers as materialized (
    select endpoint_id, room, row_number() over () as n
    from (select o.* from offered o join (select distinct endpoint_id from wanted) w on w.endpoint_id = o.endpoint_id offset 0) o
    -- as scalars, so that each is one look-up by key
    where (select t.owner = p_process and t.lease_until > p_turns_until from webhook_turns t where t.endpoint_id = o.endpoint_id)
      and (select e.version = o.version and e.status = 'active' from webhook_endpoints e where e.id = o.endpoint_id)
  ), made as materialized (
    select b.account_id, b.mode, b.id, b.type, b.created_at, s.endpoint_id, substr(md5(b.id || s.endpoint_id), 1, 12) as ending, t.n,
      t.n is not null and row_number() over (partition by t.n order by b.nth) <= t.room as fits
    from batch b
    join wanted s on s.account_id = b.account_id and s.mode = b.mode and s.type = b.type
    left join takers t on t.endpoint_id = s.endpoint_id
    where b.endpoint_id is null
      and webhook_is_later(b.position, s.since_position, s.since_snapshot)
      and case when s.filters is null then true else webhook_filters_pass(s.filters, b.type,
        (select object from events e where e.account_id = b.account_id and e.mode = b.mode and e.id = b.id)) end
  ), put as (
    insert into webhook_queue (endpoint_id, id, account_id, mode, event_id, event_type, due_at, created_at)
    select endpoint_id, 'whd_' || substr(id, 5, 14) || ending, account_id, mode, id, type, created_at, p_at
    from made where not fits
    on conflict do nothing
    returning 1
  )
  select (select count(*) from batch), (select count(*) from put), last.position, last.id, h.handed, h.size, (select string_agg(endpoint_id, E'\n' order by n) from takers)
  into events, queued, to_position, to_id, handed, handed_size, endpoints
  from (select string_agg(n || ' ' || ending || ' ' || id || ' ' || type, E'\n') as handed, count(*) as size from made where fits) h
    left join (select position, id from batch order by nth desc limit 1) last on true;
  if events > 0 then
    update webhook_fan_out set position = to_position, id = to_id where only_row;
  end if;
  if handed is not null then
    insert into webhook_spans (process_id, id, created_at, endpoints, deliveries, size) values (p_process, p_span, p_at, endpoints, handed, handed_size);
  end if;
  return next;
end $$;

-- Settles first attempts of deliveries that were handed on: records what ended, puts up for a retry what is tried again, counts failures in
-- a row as webhook_settle does, and removes the spans `p_ended`, of which nothing is left. A run is what deliveries of one span, endpoint
-- and type of event share. What belongs to a span that is gone, or to an endpoint dropped from it, is no longer this process's to
-- settle and is passed over. `p_careful`: so is what is on record already.
create function webhook_settle_handed(
  p_process text, p_spans text, p_ended text,
  p_run_spans text, p_run_endpoints text, p_run_accounts text, p_run_modes text, p_run_types text, p_run_times text,
  p_runs text, p_ids text, p_event_ids text, p_response_statuses text, p_durations text, p_errors text, p_error_messages text, p_next_attempts text,
  p_counts json, p_circuit int, p_careful boolean
) returns table (endpoint_id text, failures int)
language plpgsql set enable_seqscan = off set enable_nestloop = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  perform set_config('synchronous_commit', 'off', true);
  -- a statement of its own: the next one sees whatever was done to the spans until they were locked
  perform 1 from webhook_spans where process_id = p_process and id = any (split_lines(p_spans)::bigint[]) order by id for update;
  -- most often all of them succeed
  if p_errors = '' then
    return query
      with named as materialized (
        select row_number() over () as n, r.* from (
          select unnest(split_lines(p_run_spans))::bigint as span, unnest(split_lines(p_run_endpoints)) as endpoint_id, unnest(split_lines(p_run_accounts)) as account_id,
            unnest(split_lines(p_run_modes)) as mode, unnest(split_lines(p_run_types)) as event_type, unnest(split_lines(p_run_times))::timestamptz as created_at) r
      ), runs as materialized (
        select r.* from named r join webhook_spans s on s.process_id = p_process and s.id = r.span and s.id = any (split_lines(p_spans)::bigint[])
        where r.endpoint_id <> all (s.dropped)
      ), ended as (
        insert into webhook_deliveries (account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms, created_at)
        select r.account_id, r.mode, r.endpoint_id, d.id, d.event_id, r.event_type, 'delivered', 1, d.response_status, d.duration_ms, r.created_at
        from (
          select unnest(split_lines(p_runs))::int as run, unnest(split_lines(p_ids)) as id, unnest(split_lines(p_event_ids)) as event_id,
            unnest(split_lines(p_response_statuses))::int as response_status, unnest(split_lines(p_durations))::int as duration_ms) d
        join runs r on r.n = d.run
        where not p_careful or (
          select w.id from webhook_deliveries w where w.account_id = r.account_id and w.mode = r.mode and w.endpoint_id = r.endpoint_id and w.id = d.id) is null
      ), counted as materialized (
        select * from json_to_recordset(p_counts) as t (endpoint_id text, reset boolean, closed int, open int)
      )
      update webhook_turns t
      set failures = case when c.reset then 0 else t.failures end
        + least(c.closed, greatest(0, p_circuit - case when c.reset then 0 else t.failures end)) + c.open
      from counted c
      where t.endpoint_id = c.endpoint_id and t.endpoint_id = any (array(select endpoint_id from counted)) and (t.failures > 0 or c.closed + c.open > 0)
      returning t.endpoint_id, t.failures;
  else
    return query
      with named as materialized (
        select row_number() over () as n, r.* from (
          select unnest(split_lines(p_run_spans))::bigint as span, unnest(split_lines(p_run_endpoints)) as endpoint_id, unnest(split_lines(p_run_accounts)) as account_id,
            unnest(split_lines(p_run_modes)) as mode, unnest(split_lines(p_run_types)) as event_type, unnest(split_lines(p_run_times))::timestamptz as created_at) r
      ), runs as materialized (
        select r.* from named r join webhook_spans s on s.process_id = p_process and s.id = r.span and s.id = any (split_lines(p_spans)::bigint[])
        where r.endpoint_id <> all (s.dropped)
      ), done as materialized (
        select r.*, d.* from (
          select unnest(split_lines(p_runs))::int as run, unnest(split_lines(p_ids)) as id, unnest(split_lines(p_event_ids)) as event_id,
            unnest(split_lines(p_response_statuses))::int as response_status, unnest(split_lines(p_durations))::int as duration_ms,
            unnest(split_lines(p_errors)) as error, unnest(split_lines(p_error_messages)) as error_message, unnest(split_lines(p_next_attempts))::timestamptz as next_attempt_at) d
        join runs r on r.n = d.run
        where not p_careful or (
          select w.id from webhook_deliveries w where w.account_id = r.account_id and w.mode = r.mode and w.endpoint_id = r.endpoint_id and w.id = d.id) is null
      ), ended as (
        insert into webhook_deliveries (account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms, error, error_message, created_at)
        select account_id, mode, endpoint_id, id, event_id, event_type, case when error is null then 'delivered' else 'failed' end, 1, response_status, duration_ms,
          error, error_message, created_at
        from done where next_attempt_at is null
      ), failed as (
        insert into webhook_failures (account_id, mode, endpoint_id, id)
        select account_id, mode, endpoint_id, id from done where error is not null and next_attempt_at is null on conflict do nothing
      ), again as (
        insert into webhook_retries (endpoint_id, id, account_id, mode, event_id, event_type, attempts, response_status, duration_ms, error, error_message, due_at, created_at)
        select endpoint_id, id, account_id, mode, event_id, event_type, 1, response_status, duration_ms, error, error_message, next_attempt_at, created_at
        from done where next_attempt_at is not null on conflict do nothing
      ), counted as materialized (
        select * from json_to_recordset(p_counts) as t (endpoint_id text, reset boolean, closed int, open int)
      )
      update webhook_turns t
      set failures = case when c.reset then 0 else t.failures end
        + least(c.closed, greatest(0, p_circuit - case when c.reset then 0 else t.failures end)) + c.open
      from counted c
      where t.endpoint_id = c.endpoint_id and t.endpoint_id = any (array(select endpoint_id from counted)) and (t.failures > 0 or c.closed + c.open > 0)
      returning t.endpoint_id, t.failures;
  end if;
  if p_ended <> '' then
    delete from webhook_spans where process_id = p_process and id = any (split_lines(p_ended)::bigint[]);
  end if;
end $$;

-- Brings to the queue what is left of these spans, and removes them. Answers the number of deliveries brought.
create function webhook_queue_spans(p_processes text, p_ids text) returns int
language plpgsql set enable_seqscan = off as $$
declare
  brought int;
begin
  perform set_config('synchronous_commit', 'off', true);
  perform 1 from webhook_spans s where (s.process_id, s.id) in (select unnest(split_lines(p_processes)), unnest(split_lines(p_ids))::bigint)
  order by s.process_id, s.id for update;
  with gone as (
    delete from webhook_spans s where (s.process_id, s.id) in (select unnest(split_lines(p_processes)), unnest(split_lines(p_ids))::bigint) returning s.*
  )
  insert into webhook_queue (endpoint_id, id, account_id, mode, event_id, event_type, due_at, created_at)
  select d.endpoint_id, d.id, e.account_id, e.mode, d.event_id, d.event_type, g.created_at, g.created_at
  from gone g cross join lateral webhook_span_deliveries(g.endpoints, g.deliveries) d
  cross join lateral (select x.account_id, x.mode from webhook_endpoints x where x.id = d.endpoint_id limit 1) e
  where d.endpoint_id <> all (g.dropped)
    and (select w.id from webhook_deliveries w where w.account_id = e.account_id and w.mode = e.mode and w.endpoint_id = d.endpoint_id and w.id = d.id) is null
    and (select r.id from webhook_retries r where r.endpoint_id = d.endpoint_id and r.id = d.id) is null
  on conflict do nothing;
  get diagnostics brought = row_count;
  return brought;
end $$;

-- Ends as failed what was handed on for an endpoint and is not settled; who has it at hand passes over it.
create function webhook_drop_handed(p_endpoint text) returns void
language plpgsql set enable_seqscan = off as $$
begin
  perform 1 from webhook_spans s where p_endpoint = any (split_lines(s.endpoints)) order by s.process_id, s.id for update;
  with own as materialized (
    select d.*, s.created_at, e.account_id, e.mode
    from webhook_spans s cross join lateral webhook_span_deliveries(s.endpoints, s.deliveries) d
    cross join lateral (select x.account_id, x.mode from webhook_endpoints x where x.id = d.endpoint_id limit 1) e
    where p_endpoint = any (split_lines(s.endpoints)) and p_endpoint <> all (s.dropped) and d.endpoint_id = p_endpoint
      and (select w.id from webhook_deliveries w where w.account_id = e.account_id and w.mode = e.mode and w.endpoint_id = d.endpoint_id and w.id = d.id) is null
      and (select q.id from webhook_queue q where q.endpoint_id = d.endpoint_id and q.id = d.id) is null
      and (select r.id from webhook_retries r where r.endpoint_id = d.endpoint_id and r.id = d.id) is null
  ), failed as (
    insert into webhook_failures (account_id, mode, endpoint_id, id) select account_id, mode, endpoint_id, id from own on conflict do nothing
  )
  insert into webhook_deliveries (account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, error, error_message, created_at)
  select account_id, mode, endpoint_id, id, event_id, event_type, 'failed', 0, 'endpoint_disabled',
    'The endpoint was disabled or deleted before this event could be delivered.', created_at
  from own on conflict do nothing;
  update webhook_spans s set dropped = s.dropped || p_endpoint where p_endpoint = any (split_lines(s.endpoints));
end $$;
