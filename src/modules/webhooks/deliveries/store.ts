/** SQL of single deliveries: looking them up, attempting one at once, dropping what an endpoint no longer gets. */
import type { Tenant } from '../../../api/caller.ts'
import type { EventRow } from '../../../platform/events/outbox.ts'
import type { DeliveryStatus } from '../../../api/resources/webhook-delivery.ts'
import { jsonRows, type Db, type Fragment } from '../../../platform/database/sql.ts'
import type { AttemptResult } from '../dispatch/attempt.ts'
import { circuitAt } from '../dispatch/circuit.ts'
import type { Page } from '../../../platform/http/paging.ts'

export interface DeliveryRow extends Tenant {
  readonly id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly event_type: string
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly response_status: number | null
  readonly duration_ms: number | null
  readonly error: string | null
  readonly error_message: string | null
  readonly next_attempt_at: string | null
  readonly created_at: string
}

const unended = (sql: Db, next_attempt_at: Fragment) =>
  sql`account_id, mode, endpoint_id, id, event_id, event_type, 'pending' as status, attempts, response_status, duration_ms, error, error_message, ${next_attempt_at} as next_attempt_at, created_at`
export const pending = (sql: Db) => unended(sql, sql`next_run_at`)
/**
 * Those that wait for their time. One that somebody asked for is attempted at once, and its time is when the worker takes it over should the process die over it: that is no attempt.
 * Such are the first attempt of a test and whatever is retried by hand; nothing else waits without an attempt or a schedule.
 */
export const waiting = (sql: Db) => unended(sql, sql`case when scheduled and attempts > 0 then next_run_at end`)
export const ended = (sql: Db) =>
  sql`account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms, error, error_message, null::timestamptz as next_attempt_at, created_at`

/** Those handed off to a process, not recorded and not in the queue either: pending, as `queueHandoffs` would bring them there. */
export const handedOff = (sql: Db, { account_id, mode }: Tenant, endpoint_id: string | Fragment) => sql`
  select ${account_id}::text as account_id, ${mode}::text as mode, d.endpoint_id, d.id, d.event_id, d.event_type, 'pending' as status, 0 as attempts, null::int as response_status,
    null::int as duration_ms, null::text as error, null::text as error_message, s.created_at as next_attempt_at, s.created_at
  from webhook_handoffs s cross join lateral webhook_handoff_deliveries(s.endpoints, s.deliveries) d
  where strpos(s.endpoints, ${endpoint_id}) > 0 and d.endpoint_id = ${endpoint_id} and d.endpoint_id <> all (s.dropped)
    and not exists (select 1 from webhook_deliveries w where w.account_id = ${account_id} and w.mode = ${mode} and w.endpoint_id = d.endpoint_id and w.id = d.id)
    and not exists (select 1 from webhook_retries r where r.endpoint_id = d.endpoint_id and r.id = d.id)`

/** Up to `limit + 1` deliveries of an endpoint, newest first, from wherever they are. */
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
    (select * from (${handedOff(sql, tenant, endpoint_id)}) handoffs where ${own} ${newest}) union all
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
    union all select ${waiting(sql)} from webhook_retries where ${own}
    union all select * from (${handedOff(sql, tenant, endpoint_id)}) handoffs where ${own}`
  return row ?? null
}

export async function findEvent(sql: Db, { account_id, mode }: Tenant, id: string): Promise<EventRow | null> {
  const [row] = await sql<EventRow[]>`
    select id, mode, type, created_at, object::text as object from events where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return row ?? null
}

/** A delivery that this process attempts at once: due for the worker only if the process dies over it. */
export async function insertDirect(sql: Db, row: DeliveryRow, scheduled: boolean, next_run_at: string): Promise<void> {
  await sql`
    insert into webhook_retries (account_id, mode, endpoint_id, id, event_id, event_type, attempts, response_status, duration_ms, error, error_message, scheduled, next_run_at, created_at)
    values (${row.account_id}, ${row.mode}, ${row.endpoint_id}, ${row.id}, ${row.event_id}, ${row.event_type}, ${row.attempts}, ${row.response_status}, ${row.duration_ms},
      ${row.error}, ${row.error_message}, ${scheduled}, ${next_run_at}, ${row.created_at})`
}

/** A delivery that ended without an attempt. */
export async function insertEnded(sql: Db, row: DeliveryRow): Promise<void> {
  await sql`
    insert into webhook_deliveries (account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms, error, error_message, created_at)
    values (${row.account_id}, ${row.mode}, ${row.endpoint_id}, ${row.id}, ${row.event_id}, ${row.event_type}, ${row.status}, ${row.attempts}, ${row.response_status},
      ${row.duration_ms}, ${row.error}, ${row.error_message}, ${row.created_at})`
  if (row.status === 'failed')
    await sql`insert into webhook_failures (account_id, mode, endpoint_id, id) values (${row.account_id}, ${row.mode}, ${row.endpoint_id}, ${row.id})`
}

