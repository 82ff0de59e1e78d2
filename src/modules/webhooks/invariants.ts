/** Invariants of webhooks for `posthorn doctor`. */
import { idFloor } from '../../lib/ids.ts'
import { invariant, type Invariant, type Platform } from '../../platform/platform.ts'
import { feedBlockers } from '../../platform/events/feed-horizon.ts'
import type { Db } from '../../platform/database/sql.ts'

/** Each event is a look-up. */
const lookBackMs = 3600_000

export const webhookInvariants = ({ clock }: Pick<Platform, 'clock'>): readonly Invariant[] => [
  invariant(
    'delivery-in-one-place',
    deliveriesTwice,
    (row) =>
      `The delivery ${row.id} of endpoint ${row.endpoint_id} is in more than one of the queue, the retries and the delivery log.`,
  ),
  invariant(
    'subscriptions-match-endpoints',
    strayEndpoints,
    (row) =>
      `The endpoint ${row.id} is ${row.status}, but its subscriptions are ${row.subscribed === '' ? 'none' : row.subscribed} instead of ${row.events}.`,
  ),
  invariant(
    'failed-deliveries-are-listed',
    unlistedFailures,
    (row) => `The delivery ${row.id} of endpoint ${row.endpoint_id} and the list of failed deliveries disagree.`,
  ),
  { name: 'feed-is-not-blocked', breaches: (sql) => feedBlockers(sql, clock) },
  invariant(
    'fan-out-is-not-ahead',
    cursorAhead,
    (row) =>
      `The fan-out cursor is at ${row.position}, past the feed horizon ${row.horizon}. Fan-out would miss the events in between.`,
  ),
  invariant(
    'events-reach-their-subscribers',
    (sql) => missedEvents(sql, idFloor('evt', clock.now() - lookBackMs)),
    (row) =>
      `The event ${row.id} lies behind the fan-out, and the endpoint ${row.endpoint_id}, which subscribes to ${row.type}, has no delivery of it.`,
  ),
]

async function deliveriesTwice(sql: Db): Promise<{ id: string; endpoint_id: string }[]> {
  return await sql<{ id: string; endpoint_id: string }[]>`
    select q.endpoint_id, q.id from webhook_queue q join webhook_deliveries d using (account_id, mode, endpoint_id, id)
    union all select r.endpoint_id, r.id from webhook_retries r join webhook_deliveries d using (account_id, mode, endpoint_id, id)
    union all select r.endpoint_id, r.id from webhook_retries r join webhook_queue q using (endpoint_id, id)
    limit 20`
}

async function strayEndpoints(sql: Db): Promise<{ id: string; status: string; events: string; subscribed: string }[]> {
  return await sql<{ id: string; status: string; events: string; subscribed: string }[]>`
    select e.id, e.status, array_to_string(e.events, ', ') as events, coalesce(s.types, '') as subscribed
    from webhook_endpoints e
    left join (
      select account_id, mode, endpoint_id, string_agg(event_type, ', ' order by event_type) as types from webhook_subscriptions group by 1, 2, 3
    ) s on s.account_id = e.account_id and s.mode = e.mode and s.endpoint_id = e.id
    where coalesce(s.types, '') <> case when e.status = 'active' then (select string_agg(event, ', ' order by event collate "C") from unnest(e.events) event) else '' end
    limit 20`
}

async function unlistedFailures(sql: Db): Promise<{ id: string; endpoint_id: string }[]> {
  return await sql<{ id: string; endpoint_id: string }[]>`
    select coalesce(d.endpoint_id, f.endpoint_id) as endpoint_id, coalesce(d.id, f.id) as id
    from (select account_id, mode, endpoint_id, id from webhook_deliveries where status = 'failed') d
    full join webhook_failures f on f.account_id = d.account_id and f.mode = d.mode and f.endpoint_id = d.endpoint_id and f.id = d.id
    where (d.id is null and exists (select 1 from webhook_deliveries w where w.account_id = f.account_id and w.mode = f.mode and w.endpoint_id = f.endpoint_id and w.id = f.id)) or f.id is null
    limit 20`
}

/** A cursor above a running transaction that may write events, or above all transactions so far. */
async function cursorAhead(sql: Db): Promise<{ position: string; horizon: string }[]> {
  return await sql<{ position: string; horizon: string }[]>`
    with epoch as materialized (select feed_horizon() >> 48 << 48 as start)
    select w.position::text, h.horizon::text
    from webhook_fan_out w
    cross join (
      select min(epoch.start + xid::text::bigint) as horizon
      from epoch
      cross join (
        select xid
        from feed_running_transactions()
        where not unrelated
          and database_oid = (select oid from pg_database where datname = current_database())
          and pg_xact_status(xid) = 'in progress'
        union all
        select pg_snapshot_xmax(pg_current_snapshot())
      ) r
    ) h
    where w.position >= h.horizon`
}

/** Of endpoints that never changed and have no filters: earlier subscriptions of others are unknown. */
async function missedEvents(sql: Db, id_floor: string): Promise<{ id: string; type: string; endpoint_id: string }[]> {
  return await sql<{ id: string; type: string; endpoint_id: string }[]>`
    with wanted as (
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
    limit 20`
}
