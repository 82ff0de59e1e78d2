/** SQL of deliveries that go from the fan-out to the deliverer in memory: each pass that hands some off leaves one row, a batch. */
import { textColumn, type Db } from '../../../platform/database/sql.ts'
import { isAlive } from '../../../platform/jobs/processes-store.ts'

/** What deliveries of one batch to one endpoint, of events of one type, share. */
export interface DeliveryGroup {
  readonly batch: number
  readonly endpoint_id: string
  readonly account_id: string
  readonly mode: string
  readonly event_type: string
  /** When the deliveries were made. */
  readonly created_at: string
}

/** A batch, and the process that wrote it. */
export interface HandoffKey {
  readonly process_id: string
  readonly id: number
}

/** Locks these batches until the transaction ends; resolves to the endpoints dropped from each, by its number. Those that are gone are left out. */
export async function lockHandoffs(
  sql: Db,
  process_id: string,
  ids: readonly number[],
): Promise<Map<number, string[]>> {
  const rows = await sql<{ id: number; dropped: string[] }[]>`
    select id, dropped from webhook_handoffs where process_id = ${process_id} and id = any(${[...ids]}::bigint[]) order by id for update`
  return new Map(rows.map(({ id, dropped }) => [id, dropped]))
}

/** Adds to the numbers of deliveries on record of these batches. */
export async function countRecorded(
  sql: Db,
  counts: readonly (HandoffKey & { readonly recorded: number })[],
): Promise<void> {
  if (counts.length === 0) return
  await sql`
    insert into webhook_handoff_counts as c (process_id, id, recorded)
    select unnest(text_column(${textColumn(counts.map((one) => one.process_id))})), unnest(text_column(${textColumn(counts.map((one) => one.id))}))::bigint,
      unnest(text_column(${textColumn(counts.map((one) => one.recorded))}))::int
    on conflict (process_id, id) do update set recorded = c.recorded + excluded.recorded`
}

/**
 * Ends these batches: removes those all of whose deliveries are on record. The others stay without their count, and what a crash has taken from them is brought to
 * the queue, as of batches that nobody works on.
 */
export async function removeRecorded(sql: Db, process_id: string, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await sql`
    with counted as (
      delete from webhook_handoff_counts where process_id = ${process_id} and id = any(${[...ids]}::bigint[]) returning id, recorded
    )
    delete from webhook_handoffs h using counted c where h.process_id = ${process_id} and h.id = c.id and h.size = c.recorded`
}

/** Batches that nobody works on: of processes that are silent, and of this one those that it does not know (an answer was lost). */
export async function listLostHandoffs(
  sql: Db,
  process_id: string,
  known: readonly number[],
  alive_since: string,
): Promise<HandoffKey[]> {
  return await sql<HandoffKey[]>`
    select process_id, id from webhook_handoffs h
    where case when process_id = ${process_id} then id <> all(${[...known]}::bigint[])
      else not ${isAlive(sql, sql`h.process_id`, alive_since)} end
    order by process_id, id limit 1000`
}

/**
 * Brings what is left of these batches to the queue, and removes them; resolves to the number of deliveries brought. In a transaction: the locks are a statement of their own, so that
 * who comes second sees what the first has written.
 */
export async function queueHandoffs(sql: Db, batches: readonly HandoffKey[]): Promise<number> {
  const keys = keysOf(sql, batches)
  await sql`select 1 from webhook_handoffs h where (h.process_id, h.id) in (${keys}) order by h.process_id, h.id for update`
  const brought = await sql`
    with gone as (
      delete from webhook_handoffs h where (h.process_id, h.id) in (${keys}) returning h.*
    ), counted as (
      delete from webhook_handoff_counts c where (c.process_id, c.id) in (${keys})
    )
    insert into webhook_queue (endpoint_id, id, account_id, mode, event_id, event_type, next_run_at, created_at)
    select d.endpoint_id, d.id, e.account_id, e.mode, d.event_id, d.event_type, g.created_at, g.created_at
    from gone g cross join lateral webhook_handoff_deliveries(g.endpoints, g.deliveries) d
    cross join lateral (select x.account_id, x.mode from webhook_endpoints x where x.id = d.endpoint_id limit 1) e
    where d.endpoint_id <> all (g.dropped) and not ${isRecorded(sql)}
    on conflict do nothing`
  return brought.count
}

/**
 * Ends as failed, `endpoint_disabled`, what was handed off for an endpoint and is not recorded; whoever has it at hand passes over it. In the transaction that disables the endpoint.
 * A batch that is written after the locks were taken is left to the process that wrote it, which finds the endpoint changed and brings it to the queue.
 */
export async function dropHandoffs(sql: Db, endpoint_id: string): Promise<void> {
  const locked = await sql<HandoffKey[]>`
    select process_id, id from webhook_handoffs h
    where ${endpoint_id} = any (text_column(h.endpoints)) and ${endpoint_id} <> all (h.dropped) order by h.process_id, h.id for update`
  if (locked.length === 0) return
  const counts = await sql<(HandoffKey & { recorded: number })[]>`
    with batches as materialized (
      update webhook_handoffs h set dropped = h.dropped || ${endpoint_id}::text where (h.process_id, h.id) in (${keysOf(sql, locked)}) returning h.*
    ), dropped as materialized (
      select d.*, h.created_at, e.account_id, e.mode, h.process_id, h.id as batch_id
      from batches h cross join lateral webhook_handoff_deliveries(h.endpoints, h.deliveries) d
      cross join lateral (select x.account_id, x.mode from webhook_endpoints x where x.id = d.endpoint_id limit 1) e
      where d.endpoint_id = ${endpoint_id} and not ${isRecorded(sql)}
        and not exists (select 1 from webhook_queue q where q.endpoint_id = d.endpoint_id and q.id = d.id)
    ), ended as (
      insert into webhook_deliveries (account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, error, error_message, created_at)
      select account_id, mode, endpoint_id, id, event_id, event_type, 'failed', 0, 'endpoint_disabled',
        'The endpoint was disabled or deleted before this event could be delivered.', created_at
      from dropped on conflict do nothing
    ), failed as (
      insert into webhook_failures (account_id, mode, endpoint_id, id) select account_id, mode, endpoint_id, id from dropped on conflict do nothing
    )
    select process_id, batch_id as id, count(*)::int as recorded from dropped group by process_id, batch_id`
  await countRecorded(sql, counts)
}

/** These batches, as pairs for `in (…)`. */
const keysOf = (sql: Db, batches: readonly HandoffKey[]) =>
  sql`select unnest(text_column(${textColumn(batches.map((batch) => batch.process_id))})), unnest(text_column(${textColumn(batches.map((batch) => batch.id))}))::bigint`

/** Of a delivery `d` to an endpoint `e`: it has ended, or waits for its retry. */
const isRecorded = (sql: Db) => sql`(
  exists (select 1 from webhook_deliveries w where w.account_id = e.account_id and w.mode = e.mode and w.endpoint_id = d.endpoint_id and w.id = d.id)
  or exists (select 1 from webhook_retries r where r.endpoint_id = d.endpoint_id and r.id = d.id))`
