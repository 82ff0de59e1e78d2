/** SQL of deliveries that go from the fan-out to the deliverer in memory: each pass that hands some off leaves one row, a batch. */
import { textColumn, type Db } from '../../../platform/database/sql.ts'
import { isAlive } from '../../../platform/processes-store.ts'

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

/** Locks these batches until the transaction ends; resolves to the endpoints dropped from each, by its number. Those that are gone are left out. */
export async function lockHandoffs(sql: Db, process_id: string, ids: readonly number[]): Promise<Map<number, string[]>> {
  const rows = await sql<{ id: number; dropped: string[] }[]>`
    select id, dropped from webhook_handoffs where process_id = ${process_id} and id = any(${[...ids]}::bigint[]) order by id for update`
  return new Map(rows.map(({ id, dropped }) => [id, dropped]))
}

/**
 * Counts what was recorded of batches, by their numbers, and removes those that have ended: not one of whose other outcomes a crash has taken some since. It is
 * brought to the queue as one that nobody works on.
 */
export async function countRecorded(sql: Db, process_id: string, recorded: ReadonlyMap<number, number>, ended: readonly number[]): Promise<void> {
  await sql`
    update webhook_handoffs h set recorded = h.recorded + c.n
    from (select unnest(${[...recorded.keys()]}::bigint[]) as id, unnest(${[...recorded.values()]}::int[]) as n) c where h.process_id = ${process_id} and h.id = c.id`
  if (ended.length > 0) await sql`delete from webhook_handoffs where process_id = ${process_id} and id = any(${[...ended]}::bigint[]) and recorded = size`
}

/** A batch, and the process that wrote it. */
export interface HandoffKey {
  readonly process_id: string
  readonly id: number
}

/** Batches that nobody works on: of processes that are silent, and of this one those that it does not know (an answer was lost). */
export async function listLostHandoffs(sql: Db, process_id: string, known: readonly number[], alive_since: string): Promise<HandoffKey[]> {
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
  const keys = sql`select unnest(text_column(${textColumn(batches.map((batch) => batch.process_id))})), unnest(text_column(${textColumn(batches.map((batch) => batch.id))}))::bigint`
  await sql`select 1 from webhook_handoffs h where (h.process_id, h.id) in (${keys}) order by h.process_id, h.id for update`
  const brought = await sql`
    with gone as (
      delete from webhook_handoffs h where (h.process_id, h.id) in (${keys}) returning h.*
    )
    insert into webhook_queue (endpoint_id, id, account_id, mode, event_id, event_type, due_at, created_at)
    select d.endpoint_id, d.id, e.account_id, e.mode, d.event_id, d.event_type, g.created_at, g.created_at
    from gone g cross join lateral webhook_handoff_deliveries(g.endpoints, g.deliveries) d
    cross join lateral (select x.account_id, x.mode from webhook_endpoints x where x.id = d.endpoint_id limit 1) e
    where d.endpoint_id <> all (g.dropped) and not ${isRecorded(sql)}
    on conflict do nothing`
  return brought.count
}

/**
 * Ends as failed, `endpoint_disabled`, what was handed off for an endpoint and is not recorded; whoever has it at hand passes over it. In the transaction that disables the endpoint.
 */
export async function dropHandoffs(sql: Db, endpoint_id: string): Promise<void> {
  const own = sql`${endpoint_id} = any (text_column(h.endpoints))`
  await sql`select 1 from webhook_handoffs h where ${own} order by h.process_id, h.id for update`
  await sql`
    with dropped as materialized (
      select d.*, h.created_at, e.account_id, e.mode, h.process_id, h.id as batch_id
      from webhook_handoffs h cross join lateral webhook_handoff_deliveries(h.endpoints, h.deliveries) d
      cross join lateral (select x.account_id, x.mode from webhook_endpoints x where x.id = d.endpoint_id limit 1) e
      where ${own} and ${endpoint_id} <> all (h.dropped) and d.endpoint_id = ${endpoint_id} and not ${isRecorded(sql)}
        and not exists (select 1 from webhook_queue q where q.endpoint_id = d.endpoint_id and q.id = d.id)
    ), failed as (
      insert into webhook_failures (account_id, mode, endpoint_id, id) select account_id, mode, endpoint_id, id from dropped on conflict do nothing
    ), ended as (
      insert into webhook_deliveries (account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, error, error_message, created_at)
      select account_id, mode, endpoint_id, id, event_id, event_type, 'failed', 0, 'endpoint_disabled',
        'The endpoint was disabled or deleted before this event could be delivered.', created_at
      from dropped on conflict do nothing
    )
    update webhook_handoffs h set dropped = h.dropped || ${endpoint_id}::text,
      recorded = h.recorded + (select count(*) from dropped d where d.process_id = h.process_id and d.batch_id = h.id)
    where ${own}`
}

/** Of a delivery `d` to an endpoint `e`: it has ended, or waits for its retry. */
const isRecorded = (sql: Db) => sql`(
  exists (select 1 from webhook_deliveries w where w.account_id = e.account_id and w.mode = e.mode and w.endpoint_id = d.endpoint_id and w.id = d.id)
  or exists (select 1 from webhook_retries r where r.endpoint_id = d.endpoint_id and r.id = d.id))`
