/** The fan-out worker: follows the event feed and makes the deliveries of active subscriptions. */
import * as store from './repository.ts'
import { isoTime, pause } from '../../../lib/clock.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import { lookPastBystanders } from '../../../platform/events/feed-horizon-store.ts'
import type { Platform } from '../../../platform/platform.ts'
import { readEvents } from '../feed/repository.ts'
import { filterFieldsOf, type FilterFields, makeDeliveries, type FeedEvent, type Subscriptions } from './matching.ts'

const eventsPerPass = 2_000
/** A pass makes no more than so many deliveries, but for those of a single event: an account may have hundreds of endpoints, and a pass holds this process and the cursor. */
const deliveriesPerPass = 10_000
/** Whole objects that are held in memory for their filters. */
const objectsAtOnce = 100
/** Between two passes while events keep coming. */
const soonMs = 15
/** Passes in a row that find events and none that is final, with a pause after each: then somebody else may hold them up. */
const blockedRuns = 10

/** What a pass did. */
export interface FanOutResult {
  readonly events: number
  readonly queued: number
  /** More becomes final once a transaction under way has ended. */
  readonly blocked: boolean
  /** More is final already. */
  readonly more: boolean
  /** Another process moved the cursor meanwhile, an endpoint has changed, or the events are lost: nothing was done. Null: it was. */
  readonly stale: store.StaleStep | null
}

/**
 * Makes the deliveries of events as they become final. Any number of processes may run it: the cursor lets one of them make each step, and
 * the others pause.
 */
export function fanOutWorker(platform: Platform): Worker {
  const state = { blocked: 0, eventsMax: eventsPerPass }
  return {
    name: 'fan-out',
    idle_ms: 250,
    async tick() {
      const { events, queued, blocked, more, stale } = await fanOutOnce(platform, state.eventsMax)
      if (queued > 0) platform.notify('deliver')
      // endpoints that keep changing are met by few of such short passes: nobody holds up the events of others
      if (stale === 'endpoints') state.eventsMax = Math.max(1, state.eventsMax >> 1)
      else if (events > 0) state.eventsMax = Math.min(eventsPerPass, 2 * state.eventsMax)
      state.blocked = blocked && events === 0 && stale === null ? state.blocked + 1 : 0
      if (state.blocked > 0 && state.blocked % blockedRuns === 0) await lookPastBystanders(platform.pool)
      if (stale !== 'endpoints' && (more || (events === 0 && !blocked && stale === null))) return events
      // more comes in a moment: looking again soon keeps deliveries quick, not looking at once keeps the passes few
      await pause(soonMs)
      return Math.max(1, events)
    },
  }
}

/** One step along the feed, of up to `limit` events: reads what is new and who wants it, and writes the deliveries with the cursor. */
export async function fanOutOnce(platform: Platform, limit = eventsPerPass): Promise<FanOutResult> {
  const { pool, clock } = platform
  const { cursor, events: found, blocked } = await store.readFeedSlice(pool, limit)
  if (found.length === 0) return { events: 0, queued: 0, blocked, more: false, stale: null }
  const kinds = [...new Map(found.filter(({ type }) => type !== '').map((event) => [event.kind, event])).values()]
  const subscriptions = await store.readSubscriptions(pool, kinds)
  const events = withinDeliveries(found, subscriptions)
  const last = events.at(-1)!
  const more = events.length < found.length || found.length === limit
  const fields = await readFields(platform, events, subscriptions)
  const deliveries = makeDeliveries(events, subscriptions, (id) => fields.get(id))
  const stale = await store.commitFanOut(pool, {
    from: cursor,
    to: last,
    at: isoTime(clock.now()),
    endpoints: versionsOf(subscriptions),
    deliveries,
  })
  if (stale !== null) return { events: 0, queued: 0, blocked, more, stale }
  return { events: events.length, queued: deliveries.length, blocked, more, stale: null }
}

/** The first of these events, as many as one pass makes the deliveries of; at least one. */
function withinDeliveries(events: readonly FeedEvent[], subscriptions: Subscriptions): readonly FeedEvent[] {
  let deliveries = 0
  const end = events.findIndex(
    (event) => (deliveries += subscriptions.get(event.kind)?.length ?? 0) > deliveriesPerPass,
  )
  return end === -1 ? events : events.slice(0, Math.max(1, end))
}

/** What filters look at of the events that some subscriber filters, by id. Read in pieces: an object may be a megabyte, and a pass has thousands. */
async function readFields(
  { pool }: Platform,
  events: readonly FeedEvent[],
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
