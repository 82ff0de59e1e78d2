/** SQL of the lanes, over all accounts at once: taking turns, reading what is due, settling in sets. */
import { jsonRows, textColumn, sqlState, type Db } from '../../../platform/database/sql.ts'
import type { AttemptResult } from '../deliveries/store.ts'
import type { EndpointRow } from '../endpoints/store.ts'

/** Once more, passing over what is there already, after a statement that met it: only an operator's hand brings that about. */
export async function carefullyIfNeeded<T>(work: (careful: boolean) => Promise<T>): Promise<T> {
  try {
    return await work(false)
  } catch (error) {
    if (sqlState(error) !== '23505') throw error
    return await work(true)
  }
}

export interface LeaseOptions {
  readonly process_id: string
  readonly at: string
  readonly lease_until: string
  /** Processes that beat after this time live. */
  readonly alive_since: string
  /** Where to begin among the endpoints that have something due. */
  readonly after: string
  readonly limit: number
  /** Retries brought to the queue at most. */
  readonly retries: number
}

/**
 * Brings due retries to the queue; then the endpoints that have something due, each with whose turn it is after those that nobody living holds were taken for this
 * process. Skips from endpoint to endpoint, however much waits for one of them.
 */
export async function takeLeases(sql: Db, options: LeaseOptions): Promise<{ endpoint_id: string; owner: string | null }[]> {
  const { process_id, at, lease_until, alive_since, after, limit, retries } = options
  return await sql<{ endpoint_id: string; owner: string | null }[]>`
    select endpoint_id, owner from webhook_take_turns(${process_id}, ${at}, ${lease_until}, ${alive_since}, ${after}, ${limit}, ${retries})`
}

/** Prolongs turns; those not returned are lost. */
export async function renewLeases(sql: Db, process_id: string, endpoint_ids: readonly string[], lease_until: string): Promise<string[]> {
  const rows = await sql<{ endpoint_id: string }[]>`
    update webhook_turns set lease_until = ${lease_until} where owner = ${process_id} and endpoint_id = any(${[...endpoint_ids]}::text[]) returning endpoint_id`
  return rows.map((row) => row.endpoint_id)
}

export async function releaseLeases(sql: Db, process_id: string, endpoint_ids: readonly string[]): Promise<void> {
  await sql`update webhook_turns set owner = null where owner = ${process_id} and endpoint_id = any(${[...endpoint_ids]}::text[])`
}

export type EndpointState = Pick<
  EndpointRow,
  'account_id' | 'mode' | 'id' | 'url' | 'status' | 'secret' | 'previous_secret' | 'previous_secret_until' | 'verification_token' | 'version'
> & { readonly failures: number }

/** The endpoints of these ids whose version is another than the one known. Deleted ones have the status `disabled`. */
export async function readEndpoints(sql: Db, known: readonly { id: string; version: number }[]): Promise<EndpointState[]> {
  return await sql<EndpointState[]>`
    select e.account_id, e.mode, e.id, e.url, e.status, e.secret, e.previous_secret, e.previous_secret_until, e.verification_token, e.version, coalesce(t.failures, 0) as failures
    from json_to_recordset(${jsonRows(known)}::text::json) as k (id text, version int)
    join webhook_endpoints e on e.id = k.id
    left join webhook_turns t on t.endpoint_id = e.id
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
  readonly due_at: string
}

export interface ReadAhead {
  readonly endpoint_id: string
  /** The id that was read last. */
  readonly after: string
  readonly limit: number
}

/** What is due for each endpoint after the id that was read last, oldest first, up to its own limit. */
export async function readDue(sql: Db, wants: readonly ReadAhead[]): Promise<DueRow[]> {
  return await sql<DueRow[]>`
    select endpoint_id, id, account_id, mode, event_id, event_type, attempts, scheduled, due_at from webhook_due(${jsonRows(wants)}::text::json)`
}

/** What a batch of attempts means for its endpoint's failures in a row. */
export interface Count {
  readonly endpoint_id: string
  /** True when one of them succeeded: what was before it is forgotten. */
  readonly reset: boolean
  /** Failures after the last success that began while the circuit was closed, and those under it. */
  readonly closed: number
  readonly open: number
}

/** As a line of a column. */
export const oneLine = (text: string | null): string | null => (text === null ? null : text.replace(/\s+/g, ' '))

/**
 * Settles attempts: takes each off the queue, records what ended, puts back what is tried again, and counts failures in a
 * row. What is no longer in the queue was settled by someone else and is passed over. Resolves to the counts that changed.
 * Attempts that were under way together count up to `circuit_at` only: a short outage never disables an endpoint.
 */
export async function recordAttempts(
  sql: Db,
  done: readonly AttemptResult[],
  counts: readonly Count[],
  circuit_at: number,
): Promise<{ endpoint_id: string; failures: number }[]> {
  const column = (of: (one: AttemptResult) => string | number | null) => textColumn(done.map(of))
  return await carefullyIfNeeded(
    async (careful) =>
      await sql<{ endpoint_id: string; failures: number }[]>`
        select endpoint_id, failures from webhook_settle(
          ${column((one) => one.endpoint_id)}, ${column((one) => one.id)}, ${column((one) => one.status)}, ${column((one) => one.attempts)},
          ${column((one) => one.response_status)}, ${column((one) => one.duration_ms)}, ${column((one) => one.error)},
          ${column((one) => oneLine(one.error_message))}, ${column((one) => one.next_attempt_at)}, ${jsonRows(counts)}::text::json, ${circuit_at}, ${careful})`,
  )
}

/** How many deliveries are due, those at hand in memory included, and how many wait for a later attempt; counted up to 100,000 each. */
export async function queueDepths(sql: Db): Promise<{ due: number; waiting: number }> {
  const [row] = await sql<{ due: number; waiting: number }[]>`
    select ((select count(*) from (select 1 from webhook_queue limit 100000) q) + (select coalesce(sum(size), 0) from webhook_spans))::int as due,
      (select count(*) from (select 1 from webhook_retries limit 100000) r)::int as waiting`
  return row!
}
