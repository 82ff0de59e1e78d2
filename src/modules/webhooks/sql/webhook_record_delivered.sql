-- why: nearly every attempt succeeds, and what it costs to write that down is most of what a queued delivery costs: one round trip, planned without reading the queue through.

-- Takes deliveries off the queue and records them as delivered; a column is a text, a line each. What is no longer in the queue was recorded by someone else and
-- is passed over. Failures in a row of these endpoints are over. Commits without waiting for the disk; fails (23505) where one of them is on record already.
create or replace function webhook_record_delivered(p_endpoint_ids text, p_ids text, p_attempts text, p_response_statuses text, p_durations text) returns void
language plpgsql set enable_seqscan = off as $$
declare
  failing text[];
begin
  perform set_config('synchronous_commit', 'off', true);
  with gone as (
    delete from webhook_queue q
    using unnest(text_column(p_endpoint_ids), text_column(p_ids), text_column(p_attempts), text_column(p_response_statuses), text_column(p_durations))
      as d (endpoint_id, id, attempts, response_status, duration_ms)
    where q.endpoint_id = d.endpoint_id and q.id = d.id
    returning q.account_id, q.mode, q.endpoint_id, q.id, q.event_id, q.event_type, q.created_at,
      d.attempts::int as attempts, d.response_status::int as response_status, d.duration_ms::int as duration_ms
  )
  insert into webhook_deliveries (account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms, created_at)
  select account_id, mode, endpoint_id, id, event_id, event_type, 'delivered', attempts, response_status, duration_ms, created_at from gone;
  -- in the order in which everybody locks leases; nearly always there are none
  select array_agg(l.endpoint_id) into failing
  from (select endpoint_id from webhook_leases where endpoint_id = any (text_column(p_endpoint_ids)) and failures > 0 order by endpoint_id for update) l;
  if failing is not null then
    update webhook_leases set failures = 0 where endpoint_id = any (failing);
  end if;
end $$;
