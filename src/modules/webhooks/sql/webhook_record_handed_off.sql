-- why: nearly every delivery ends here, once for every event and endpoint: one round trip, and a plan that joins by hash whatever the statistics of these quickly changing tables say.

-- Records first attempts of deliveries that were handed off as delivered, and removes the batches p_ended, of which nothing is left: where all of a batch is on
-- record, for a crash may have taken some of it since. A column is a text, a line each; a group is what deliveries of one batch, endpoint and type of event share.
-- What belongs to a batch that is gone, or to an endpoint dropped from it, is no longer this process's to record and is passed over. Failures in a row of these
-- endpoints are over. Commits without waiting for the disk; fails (23505) where one of them is on record already.
create or replace function webhook_record_handed_off(
  p_process text, p_batches text, p_ended text,
  p_group_batches text, p_group_endpoints text, p_group_accounts text, p_group_modes text, p_group_types text, p_group_times text,
  p_groups text, p_ids text, p_event_ids text, p_response_statuses text, p_durations text
) returns void
language plpgsql set enable_seqscan = off set enable_nestloop = off set plan_cache_mode = force_generic_plan as $$
declare
  failing text[];
begin
  perform set_config('synchronous_commit', 'off', true);
  -- a statement of its own: the next one sees whatever was done to the batches until they were locked
  perform 1 from webhook_handoffs where process_id = p_process and id = any (text_column(p_batches)::bigint[]) order by id for update;
  with named as materialized (
    select row_number() over () as n, g.* from (
      select unnest(text_column(p_group_batches))::bigint as batch_id, unnest(text_column(p_group_endpoints)) as endpoint_id, unnest(text_column(p_group_accounts)) as account_id,
        unnest(text_column(p_group_modes)) as mode, unnest(text_column(p_group_types)) as event_type, unnest(text_column(p_group_times))::timestamptz as created_at) g
  ), groups as materialized (
    select g.* from named g join webhook_handoffs h on h.process_id = p_process and h.id = g.batch_id and h.id = any (text_column(p_batches)::bigint[])
    where g.endpoint_id <> all (h.dropped)
  ), done as materialized (
    select g.*, d.id, d.event_id, d.response_status, d.duration_ms
    from (
      select unnest(text_column(p_groups))::int as n, unnest(text_column(p_ids)) as id, unnest(text_column(p_event_ids)) as event_id,
        unnest(text_column(p_response_statuses))::int as response_status, unnest(text_column(p_durations))::int as duration_ms) d
    join groups g on g.n = d.n
  ), recorded as (
    insert into webhook_deliveries (account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms, created_at)
    select account_id, mode, endpoint_id, id, event_id, event_type, 'delivered', 1, response_status, duration_ms, created_at from done
  ), now_recorded as materialized (
    select batch_id, count(*)::int as n from done group by batch_id
  ), continued as (
    insert into webhook_handoff_counts as c (process_id, id, recorded)
    select p_process, batch_id, n from now_recorded where batch_id <> all (text_column(p_ended)::bigint[])
    on conflict (process_id, id) do update set recorded = c.recorded + excluded.recorded
  ), counted as (
    delete from webhook_handoff_counts where process_id = p_process and id = any (text_column(p_ended)::bigint[]) returning id, recorded
  )
  delete from webhook_handoffs h
  using (select unnest(text_column(p_ended))::bigint as id) e left join counted c on c.id = e.id left join now_recorded r on r.batch_id = e.id
  where h.process_id = p_process and h.id = e.id and h.size = coalesce(c.recorded, 0) + coalesce(r.n, 0);
  -- in the order in which everybody locks leases; nearly always there are none
  select array_agg(l.endpoint_id) into failing
  from (select endpoint_id from webhook_leases where endpoint_id = any (text_column(p_group_endpoints)) and failures > 0 order by endpoint_id for update) l;
  if failing is not null then
    update webhook_leases set failures = 0 where endpoint_id = any (failing);
  end if;
end $$;
