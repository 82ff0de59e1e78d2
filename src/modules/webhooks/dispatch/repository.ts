/** SQL of the delivery queue, across tenants. */
import { jsonRows, type Db, textColumn, type Fragment } from '../../../platform/database/sql.ts'
import type { EndpointRow } from '../endpoint.ts'
import { isAlive } from '../../../platform/jobs/process-registry.ts'
import type { AttemptResult } from '../attempt.ts'

/** Worker transactions do not wait for the disk, since lost work is repeated, and never scan the whole queue. */
export async function asWorker(sql: Db): Promise<void> {
  await sql`select set_config('synchronous_commit', 'off', true), set_config('enable_seqscan', 'off', true)`
}

export interface DueEndpoint {
  readonly endpoint_id: string
  readonly process_id: string | null
}

/** `retries_due`: retries are due that are not queued. */
export async function listDueEndpoints(
  sql: Db,
  { at, after, limit }: { at: string; after: string; limit: number },
): Promise<{ endpoints: DueEndpoint[]; retries_due: boolean }> {
  const [row] = await sql<{ retries_due: boolean; endpoint_ids: string | null; process_ids: string }[]>`
    select retries_due, endpoint_ids, process_ids from webhook_due_endpoints(${at}, ${after}, ${limit})`
  const { retries_due, endpoint_ids, process_ids } = row!
  if (endpoint_ids === null) return { endpoints: [], retries_due }
  const holders = process_ids.split('\n')
  return {
    endpoints: endpoint_ids.split('\n').map((endpoint_id, i) => ({ endpoint_id, process_id: holders[i] || null })),
    retries_due,
  }
}

/** Earliest first. */
export async function queueDueRetries(sql: Db, at: string, limit: number): Promise<void> {
  await sql`
    with due as (
      select endpoint_id, id
      from webhook_retries
      where next_run_at <= ${at}
      order by next_run_at
      limit ${limit}
      for update skip locked
    ), gone as (
      delete from webhook_retries r
      using due
      where r.endpoint_id = due.endpoint_id
        and r.id = due.id
      returning r.*
    )
    insert into webhook_queue (
      endpoint_id, id, account_id, mode, event_id, event_type, attempts, response_status, duration_ms, error,
      error_message, scheduled, next_run_at, created_at
    )
    select endpoint_id, id, account_id, mode, event_id, event_type, attempts, response_status, duration_ms,
      error, error_message, scheduled, next_run_at, created_at
    from gone on conflict do nothing`
}

export type EndpointState = Pick<
  EndpointRow,
  | 'account_id'
  | 'mode'
  | 'id'
  | 'url'
  | 'status'
  | 'secret'
  | 'previous_secret'
  | 'previous_secret_until'
  | 'verification_token'
  | 'version'
> & { readonly failures: number }

/** Whose version has changed. Deleted endpoints are `disabled`. */
export async function readEndpoints(
  sql: Db,
  known: readonly { id: string; version: number }[],
): Promise<EndpointState[]> {
  return await sql<EndpointState[]>`
    select e.account_id, e.mode, e.id, e.url, e.status, e.secret, e.previous_secret, e.previous_secret_until,
      e.verification_token, e.version, coalesce(l.failures, 0) as failures
    from json_to_recordset(${jsonRows(known)}::text::json) as k (id text, version int)
    join webhook_endpoints e on e.id = k.id
    left join webhook_leases l on l.endpoint_id = e.id
    where e.version <> k.version`
}

export interface DueRow {
  readonly endpoint_id: string
  readonly id: string
  readonly account_id: string
  readonly mode: string
  readonly event_id: string
  readonly event_type: string
  readonly attempts: number
  readonly scheduled: boolean
  readonly next_run_at: string
}

export interface ReadAhead {
  readonly endpoint_id: string
  readonly after: string
  readonly limit: number
}

/** Oldest first, up to a limit per endpoint. */
export async function readDue(sql: Db, wanted: readonly ReadAhead[]): Promise<DueRow[]> {
  return await sql<DueRow[]>`
    select endpoint_id, id, account_id, mode, event_id, event_type, attempts, scheduled, next_run_at
    from webhook_due_deliveries(${jsonRows(wanted)}::text::json)`
}

/** Counted up to 100,000 each. */
export async function queueDepths(sql: Db): Promise<{ due: number; waiting: number }> {
  const [row] = await sql<{ due: number; waiting: number }[]>`
    select (select count(*) from (select 1 from webhook_queue limit 100000) q)::int as due,
      (select count(*) from (select 1 from webhook_retries limit 100000) r)::int as waiting`
  return row!
}

export interface LeaseOptions {
  readonly process_id: string
  readonly at: string
  readonly lease_until: string
  /** Of the last heartbeat. */
  readonly alive_since: string
}

/** That no living process has. Resolves to their endpoints. */
export async function acquireLeases(
  sql: Db,
  endpoint_ids: readonly string[],
  { process_id, at, lease_until, alive_since }: LeaseOptions,
): Promise<string[]> {
  const rows = await sql<{ endpoint_id: string }[]>`
    update webhook_leases l set process_id = ${process_id}, lease_until = ${lease_until}
    where l.endpoint_id in (
      select f.endpoint_id from webhook_leases f
      where f.endpoint_id = any(${[...endpoint_ids]}::text[])
        and f.process_id is distinct from ${process_id}
        and (f.process_id is null or f.lease_until <= ${at} or not ${isAlive(sql, sql`f.process_id`, alive_since)})
      order by f.endpoint_id for update skip locked)
    returning l.endpoint_id`
  return rows.map((row) => row.endpoint_id)
}

