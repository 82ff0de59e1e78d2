/** SQL of deliveries that go from the fan-out to the deliverer in memory: each pass that hands some off leaves one row, a batch. */
import { textColumn, jsonRows, type Db } from '../../../platform/database/sql.ts'
import { carefullyIfNeeded, oneLine, type Count } from '../dispatch/store.ts'
import type { AttemptResult } from '../deliveries/store.ts'

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

export interface HandedOffResult {
  readonly group: DeliveryGroup
  readonly event_id: string
  readonly result: AttemptResult
}

/**
 * Settles first attempts of deliveries handed on, and removes the batches of which nothing is left then. What someone else has brought to
 * the queue or dropped meanwhile is passed over. Resolves to the failures in a row that changed.
 */
export async function recordHandedOff(
  sql: Db,
  process_id: string,
  done: readonly HandedOffResult[],
  ended_spans: readonly number[],
  counts: readonly Count[],
  circuit_at: number,
): Promise<{ endpoint_id: string; failures: number }[]> {
  const numbers = new Map<DeliveryGroup, number>()
  for (const { group } of done) if (!numbers.has(group)) numbers.set(group, numbers.size + 1)
  const groups = [...numbers.keys()]
  const column = (of: (one: HandedOffResult) => string | number | null) => textColumn(done.map(of))
  // an empty column is all null
  const rare = (of: (one: HandedOffResult) => string | null) => (done.some((one) => of(one) !== null) ? column(of) : '')
  const shared = (of: (group: DeliveryGroup) => string | number) => textColumn(groups.map(of))
  return await carefullyIfNeeded(
    async (careful) =>
      await sql<{ endpoint_id: string; failures: number }[]>`
        select endpoint_id, failures from webhook_settle_handed(
          ${process_id}, ${textColumn([...new Set(groups.map((group) => group.batch))])}, ${textColumn(ended_spans)},
          ${shared((group) => group.batch)}, ${shared((group) => group.endpoint_id)}, ${shared((group) => group.account_id)}, ${shared((group) => group.mode)},
          ${shared((group) => group.event_type)}, ${shared((group) => group.created_at)},
          ${column((one) => numbers.get(one.group)!)}, ${column((one) => one.result.id)}, ${column((one) => one.event_id)},
          ${column((one) => one.result.response_status)}, ${column((one) => one.result.duration_ms)}, ${rare((one) => one.result.error)},
          ${rare((one) => oneLine(one.result.error_message))}, ${rare((one) => one.result.next_attempt_at)}, ${jsonRows(counts)}::text::json, ${circuit_at}, ${careful})`,
  )
}

/** A batch, and the process that wrote it. */
export interface HandoffKey {
  readonly process_id: string
  readonly id: number
}

/** Spans that nobody works on: of processes that are silent, and of this one those that it does not know (an answer was lost). */
export async function listLostHandoffs(sql: Db, process_id: string, known: readonly number[], alive_since: string): Promise<HandoffKey[]> {
  return await sql<HandoffKey[]>`
    select process_id, id from webhook_spans s
    where case when process_id = ${process_id} then id <> all(${[...known]}::bigint[])
      else not exists (select 1 from processes p where p.id = s.process_id and p.beat_at > ${alive_since}) end
    order by process_id, id limit 1000`
}

/** Brings what is left of these batches to the queue, and removes them; resolves to the number of deliveries brought. */
export async function queueHandoffs(sql: Db, batches: readonly HandoffKey[]): Promise<number> {
  const [row] = await sql<{ brought: number }[]>`
    select webhook_queue_spans(${textColumn(batches.map((batch) => batch.process_id))}, ${textColumn(batches.map((batch) => batch.id))}) as brought`
  return row!.brought
}

/** Ends as failed, `endpoint_disabled`, what was handed on for an endpoint and is not settled. */
export async function dropHandoffs(sql: Db, endpoint_id: string): Promise<void> {
  await sql`select webhook_drop_handed(${endpoint_id})`
}
