/** What the fan-out hands to the deliverer of its own process instead of queueing it: offers, batches, and how a batch is written down. */

/** One event on its way to one endpoint, just made. */
export interface NewDelivery {
  readonly id: string
  readonly endpoint_id: string
  readonly account_id: string
  readonly mode: string
  readonly event_id: string
  readonly event_type: string
  /** When the event occurred, as PostgreSQL writes it. */
  readonly next_run_at: string
}

/** An endpoint whose deliveries this process takes in memory, as it knows it, and how many at most. */
export interface Offer {
  readonly endpoint_id: string
  readonly version: number
  readonly capacity: number
}

/** What one pass hands off, each endpoint's oldest first. */
export interface HandoffBatch {
  /** Counted by the process; none comes twice. */
  readonly id: number
  /** ISO 8601. */
  readonly created_at: string
  readonly deliveries: readonly NewDelivery[]
}

/** Who takes deliveries from the fan-out of its own process. */
export interface HandoffConsumer {
  /** Numbers a batch; none comes twice. */
  nextBatchId(): number
  /** What it can take now, of so many endpoints at most. */
  offers(max: number): Offer[]
  /** Takes what was handed off; resolves once all of it is under way, waits, or is on its way to the queue. Never rejects. */
  take(batch: HandoffBatch): Promise<void>
  /** The batches that it knows. */
  openBatches(): number[]
}

/** Takes nothing: everything goes to the queue. */
export const noConsumer: HandoffConsumer = {
  nextBatchId: () => 0,
  offers: () => [],
  take: () => Promise.resolve(),
  openBatches: () => [],
}

/** A batch as its row holds it. */
export interface EncodedHandoff {
  /** A line for each endpoint. */
  readonly endpoints: string
  /** A line for each delivery: the number of its endpoint (from 1), the end of its id, its event, the event's type. */
  readonly deliveries: string
}

/** As `webhook_handoff_deliveries` reads it. */
export function encodeHandoff(deliveries: readonly NewDelivery[]): EncodedHandoff {
  const numbers = new Map<string, number>()
  const lines = deliveries.map(({ id, endpoint_id, event_id, event_type }) => {
    let number = numbers.get(endpoint_id)
    if (number === undefined) numbers.set(endpoint_id, (number = numbers.size + 1))
    return `${number} ${endingOf(id)} ${event_id} ${event_type}`
  })
  return { endpoints: [...numbers.keys()].join('\n'), deliveries: lines.join('\n') }
}

/** The part of a delivery's id that does not follow from its event's id alone. */
const endingOf = (delivery_id: string): string => delivery_id.slice(18)
