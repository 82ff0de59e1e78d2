/** SQL of single deliveries. */
import type { Tenant } from '../../api/caller.ts'
import type { EventRow } from '../../platform/events/outbox.ts'
import type { DeliveryStatus } from '../../api/resources/webhook-delivery.ts'
import type { DeliveryRow } from './delivery.ts'
import { jsonRows, type Db, type Fragment } from '../../platform/database/sql.ts'
import type { AttemptResult } from './attempt.ts'
import { breakerThreshold } from './dispatch/circuit-breaker.ts'
import type { Page } from '../../platform/http/paging.ts'

const unended = (sql: Db, next_attempt_at: Fragment) =>
  sql`account_id, mode, endpoint_id, id, event_id, event_type, 'pending' as status, attempts, response_status, duration_ms, error, error_message, ${next_attempt_at} as next_attempt_at, created_at`
export const pending = (sql: Db) => unended(sql, sql`next_run_at`)
/** Null for requested attempts: their `next_run_at` is the rescue by the worker. */
export const waiting = (sql: Db) => unended(sql, sql`case when scheduled and attempts > 0 then next_run_at end`)
export const ended = (sql: Db) =>
  sql`account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms, error, error_message, null::timestamptz as next_attempt_at, created_at`

/** Up to `limit + 1`, newest first. */
export async function listDeliveries(
  sql: Db,
  tenant: Tenant,
  endpoint_id: string,
  status: DeliveryStatus | undefined,
  page: Page,
): Promise<DeliveryRow[]> {
  const { account_id, mode } = tenant
  const own = sql`account_id = ${account_id} and mode = ${mode} and endpoint_id = ${endpoint_id} ${page.starting_after === undefined ? sql`` : sql`and id < ${page.starting_after}`}`
  const newest = sql`order by id desc limit ${page.limit + 1}`
  const notEnded = sql`
    (select ${pending(sql)} from webhook_queue where ${own} ${newest}) union all
    (select ${waiting(sql)} from webhook_retries where ${own} ${newest})`
  if (status === 'pending') return await sql<DeliveryRow[]>`select * from (${notEnded}) every ${newest}`
  const failed = sql`(select ${ended(sql)} from webhook_failures join webhook_deliveries using (account_id, mode, endpoint_id, id) where ${own} ${newest})`
  if (status === 'failed') return await sql<DeliveryRow[]>`select * from (${failed}) every ${newest}`
  const over = sql`(select ${ended(sql)} from webhook_deliveries where ${own} ${status === undefined ? sql`` : sql`and status = ${status}`} ${newest})`
  if (status !== undefined) return await sql<DeliveryRow[]>`select * from (${over}) every ${newest}`
  return await sql<DeliveryRow[]>`select * from (${notEnded} union all ${over}) every ${newest}`
}

export async function findDelivery(
  sql: Db,
  tenant: Tenant,
  endpoint_id: string,
  id: string,
): Promise<DeliveryRow | null> {
  const { account_id, mode } = tenant
  const own = sql`account_id = ${account_id} and mode = ${mode} and endpoint_id = ${endpoint_id} and id = ${id}`
  const [row] = await sql<DeliveryRow[]>`
    select ${ended(sql)} from webhook_deliveries where ${own}
    union all select ${pending(sql)} from webhook_queue where ${own}
    union all select ${waiting(sql)} from webhook_retries where ${own}`
  return row ?? null
}

export async function findEvent(sql: Db, { account_id, mode }: Tenant, id: string): Promise<EventRow | null> {
  const [row] = await sql<EventRow[]>`
    select id, mode, type, created_at, object::text as object
    from events
    where account_id = ${account_id}
      and mode = ${mode}
      and id = ${id}`
  return row ?? null
}

/** Due for the worker only if this process dies before its attempt. */
export async function insertRequested(
  sql: Db,
  row: DeliveryRow,
  scheduled: boolean,
  next_run_at: string,
): Promise<void> {
  await sql`
    insert into webhook_retries (
      account_id, mode, endpoint_id, id, event_id, event_type, attempts, response_status, duration_ms, error,
      error_message, scheduled, next_run_at, created_at
    )
    values (${row.account_id}, ${row.mode}, ${row.endpoint_id}, ${row.id}, ${row.event_id}, ${row.event_type}, ${row.attempts}, ${row.response_status}, ${row.duration_ms},
      ${row.error}, ${row.error_message}, ${scheduled}, ${next_run_at}, ${row.created_at})`
}

