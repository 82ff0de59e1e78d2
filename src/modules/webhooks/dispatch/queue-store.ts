/** SQL of the queue, over all accounts at once: what is due, and what has become due. */
import { jsonRows, type Db } from '../../../platform/database/sql.ts'
import type { EndpointRow } from '../endpoints/store.ts'

/**
 * For transactions of workers: commits without waiting for the disk, since what a crash takes back is done again; and plans without reading a queue through, however small it
 * was when the plan was made.
 */
export async function asWorker(sql: Db): Promise<void> {
  await sql`select set_config('synchronous_commit', 'off', true), set_config('enable_seqscan', 'off', true)`
}

export interface DueEndpoint {
  readonly endpoint_id: string
  /** Who holds the lease; null: nobody. */
  readonly process_id: string | null
}

/** The endpoints behind `after` that have something due, and whether the time of some retry has come, which is not in the queue yet. */
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

/** Brings to the queue what has waited for this time, the longest due first. */
export async function queueDueRetries(sql: Db, at: string, limit: number): Promise<void> {
  await sql`
    with due as (
      select endpoint_id, id from webhook_retries where next_run_at <= ${at} order by next_run_at limit ${limit} for update skip locked
    ), gone as (
      delete from webhook_retries r using due where r.endpoint_id = due.endpoint_id and r.id = due.id returning r.*
    )
    insert into webhook_queue (endpoint_id, id, account_id, mode, event_id, event_type, attempts, response_status, duration_ms, error, error_message, scheduled, next_run_at, created_at)
    select endpoint_id, id, account_id, mode, event_id, event_type, attempts, response_status, duration_ms, error, error_message, scheduled, next_run_at, created_at
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

/** The endpoints of these ids whose version is another than the one known. Deleted ones have the status `disabled`. */
export async function readEndpoints(
  sql: Db,
  known: readonly { id: string; version: number }[],
): Promise<EndpointState[]> {
  return await sql<EndpointState[]>`
    select e.account_id, e.mode, e.id, e.url, e.status, e.secret, e.previous_secret, e.previous_secret_until, e.verification_token, e.version, coalesce(l.failures, 0) as failures
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
  /** The id that was read last. */
  readonly after: string
  readonly limit: number
}

/** What is due for each endpoint after the id that was read last, oldest first, up to its own limit. */
export async function readDue(sql: Db, wanted: readonly ReadAhead[]): Promise<DueRow[]> {
  return await sql<DueRow[]>`
    select endpoint_id, id, account_id, mode, event_id, event_type, attempts, scheduled, next_run_at from webhook_due_deliveries(${jsonRows(wanted)}::text::json)`
}

/** How many deliveries are due, those at hand in memory included, and how many wait for a later attempt; counted up to 100,000 each. */
export async function queueDepths(sql: Db): Promise<{ due: number; waiting: number }> {
  const [row] = await sql<{ due: number; waiting: number }[]>`
    select ((select count(*) from (select 1 from webhook_queue limit 100000) q) + (select coalesce(sum(size), 0) from webhook_handoffs))::int as due,
      (select count(*) from (select 1 from webhook_retries limit 100000) r)::int as waiting`
  return row!
}
