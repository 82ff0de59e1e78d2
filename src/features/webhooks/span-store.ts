/** SQL of the fan-out, and of deliveries that go from it to the deliverer in memory: each pass that hands some on leaves one row, a span. */
import { textColumn, jsonRows, type Db } from '../../platform/database/sql.ts'
import { carefullyIfNeeded, oneLine, type Count } from './lane-store.ts'
import type { Settlement } from './delivery-store.ts'

/** An endpoint whose deliveries this process takes in memory, as it knows it, and how many at most. */
export interface Offer {
  readonly endpoint_id: string
  readonly version: number
  readonly room: number
}

export interface FollowOptions {
  readonly at: string
  /** Events at most. */
  readonly limit: number
  readonly process_id: string
  /** The number of the span, should there be one; never used before by this process. */
  readonly span: number
  readonly offers: readonly Offer[]
  /** Only to endpoints whose turn this process holds beyond this time something is handed on. */
  readonly turns_until: string
}

export interface Followed {
  readonly events: number
  /** Deliveries put into the queue. */
  readonly queued: number
  /** More becomes final once a transaction under way has ended. */
  readonly unripe: boolean
  /** The endpoints of what is handed on, a line each; null when nothing is. */
  readonly endpoints: string | null
  /** A line for each delivery, each endpoint's oldest first: the number of its endpoint (from 1), the end of its id, its event, the event's type. */
  readonly handed: string | null
}

/** Follows the feed (function of the migration): queues deliveries, and hands on those to the endpoints offered. */
export async function follow(sql: Db, { at, limit, process_id, span, offers, turns_until }: FollowOptions): Promise<Followed> {
  const [row] = await sql<Followed[]>`
    select events, queued, unripe, endpoints, handed from webhook_follow_feed(${at}, ${limit}, ${process_id}, ${span},
      ${textColumn(offers.map((one) => one.endpoint_id))}, ${textColumn(offers.map((one) => one.version))}, ${textColumn(offers.map((one) => one.room))}, ${turns_until})`
  return row!
}

/** What deliveries of one span to one endpoint, of events of one type, share. */
export interface Run {
  readonly span: number
  readonly endpoint_id: string
  readonly account_id: string
  readonly mode: string
  readonly event_type: string
  /** When the deliveries were made. */
  readonly created_at: string
}

export interface HandedSettlement {
  readonly run: Run
  readonly event_id: string
  readonly settlement: Settlement
}

/**
 * Settles first attempts of deliveries handed on, and removes the spans of which nothing is left then. What someone else has brought to
 * the queue or dropped meanwhile is passed over. Resolves to the failures in a row that changed.
 */
export async function settleHanded(
  sql: Db,
  process_id: string,
  done: readonly HandedSettlement[],
  ended_spans: readonly number[],
  counts: readonly Count[],
  circuit_at: number,
): Promise<{ endpoint_id: string; failures: number }[]> {
  const numbers = new Map<Run, number>()
  for (const { run } of done) if (!numbers.has(run)) numbers.set(run, numbers.size + 1)
  const runs = [...numbers.keys()]
  const column = (of: (one: HandedSettlement) => string | number | null) => textColumn(done.map(of))
  // an empty column is all null
  const rare = (of: (one: HandedSettlement) => string | null) => (done.some((one) => of(one) !== null) ? column(of) : '')
  const shared = (of: (run: Run) => string | number) => textColumn(runs.map(of))
  return await carefullyIfNeeded(
    async (careful) =>
      await sql<{ endpoint_id: string; failures: number }[]>`
        select endpoint_id, failures from webhook_settle_handed(
          ${process_id}, ${textColumn([...new Set(runs.map((run) => run.span))])}, ${textColumn(ended_spans)},
          ${shared((run) => run.span)}, ${shared((run) => run.endpoint_id)}, ${shared((run) => run.account_id)}, ${shared((run) => run.mode)},
          ${shared((run) => run.event_type)}, ${shared((run) => run.created_at)},
          ${column((one) => numbers.get(one.run)!)}, ${column((one) => one.settlement.id)}, ${column((one) => one.event_id)},
          ${column((one) => one.settlement.response_status)}, ${column((one) => one.settlement.duration_ms)}, ${rare((one) => one.settlement.error)},
          ${rare((one) => oneLine(one.settlement.error_message))}, ${rare((one) => one.settlement.next_attempt_at)}, ${jsonRows(counts)}::text::json, ${circuit_at}, ${careful})`,
  )
}

/** A span, and the process that wrote it. */
export interface SpanKey {
  readonly process_id: string
  readonly id: number
}

/** Spans that nobody works on: of processes that are silent, and of this one those that it does not know (an answer was lost). */
export async function listLostSpans(sql: Db, process_id: string, known: readonly number[], alive_since: string): Promise<SpanKey[]> {
  return await sql<SpanKey[]>`
    select process_id, id from webhook_spans s
    where case when process_id = ${process_id} then id <> all(${[...known]}::bigint[])
      else not exists (select 1 from processes p where p.id = s.process_id and p.beat_at > ${alive_since}) end
    order by process_id, id limit 1000`
}

/** Brings what is left of these spans to the queue, and removes them; resolves to the number of deliveries brought. */
export async function queueSpans(sql: Db, spans: readonly SpanKey[]): Promise<number> {
  const [row] = await sql<{ brought: number }[]>`
    select webhook_queue_spans(${textColumn(spans.map((span) => span.process_id))}, ${textColumn(spans.map((span) => span.id))}) as brought`
  return row!.brought
}

/** Ends as failed, `endpoint_disabled`, what was handed on for an endpoint and is not settled. */
export async function dropHanded(sql: Db, endpoint_id: string): Promise<void> {
  await sql`select webhook_drop_handed(${endpoint_id})`
}