export async function insertEnded(sql: Db, row: DeliveryRow): Promise<void> {
  await sql`
    insert into webhook_deliveries (
      account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms,
      error, error_message, created_at
    )
    values (${row.account_id}, ${row.mode}, ${row.endpoint_id}, ${row.id}, ${row.event_id}, ${row.event_type}, ${row.status}, ${row.attempts}, ${row.response_status},
      ${row.duration_ms}, ${row.error}, ${row.error_message}, ${row.created_at})`
  if (row.status === 'failed')
    await sql`
      insert into webhook_failures (account_id, mode, endpoint_id, id)
      values (${row.account_id}, ${row.mode}, ${row.endpoint_id}, ${row.id})`
}

/** Null if someone else did. */
export async function deleteEnded(
  sql: Db,
  { account_id, mode }: Tenant,
  endpoint_id: string,
  id: string,
): Promise<DeliveryRow | null> {
  const [row] = await sql<DeliveryRow[]>`
    delete from webhook_deliveries
    where account_id = ${account_id}
      and mode = ${mode}
      and endpoint_id = ${endpoint_id}
      and id = ${id}
    returning ${ended(sql)}`
  if (row?.status === 'failed')
    await sql`
      delete from webhook_failures
      where account_id = ${account_id}
        and mode = ${mode}
        and endpoint_id = ${endpoint_id}
        and id = ${id}`
  return row ?? null
}

/** False if the worker had rescued the delivery. A failure counts only up to the breaker's threshold. */
export async function recordRequested(sql: Db, done: AttemptResult): Promise<boolean> {
  const [gone] = await sql<DeliveryRow[]>`
    delete from webhook_retries
    where endpoint_id = ${done.endpoint_id}
      and id = ${done.id}
    returning ${pending(sql)}`
  if (gone === undefined) return false
  const row = { ...gone, ...done, status: done.status ?? ('pending' as const) }
  if (done.status === null) await insertRequested(sql, row, true, done.next_attempt_at!)
  else await insertEnded(sql, row)
  const ok = done.status === 'delivered'
  await sql`
    update webhook_leases
    set failures = case when ${ok} then 0 else greatest(failures, least(failures + 1, ${breakerThreshold}::int)) end
    where endpoint_id = ${done.endpoint_id}
      and (failures > 0 or not ${ok})`
  return true
}

/** Up to `limit` rows of each queue. `unless_active` is checked in the same statement. */
export async function dropPending(sql: Db, endpoint_id: string, limit: number, unless_active = false): Promise<number> {
  const guard = unless_active
    ? sql`and not exists (select from webhook_endpoints e where e.account_id = q.account_id and e.mode = q.mode and e.id = q.endpoint_id and e.status = 'active')`
    : sql``
  let dropped = 0
  for (const queue of ['webhook_retries', 'webhook_queue']) {
    const rows = await sql<{ id: string }[]>`
      with gone as (
        delete from ${sql(queue)}
        where endpoint_id = ${endpoint_id}
          and id = any(
            array(
              select id from ${sql(queue)} q where endpoint_id = ${endpoint_id} ${guard} order by id limit ${limit} for update
            )
          )
        returning *
      ), failed as (
        insert into webhook_failures (account_id, mode, endpoint_id, id)
        select account_id, mode, endpoint_id, id
        from gone
        on conflict do nothing
      )
      insert into webhook_deliveries (
        account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms,
        error, error_message, created_at
      )
      select account_id, mode, endpoint_id, id, event_id, event_type, 'failed', attempts, response_status,
        duration_ms, 'endpoint_disabled',
        'The endpoint was disabled or deleted before this event could be delivered.', created_at
      from gone on conflict do nothing returning id`
    dropped += rows.length
  }
  return dropped
}

export async function endWithoutEvent(sql: Db, rows: readonly { endpoint_id: string; id: string }[]): Promise<void> {
  await sql`
    with gone as (
      delete from webhook_queue q
      using json_to_recordset(
        ${jsonRows(rows.map(({ endpoint_id, id }) => ({ endpoint_id, id })))}::text::json
      ) as r (endpoint_id text, id text)
      where q.endpoint_id = r.endpoint_id and q.id = r.id returning q.*
    ), failed as (
      insert into webhook_failures (account_id, mode, endpoint_id, id)
      select account_id, mode, endpoint_id, id
      from gone
      on conflict do nothing
    )
    insert into webhook_deliveries (
      account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms,
      error, error_message, created_at
    )
    select account_id, mode, endpoint_id, id, event_id, event_type, 'failed', attempts, response_status,
      duration_ms, 'event_expired', 'The event is no longer kept, so it could not be sent.', created_at
    from gone on conflict do nothing`
}

