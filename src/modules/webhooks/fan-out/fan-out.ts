/** The fan-out worker: follows the event feed and makes the deliveries of active subscriptions. */
import { limits } from '../../../api/limits.ts'
import { isoTime, pause } from '../../../lib/clock.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import { transact } from '../../../platform/database/sql.ts'
import { lookPastBystanders } from '../../../platform/events/feed-horizon-store.ts'
import type { Platform } from '../../../platform/platform.ts'
import { readEvents } from '../feed/store.ts'
import { filterFieldsOf, type FilterFields } from './filters.ts'
import { listLostHandoffs, queueHandoffs } from './handoff-store.ts'
import { noConsumer, type HandoffConsumer, type Offer } from './handoff.ts'
import { makeDeliveries, type FedEvent, type Subscriptions } from './make-deliveries.ts'
import * as store from './store.ts'

const eventsPerPass = 2_000
/** A pass makes no more than so many deliveries, but for those of a single event: an account may have hundreds of endpoints, and a pass holds this process and the cursor. */
const deliveriesPerPass = 10_000
/** Whole objects that are held in memory for their filters. */
const objectsAtOnce = 100
/** Endpoints offered to a pass, by the events of the one before: what offering costs stays below what it saves. */
const offersMin = 64
const offersPerEvent = 4
const offersTop = 2_000
/** A lease that ends sooner is not relied on. */
const leaseMarginMs = 10_000
const lookEveryMs = 1_000
/** Between two passes while events keep coming. */
const soonMs = 15
/** Passes in a row that find events and none that is final, with a pause after each: then somebody else may hold them up. */
const unripePasses = 10

/** What a pass did. */
export interface FanOutPass {
  readonly events: number
  readonly queued: number
  /** More becomes final once a transaction under way has ended. */
  readonly unripe: boolean
  /** More is final already. */
  readonly more: boolean
  /** Another process moved the cursor meanwhile, an endpoint has changed, or the events are lost: nothing was done. Null: it was. */
  readonly stale: store.StaleStep | null
}

/**
 * Makes the deliveries of events as they become final. Any number of processes may run it: the cursor lets one of them make each step, and
 * whoever was beaten to it pauses. What `consumer` can take at once goes to it in memory; without one everything goes to the queue.
 */
export function fanOutWorker(platform: Platform, consumer: HandoffConsumer = noConsumer): Worker {
  const { pool, clock } = platform
  const state = { lookedAt: -Infinity, offersMax: offersMin, unripe: 0, eventsMax: eventsPerPass }
  return {
    name: 'fan-out',
    idle_ms: 250,
    async tick() {
      const now = clock.elapsed()
      if (now - state.lookedAt >= lookEveryMs) {
        state.lookedAt = now
        await takeOver(platform, consumer)
      }
      const { events, queued, unripe, more, stale } = await fanOutPass(
        platform,
        consumer,
        consumer.offers(state.offersMax),
        state.eventsMax,
      )
      if (queued > 0) platform.notify('deliver')
      // endpoints that keep changing are met by few of such short passes: nobody holds up the events of others
      if (stale === 'endpoints') state.eventsMax = Math.max(1, state.eventsMax >> 1)
      else if (events > 0) state.eventsMax = Math.min(eventsPerPass, 2 * state.eventsMax)
      state.unripe = unripe && events === 0 && stale === null ? state.unripe + 1 : 0
      if (state.unripe > 0 && state.unripe % unripePasses === 0) await lookPastBystanders(pool)
      if (events > 0) state.offersMax = Math.max(offersMin, Math.min(offersTop, offersPerEvent * events))
      if (stale !== 'endpoints' && (more || (events === 0 && !unripe && stale === null))) return events
      // more comes in a moment: looking again soon keeps deliveries quick, not looking at once keeps the passes few
      await pause(soonMs)
      return Math.max(1, events)
    },
  }
}

/** One step along the feed, of up to `limit` events: reads what is new and who wants it, and writes the deliveries with the cursor. */
export async function fanOutPass(
  platform: Platform,
  consumer: HandoffConsumer,
  offers: readonly Offer[],
  limit = eventsPerPass,
): Promise<FanOutPass> {
  const { pool, clock, process_id } = platform
  const now = clock.now()
  const { cursor, events: found, unripe } = await store.readFeedSlice(pool, limit)
  if (found.length === 0) return { events: 0, queued: 0, unripe, more: false, stale: null }
  const kinds = [...new Map(found.filter(({ type }) => type !== '').map((event) => [event.kind, event])).values()]
  const subscriptions = await store.readSubscriptions(pool, kinds, {
    process_id,
    leases_until: isoTime(now + leaseMarginMs),
  })
  const events = withinDeliveries(found, subscriptions)
  const last = events.at(-1)!
  const more = events.length < found.length || found.length === limit
  const fields = await readFields(platform, events, subscriptions)
  const { queued, handedOff } = makeDeliveries(events, subscriptions, offers, (id) => fields.get(id))
  const batch = { id: consumer.nextBatchId(), created_at: isoTime(now), deliveries: handedOff }
  const stale = await store.commitFanOut(pool, {
    from: cursor,
    to: last,
    at: batch.created_at,
    endpoints: versionsOf(subscriptions),
    queued,
    handedOff,
    process_id,
    batch_id: batch.id,
  })
  if (stale !== null) return { events: 0, queued: 0, unripe, more, stale }
  if (handedOff.length > 0) await consumer.take(batch)
  return { events: events.length, queued: queued.length, unripe, more, stale: null }
}

/** The first of these events, as many as one pass makes the deliveries of; at least one. */
function withinDeliveries(events: readonly FedEvent[], subscriptions: Subscriptions): readonly FedEvent[] {
  let deliveries = 0
  const end = events.findIndex(
    (event) => (deliveries += subscriptions.get(event.kind)?.length ?? 0) > deliveriesPerPass,
  )
  return end === -1 ? events : events.slice(0, Math.max(1, end))
}

/** What filters look at of the events that some subscriber filters, by id. Read in pieces: an object may be a megabyte, and a pass has thousands. */
async function readFields(
  { pool }: Platform,
  events: readonly FedEvent[],
  subscriptions: Subscriptions,
): Promise<Map<string, FilterFields>> {
  const kinds = new Set(
    [...subscriptions].flatMap(([kind, own]) => (own.some(({ filters }) => filters !== null) ? [kind] : [])),
  )
  const filtered = kinds.size === 0 ? [] : events.filter(({ kind }) => kinds.has(kind))
  const fields = new Map<string, FilterFields>()
  for (let from = 0; from < filtered.length; from += objectsAtOnce) {
    const rows = await readEvents(pool, filtered.slice(from, from + objectsAtOnce))
    for (const { id, object } of rows) fields.set(id, filterFieldsOf(JSON.parse(object) as Record<string, unknown>))
  }
  return fields
}

function versionsOf(subscriptions: Subscriptions): Map<string, number> {
  const versions = new Map<string, number>()
  for (const own of subscriptions.values())
    for (const { endpoint_id, version } of own) if (version !== null) versions.set(endpoint_id, version)
  return versions
}

/** Brings to the queue what was handed off by processes that died since, or in an answer that was lost. */
async function takeOver(platform: Platform, consumer: HandoffConsumer): Promise<void> {
  const { pool, clock, process_id } = platform
  const lost = await listLostHandoffs(
    pool,
    process_id,
    consumer.openBatches(),
    isoTime(clock.now() - limits.process_silent_ms),
  )
  if (lost.length > 0 && (await transact(pool, (tx) => queueHandoffs(tx, lost))) > 0) platform.notify('deliver')
}
