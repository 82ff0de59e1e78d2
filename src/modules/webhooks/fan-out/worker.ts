/** The fan-out worker follows the event feed and queues deliveries of active subscriptions. */
import * as store from './repository.ts'
import { TimeSlices } from '../../../lib/concurrency.ts'
import { isoTime, pause } from '../../../lib/clock.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import { skipUnrelatedTransactions } from '../../../platform/events/feed-horizon-repository.ts'
import type { Platform } from '../../../platform/platform.ts'
import { readEvents } from '../feed/repository.ts'
import { filterFieldsOf, type FilterFields, makeDeliveries, type FeedEvent, type Subscriptions } from './matching.ts'

const eventsPerRun = 2_000
/** Except for a single event: an account may have hundreds of endpoints. */
const deliveriesPerRun = 10_000
const soonMs = 15
/** In a row without a final event; then an unrelated transaction may block the feed. */
const blockedRuns = 10

export interface FanOutResult {
  readonly events: number
  readonly queued: number
  readonly blocked: boolean
  readonly more: boolean
  /** Why nothing was written; null if written. */
  readonly stale: store.StaleStep | null
}

/** In any number of processes: the cursor lets one of them make each step. */
export function fanOutWorker(platform: Platform): Worker {
  const state = { blocked: 0, eventsMax: eventsPerRun }
  return {
    name: 'fan-out',
    poll_every_ms: 250,
    async tick() {
      const { events, queued, blocked, more, stale } = await fanOutOnce(platform, state.eventsMax)
      if (queued > 0) platform.notify('deliver')
      // shorter runs meet fewer changing endpoints, so events of other accounts are not delayed
      if (stale === 'endpoints') state.eventsMax = Math.max(1, state.eventsMax >> 1)
      else if (events > 0) state.eventsMax = Math.min(eventsPerRun, 2 * state.eventsMax)
      state.blocked = blocked && events === 0 && stale === null ? state.blocked + 1 : 0
      if (state.blocked > 0 && state.blocked % blockedRuns === 0) await skipUnrelatedTransactions(platform.pool)
      if (stale !== 'endpoints' && (more || (events === 0 && !blocked && stale === null))) return events
      // a short pause keeps deliveries quick and runs few
      await pause(soonMs)
      return Math.max(1, events)
    },
  }
}

export async function fanOutOnce(platform: Platform, limit = eventsPerRun): Promise<FanOutResult> {
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

/** At least one event. */
function withinDeliveries(events: readonly FeedEvent[], subscriptions: Subscriptions): readonly FeedEvent[] {
  let deliveries = 0
  const end = events.findIndex((event) => (deliveries += subscriptions.get(event.kind)?.length ?? 0) > deliveriesPerRun)
  return end === -1 ? events : events.slice(0, Math.max(1, end))
}

/** By event id. */
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
  const slices = new TimeSlices()
  for await (const { events: rows } of readEvents(pool, filtered))
    for (const { id, object } of rows) {
      await slices.next()
      fields.set(id, fieldsOrNone(object))
    }
  return fields
}

/** An object that cannot be parsed matches no filter: its event must not hold back the feed. */
function fieldsOrNone(object: string): FilterFields {
  try {
    return filterFieldsOf(JSON.parse(object) as Record<string, unknown>)
  } catch {
    return filterFieldsOf({})
  }
}

function versionsOf(subscriptions: Subscriptions): Map<string, number> {
  const versions = new Map<string, number>()
  for (const own of subscriptions.values())
    for (const { endpoint_id, version } of own) if (version !== null) versions.set(endpoint_id, version)
  return versions
}