/** Including failures whose deliveries were dropped with their partition. */
export async function expireDeliveries(sql: Db, floor: string, limit: number): Promise<number> {
  const ended = await sql`
    delete from webhook_deliveries where (account_id, mode, endpoint_id, id) in (
      select account_id, mode, endpoint_id, id
      from webhook_deliveries
      where id < ${floor}
      limit ${limit})`
  const failures = await sql`
    delete from webhook_failures where (account_id, mode, endpoint_id, id) in (
      select account_id, mode, endpoint_id, id
      from webhook_failures
      where id < ${floor}
      limit ${limit})`
  return Math.max(ended.count, failures.count)
}

export async function eventsOf(
  sql: Db,
  { account_id, mode }: Tenant,
  object_id: string,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id
    from events
    where account_id = ${account_id}
      and mode = ${mode}
      and object_id = ${object_id}
    order by position desc, id desc
    limit ${limit}`
  return rows.map(({ id }) => id)
}

export async function findDeliveries(
  sql: Db,
  { account_id, mode }: Tenant,
  keys: readonly { readonly endpoint_id: string; readonly id: string }[],
): Promise<DeliveryRow[]> {
  if (keys.length === 0) return []
  const wanted = sql`(select endpoint_id, id from json_to_recordset(${jsonRows(keys)}::text::json) as k (endpoint_id text, id text)) wanted`
  return await sql<DeliveryRow[]>`
    select * from (
      select ${ended(sql)}
      from ${wanted}
      join webhook_deliveries
      using (endpoint_id, id)
      where account_id = ${account_id}
        and mode = ${mode}
      union all
      select ${pending(sql)}
      from ${wanted}
      join webhook_queue
      using (endpoint_id, id)
      where account_id = ${account_id}
        and mode = ${mode}
      union all
      select ${waiting(sql)}
      from ${wanted}
      join webhook_retries
      using (endpoint_id, id)
      where account_id = ${account_id}
        and mode = ${mode}
    ) every order by id desc, endpoint_id desc`
}

type Ended = 'delivered' | 'failed'

/** Of deliveries whose event is stored, oldest first. */
const endedIds = (
  sql: Db,
  { account_id, mode }: Tenant,
  endpoint_id: string,
  status: Ended,
  limit: number,
  created_until?: string,
) => sql`
  select id
  from ${status === 'failed' ? sql`webhook_failures join webhook_deliveries using (account_id, mode, endpoint_id, id)` : sql`webhook_deliveries`}
  where account_id = ${account_id}
    and mode = ${mode}
    and endpoint_id = ${endpoint_id}
    and status = ${status}
    and exists (select from events e where e.account_id = ${account_id} and e.mode = ${mode} and e.id = event_id)
    ${created_until === undefined ? sql`` : sql`and created_at <= ${created_until}::timestamptz`}
  order by id limit ${limit}`

/** With `created_until`, only those that existed then. */
export async function countEnded(
  sql: Db,
  tenant: Tenant,
  endpoint_id: string,
  status: Ended,
  limit: number,
  created_until?: string,
): Promise<number> {
  const rows = await sql`${endedIds(sql, tenant, endpoint_id, status, limit, created_until)}`
  return rows.length
}

/** Not attempted yet. */
export async function countRequested(
  sql: Db,
  { account_id, mode }: Tenant,
  endpoint_id: string,
  limit: number,
): Promise<number> {
  const requested = (queue: string) =>
    sql`(select from ${sql(queue)} where account_id = ${account_id} and mode = ${mode} and endpoint_id = ${endpoint_id} and not scheduled limit ${limit})`
  const rows = await sql`${requested('webhook_retries')} union all ${requested('webhook_queue')} limit ${limit}`
  return rows.length
}

/** One attempt without a schedule. Resolves to how many. */
export async function retryEnded(
  sql: Db,
  tenant: Tenant,
  endpoint_id: string,
  { status, limit, next_run_at }: { readonly status: Ended; readonly limit: number; readonly next_run_at: string },
): Promise<number> {
  const { account_id, mode } = tenant
  const { count } = await sql`
    with gone as (
      delete from webhook_deliveries
      where account_id = ${account_id}
        and mode = ${mode}
        and endpoint_id = ${endpoint_id}
        and id = any (array(${endedIds(sql, tenant, endpoint_id, status, limit)}))
      returning *
    ), forgotten as (
      delete from webhook_failures f
      using gone g
      where f.account_id = g.account_id
        and f.mode = g.mode
        and f.endpoint_id = g.endpoint_id
        and f.id = g.id
    )
    insert into webhook_retries (
      account_id, mode, endpoint_id, id, event_id, event_type, attempts, response_status, duration_ms, error,
      error_message, scheduled, next_run_at, created_at
    )
    select account_id, mode, endpoint_id, id, event_id, event_type, attempts, response_status, duration_ms,
      error, error_message, false, ${next_run_at}::timestamptz, created_at
    from gone`
  return count
}
