/** SQL of the invariants of webhooks; over all accounts. */
import type { Db } from '../../platform/database/sql.ts'

export async function deliveriesTwice(sql: Db): Promise<{ id: string; endpoint_id: string }[]> {
  return await sql<{ id: string; endpoint_id: string }[]>`
    select q.endpoint_id, q.id from webhook_queue q join webhook_deliveries d using (account_id, mode, endpoint_id, id)
    union all select r.endpoint_id, r.id from webhook_retries r join webhook_deliveries d using (account_id, mode, endpoint_id, id)
    union all select r.endpoint_id, r.id from webhook_retries r join webhook_queue q using (endpoint_id, id)
    limit 20`
}

export async function strayEndpoints(
  sql: Db,
): Promise<{ id: string; status: string; events: string; subscribed: string }[]> {
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

/**
 * Events from `id_floor` on that the fan-out has passed, without a delivery for who subscribes to them. Of endpoints that have never changed and filter nothing: what the others
 * subscribed to then is not known any more. A delivery's id follows from its event's and its endpoint's (`deliveryId`).
 */
export async function missedEvents(
  sql: Db,
  id_floor: string,
): Promise<{ id: string; type: string; endpoint_id: string }[]> {
  return await sql<{ id: string; type: string; endpoint_id: string }[]>`
    with in_memory as materialized (
      select d.endpoint_id, d.id from webhook_handoffs h cross join lateral webhook_handoff_deliveries(h.endpoints, h.deliveries) d
    ), wanted as (
      select e.account_id, e.mode, e.id, e.type, w.id as endpoint_id, 'whd_' || substr(e.id, 5, 14) || left(md5(e.id || w.id), 12) as delivery_id
      from webhook_fan_out f, events e
      join webhook_subscriptions s on s.account_id = e.account_id and s.mode = e.mode and s.event_type in (e.type, '*')
      join webhook_endpoints w on w.account_id = s.account_id and w.mode = s.mode and w.id = s.endpoint_id
      where e.id >= ${id_floor} and (e.position, e.id) <= (f.position, f.id) and e.position >= s.since_position and e.endpoint_id is null
        and s.filters is null and w.version = 1 and w.status = 'active'
    )
    select id, type, endpoint_id from wanted
    where not exists (select from webhook_deliveries d where d.account_id = wanted.account_id and d.mode = wanted.mode and d.endpoint_id = wanted.endpoint_id and d.id = wanted.delivery_id)
      and not exists (select from webhook_queue q where q.endpoint_id = wanted.endpoint_id and q.id = wanted.delivery_id)
      and not exists (select from webhook_retries r where r.endpoint_id = wanted.endpoint_id and r.id = wanted.delivery_id)
      and not exists (select from in_memory m where m.endpoint_id = wanted.endpoint_id and m.id = wanted.delivery_id)
    limit 20`
}

/** A minute is long for what goes to the queue after a second, and for what other processes take over after ten. */
export async function staleHandoffs(sql: Db): Promise<{ process_id: string; size: number; created_at: string }[]> {
  return await sql<{ process_id: string; size: number; created_at: string }[]>`
    select process_id, size, created_at from webhook_handoffs s
    where exists (select 1 from processes p where p.started_at < p.heartbeat_at - interval '1 minute' and s.created_at < p.heartbeat_at - interval '1 minute')
    limit 20`
}