/** Takes an ended delivery out of the record, for another attempt. Null when someone else did. */
export async function takeEnded(
  sql: Db,
  { account_id, mode }: Tenant,
  endpoint_id: string,
  id: string,
): Promise<DeliveryRow | null> {
  const [row] = await sql<DeliveryRow[]>`
    delete from webhook_deliveries where account_id = ${account_id} and mode = ${mode} and endpoint_id = ${endpoint_id} and id = ${id} returning ${ended(sql)}`
  if (row?.status === 'failed')
    await sql`delete from webhook_failures where account_id = ${account_id} and mode = ${mode} and endpoint_id = ${endpoint_id} and id = ${id}`
  return row ?? null
}

/** Writes the outcome of a direct attempt, and counts it: a failure up to the circuit only, for which it did not wait. False when the worker had taken the delivery over. */
export async function recordDirect(sql: Db, done: AttemptResult): Promise<boolean> {
  const [gone] = await sql<DeliveryRow[]>`
    delete from webhook_retries where endpoint_id = ${done.endpoint_id} and id = ${done.id} returning ${pending(sql)}`
  if (gone === undefined) return false
  const row = { ...gone, ...done, status: done.status ?? ('pending' as const) }
  if (done.status === null) await insertDirect(sql, row, true, done.next_attempt_at!)
  else await insertEnded(sql, row)
  const ok = done.status === 'delivered'
  await sql`update webhook_leases set failures = case when ${ok} then 0 else greatest(failures, least(failures + 1, ${circuitAt}::int)) end where endpoint_id = ${done.endpoint_id} and (failures > 0 or not ${ok})`
  return true
}

/**
 * Ends what still waits for an endpoint as failed, `endpoint_disabled`: up to `limit` rows of each queue. `unless_active`: nothing where it is active by now, for then what
 * waits has come since; that has to be the same statement's to say.
 */
export async function dropPending(sql: Db, endpoint_id: string, limit: number, unless_active = false): Promise<number> {
  const guard = unless_active
    ? sql`and not exists (select from webhook_endpoints e where e.account_id = q.account_id and e.mode = q.mode and e.id = q.endpoint_id and e.status = 'active')`
    : sql``
  let dropped = 0
  for (const queue of ['webhook_retries', 'webhook_queue']) {
    const rows = await sql<{ id: string }[]>`
      with gone as (
        delete from ${sql(queue)} where endpoint_id = ${endpoint_id} and id = any(array(select id from ${sql(queue)} q where endpoint_id = ${endpoint_id} ${guard} order by id limit ${limit} for update))
        returning *
      ), failed as (
        insert into webhook_failures (account_id, mode, endpoint_id, id) select account_id, mode, endpoint_id, id from gone on conflict do nothing
      )
      insert into webhook_deliveries (account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms, error, error_message, created_at)
      select account_id, mode, endpoint_id, id, event_id, event_type, 'failed', attempts, response_status, duration_ms, 'endpoint_disabled',
        'The endpoint was disabled or deleted before this event could be delivered.', created_at
      from gone on conflict do nothing returning id`
    dropped += rows.length
  }
  return dropped
}

/** Ends deliveries whose event is no longer kept: there is nothing to send. */
export async function endWithoutEvent(sql: Db, rows: readonly { endpoint_id: string; id: string }[]): Promise<void> {
  await sql`
    with gone as (
      delete from webhook_queue q using json_to_recordset(${jsonRows(rows.map(({ endpoint_id, id }) => ({ endpoint_id, id })))}::text::json) as r (endpoint_id text, id text)
      where q.endpoint_id = r.endpoint_id and q.id = r.id returning q.*
    ), failed as (
      insert into webhook_failures (account_id, mode, endpoint_id, id) select account_id, mode, endpoint_id, id from gone on conflict do nothing
    )
    insert into webhook_deliveries (account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms, error, error_message, created_at)
    select account_id, mode, endpoint_id, id, event_id, event_type, 'failed', attempts, response_status, duration_ms, 'event_expired', 'The event is no longer kept, so it could not be sent.', created_at
    from gone on conflict do nothing`
}

/** Forgets failures whose deliveries are gone with their partition, in slices. */
export async function expireDeliveries(sql: Db, floor: string, limit: number): Promise<number> {
  const ended = await sql`
    delete from webhook_deliveries where (account_id, mode, endpoint_id, id) in (
      select account_id, mode, endpoint_id, id from webhook_deliveries where id < ${floor} limit ${limit})`
  const failures = await sql`
    delete from webhook_failures where (account_id, mode, endpoint_id, id) in (
      select account_id, mode, endpoint_id, id from webhook_failures where id < ${floor} limit ${limit})`
  return Math.max(ended.count, failures.count)
}
