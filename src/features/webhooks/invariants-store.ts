/** SQL of the invariants of webhooks; over all accounts. */
import type { Db } from '../../platform/database/sql.ts'

export async function deliveriesTwice(sql: Db): Promise<{ id: string; endpoint_id: string }[]> {
  return await sql<{ id: string; endpoint_id: string }[]>`
    select q.endpoint_id, q.id from webhook_queue q join webhook_deliveries d using (account_id, mode, endpoint_id, id)
    union all select r.endpoint_id, r.id from webhook_retries r join webhook_deliveries d using (account_id, mode, endpoint_id, id)
    union all select r.endpoint_id, r.id from webhook_retries r join webhook_queue q using (endpoint_id, id)
    limit 20`
}

export async function strayEndpoints(sql: Db): Promise<{ id: string; status: string; events: string; subscribed: string }[]> {
  return await sql<{ id: string; status: string; events: string; subscribed: string }[]>`
    select e.id, e.status, array_to_string(e.events, ', ') as events, coalesce(s.types, '') as subscribed
    from webhook_endpoints e
    left join (
      select account_id, mode, endpoint_id, string_agg(event_type, ', ' order by event_type) as types from webhook_subscriptions group by 1, 2, 3
    ) s on s.account_id = e.account_id and s.mode = e.mode and s.endpoint_id = e.id
    where coalesce(s.types, '') <> case when e.status = 'active' then (select string_agg(event, ', ' order by event collate "C") from unnest(e.events) event) else '' end
    limit 20`
}

export async function unlistedFailures(sql: Db): Promise<{ id: string; endpoint_id: string }[]> {
  return await sql<{ id: string; endpoint_id: string }[]>`
    select coalesce(d.endpoint_id, f.endpoint_id) as endpoint_id, coalesce(d.id, f.id) as id
    from (select account_id, mode, endpoint_id, id from webhook_deliveries where status = 'failed') d
    full join webhook_failures f on f.account_id = d.account_id and f.mode = d.mode and f.endpoint_id = d.endpoint_id and f.id = d.id
    where (d.id is null and exists (select 1 from webhook_deliveries w where w.account_id = f.account_id and w.mode = f.mode and w.endpoint_id = f.endpoint_id and w.id = f.id)) or f.id is null
    limit 20`
}

/**
 * A cursor above a transaction of this database that runs and may write events, or above all there have been. Who has ended since the snapshot was taken proves nothing: whose it was cannot be told any more.
 */
export async function cursorAhead(sql: Db): Promise<{ position: string; horizon: string }[]> {
  return await sql<{ position: string; horizon: string }[]>`
    with epoch as materialized (select feed_horizon() >> 48 << 48 as start)
    select w.position::text, h.horizon::text from webhook_fan_out w cross join (
      select min(epoch.start + xid::text::bigint) as horizon from epoch cross join (
        select xid from feed_running() where not bystander and database_oid = (select oid from pg_database where datname = current_database()) and pg_xact_status(xid) = 'in progress'
        union all select pg_snapshot_xmax(pg_current_snapshot())
      ) r
    ) h
    where w.position >= h.horizon`
}

/** A minute is long for what goes to the queue after a second, and for what other processes take over after ten. */
export async function staleHandoffs(sql: Db): Promise<{ process_id: string; size: number; created_at: string }[]> {
  return await sql<{ process_id: string; size: number; created_at: string }[]>`
    select process_id, size, created_at from webhook_handoffs s
    where exists (select 1 from processes p where p.started_at < p.beat_at - interval '1 minute' and s.created_at < p.beat_at - interval '1 minute')
    limit 20`
}