/** In the order of ids, which an update alone does not guarantee. */
const lockedOf = (sql: Db, endpoint_ids: readonly string[], condition: Fragment) => sql`
  select endpoint_id
  from webhook_leases
  where endpoint_id = any(${[...endpoint_ids]}::text[])
    and ${condition}
  order by endpoint_id
  for update`

/** Resolves to the leases that are not lost. */
export async function renewLeases(
  sql: Db,
  process_id: string,
  endpoint_ids: readonly string[],
  lease_until: string,
): Promise<string[]> {
  const rows = await sql<{ endpoint_id: string }[]>`
    update webhook_leases
    set lease_until = ${lease_until}
    where endpoint_id in (${lockedOf(sql, endpoint_ids, sql`process_id = ${process_id}`)})
    returning endpoint_id`
  return rows.map((row) => row.endpoint_id)
}

export async function releaseLeases(sql: Db, process_id: string, endpoint_ids: readonly string[]): Promise<void> {
  await sql`
    update webhook_leases
    set process_id = null
    where endpoint_id in (${lockedOf(sql, endpoint_ids, sql`process_id = ${process_id}`)})`
}

export interface FailureCount {
  readonly endpoint_id: string
  readonly failures: number
}

export async function lockFailures(sql: Db, endpoint_ids: readonly string[]): Promise<FailureCount[]> {
  return await sql<FailureCount[]>`
    select endpoint_id, failures
    from webhook_leases
    where endpoint_id = any(${[...endpoint_ids]}::text[])
    order by endpoint_id
    for update`
}

export async function writeFailures(sql: Db, counts: readonly FailureCount[]): Promise<void> {
  await sql`
    update webhook_leases l set failures = c.failures
    from (
      select unnest(text_column(${textColumn(counts.map((one) => one.endpoint_id))})) as endpoint_id,
        unnest(text_column(${textColumn(counts.map((one) => one.failures))}))::int as failures
    ) c
    where l.endpoint_id = c.endpoint_id`
}

export async function clearFailures(sql: Db, endpoint_ids: readonly string[]): Promise<void> {
  await sql`
    update webhook_leases
    set failures = 0
    where endpoint_id in (${lockedOf(sql, endpoint_ids, sql`failures > 0`)})`
}

export async function failuresOf(sql: Db, endpoint_id: string): Promise<number> {
  const [row] = await sql<{ failures: number }[]>`
    select failures
    from webhook_leases
    where endpoint_id = ${endpoint_id}`
  return row?.failures ?? 0
}

/** Fails (23505) if one is recorded already. */
export async function recordSuccesses(sql: Db, done: readonly AttemptResult[]): Promise<void> {
  const column = (of: (one: AttemptResult) => string | number | null) => textColumn(done.map(of))
  await sql`
    select webhook_record_delivered(p_endpoint_ids => ${column((one) => one.endpoint_id)}, p_ids => ${column((one) => one.id)}, p_attempts => ${column((one) => one.attempts)},
      p_response_statuses => ${column((one) => one.response_status)},
      p_durations => ${column((one) => one.duration_ms)})`
}

export interface AttemptedDelivery {
  readonly account_id: string
  readonly mode: string
  readonly endpoint_id: string
  readonly id: string
  readonly event_id: string
  readonly event_type: string
  readonly scheduled: boolean
  readonly created_at: string
}

export interface DeliveryKey {
  readonly endpoint_id: string
  readonly id: string
}

/** Others were recorded by another process. */
export async function deleteFromQueue(sql: Db, keys: readonly DeliveryKey[]): Promise<AttemptedDelivery[]> {
  return await sql<AttemptedDelivery[]>`
    delete from webhook_queue q
    using (
      select unnest(text_column(${textColumn(keys.map((key) => key.endpoint_id))})) as endpoint_id,
        unnest(text_column(${textColumn(keys.map((key) => key.id))})) as id
    ) k
    where q.endpoint_id = k.endpoint_id and q.id = k.id
    returning q.account_id, q.mode, q.endpoint_id, q.id, q.event_id, q.event_type, q.scheduled, q.created_at`
}

/** Skips existing rows, as after a commit whose answer was lost. Resolves to the rows written. */
export async function insertResults(
  sql: Db,
  rows: readonly (AttemptedDelivery & AttemptResult)[],
): Promise<DeliveryKey[]> {
  return await sql<DeliveryKey[]>`
    with d as materialized (
      select *
      from json_to_recordset(${jsonRows(rows)}::text::json) as r (account_id text, mode text, endpoint_id text, id text, event_id text, event_type text, scheduled boolean,
        created_at timestamptz, status text, attempts int, response_status int, duration_ms int, error text,
        error_message text, next_attempt_at timestamptz)
    ), ended as (
      insert into webhook_deliveries (
        account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms,
        error, error_message, created_at
      )
      select account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status,
        duration_ms, error, error_message, created_at
      from d where status is not null on conflict do nothing
      returning account_id, mode, endpoint_id, id, status
    ), failed as (
      insert into webhook_failures (account_id, mode, endpoint_id, id)
      select account_id, mode, endpoint_id, id
      from ended
      where status = 'failed'
      on conflict do nothing
    ), retried as (
      insert into webhook_retries (
        account_id, mode, endpoint_id, id, event_id, event_type, attempts, response_status, duration_ms, error,
        error_message, scheduled, next_run_at, created_at
      )
      select account_id, mode, endpoint_id, id, event_id, event_type, attempts, response_status, duration_ms,
        error, error_message, scheduled, next_attempt_at, created_at
      from d where status is null
        and not exists (select 1 from webhook_queue q where q.endpoint_id = d.endpoint_id and q.id = d.id)
        and not exists (select 1 from webhook_deliveries w where w.endpoint_id = d.endpoint_id and w.id = d.id)
      on conflict do nothing returning endpoint_id, id
    )
    select endpoint_id, id from ended union all select endpoint_id, id from retried`
}
