/** The fan-out lane: follows the event feed and makes the deliveries of active subscriptions. */
import { limits } from '../../../contract/limits.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Lane } from '../../../lib/loop.ts'
import { transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { readEvents } from '../feed/store.ts'
import { listLostHandoffs, queueHandoffs } from './handoff-store.ts'
import { noConsumer, type HandoffConsumer, type Offer } from './handoff.ts'
import { kindOf, makeDeliveries, type FedEvent, type Subscriptions } from './make-deliveries.ts'
import * as store from './store.ts'

const eventsPerPass = 2_000
/** Endpoints offered to a pass, by the events of the one before: what offering costs stays below what it saves. */
const offersMin = 64
const offersPerEvent = 4
const offersTop = 2_000
/** A lease that ends sooner is not relied on. */
const leaseMarginMs = 10_000
const lookEveryMs = 1_000

/** What a pass did. */
export interface FanOutPass {
  readonly events: number
  readonly queued: number
  /** More becomes final once a transaction under way has ended. */
  readonly unripe: boolean
  /** Another process moved the cursor meanwhile, or an endpoint has changed: nothing was done. */
  readonly beaten: boolean
}

/**
 * Makes the deliveries of events as they become final. Any number of processes may run it: the cursor lets one of them make each step, and
 * whoever was beaten to it pauses. What `consumer` can take at once goes to it in memory; without one everything goes to the queue.
 */
export function fanOutLane(platform: Platform, consumer: HandoffConsumer = noConsumer): Lane {
  const { pool, clock } = platform
  const state = { lookedAt: -Infinity, offersMax: offersMin }
  return {
    name: 'fan-out',
    idle_ms: 250,
    async tick() {
      const now = clock.now()
      if (now - state.lookedAt >= lookEveryMs) {
        state.lookedAt = now
        await takeOver(platform, consumer)
      }
      const { events, queued, unripe, beaten } = await fanOutPass(platform, consumer, consumer.offers(state.offersMax))
      if (queued > 0) platform.notify('deliver')
      if (events > 0) state.offersMax = Math.max(offersMin, Math.min(offersTop, offersPerEvent * events))
      if (events === eventsPerPass || (events === 0 && !unripe && !beaten)) return events
      // more comes in a moment: looking again soon keeps deliveries quick, not looking at once keeps the passes few
      await store.pauseBriefly(pool)
      return Math.max(1, events)
    },
  }
}

/** One step along the feed: reads what is new and who wants it, and writes the deliveries with the cursor. */
export async function fanOutPass(platform: Platform, consumer: HandoffConsumer, offers: readonly Offer[]): Promise<FanOutPass> {
  const { pool, clock, process_id } = platform
  const now = clock.now()
  const { cursor, events, unripe } = await store.readFeedSlice(pool, eventsPerPass)
  const last = events.at(-1)
  if (last === undefined) return { events: 0, queued: 0, unripe, beaten: false }
  const kinds = [...new Map(events.filter(({ type }) => type !== '').map((event) => [kindOf(event), event])).values()]
  const subscriptions = await store.readSubscriptions(pool, kinds, { process_id, leases_until: isoTime(now + leaseMarginMs) })
  const objects = await readObjects(platform, events, subscriptions)
  const { queued, handedOff } = makeDeliveries(events, subscriptions, offers, (id) => objects.get(id))
  const batch = { id: consumer.nextBatchId(), created_at: isoTime(now), deliveries: handedOff }
  const moved = await store.commitFanOut(pool, {
    from: cursor,
    to: last,
    at: batch.created_at,
    endpoints: versionsOf(subscriptions),
    queued,
    handedOff,
    process_id,
    batch_id: batch.id,
  })
  if (!moved) return { events: 0, queued: 0, unripe, beaten: true }
  if (handedOff.length > 0) await consumer.take(batch)
  return { events: events.length, queued: queued.length, unripe, beaten: false }
}

/** The objects of the events that some subscriber filters, by id. */
async function readObjects({ pool }: Platform, events: readonly FedEvent[], subscriptions: Subscriptions): Promise<Map<string, Record<string, unknown>>> {
  const filtered = events.filter((event) => subscriptions.get(kindOf(event))?.some(({ filters }) => filters !== null))
  if (filtered.length === 0) return new Map()
  const rows = await readEvents(pool, filtered)
  return new Map(rows.map(({ id, object }) => [id, JSON.parse(object) as Record<string, unknown>]))
}

function versionsOf(subscriptions: Subscriptions): Map<string, number> {
  const versions = new Map<string, number>()
  for (const own of subscriptions.values()) for (const { endpoint_id, version } of own) if (version !== null) versions.set(endpoint_id, version)
  return versions
}

/** Brings to the queue what was handed off by processes that died since, or in an answer that was lost. */
async function takeOver(platform: Platform, consumer: HandoffConsumer): Promise<void> {
  const { pool, clock, process_id } = platform
  const lost = await listLostHandoffs(pool, process_id, consumer.openBatches(), isoTime(clock.now() - limits.process_silent_ms))
  if (lost.length > 0 && (await transact(pool, (tx) => queueHandoffs(tx, lost))) > 0) platform.notify('deliver')
}
