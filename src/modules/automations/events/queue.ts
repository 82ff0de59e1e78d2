/**
 * Accepts events in batches: those that arrive during a transaction form the next one (docs/decisions/group-commit.md).
 * Concurrent transactions would wait for each other's contacts.
 */
import { Problem, retrySoon } from '../../../api/problem.ts'
import { batchFilled, roundRobin } from '../../../lib/concurrency.ts'
import { isoTime } from '../../../lib/clock.ts'
import { connectionLost, neverSent } from '../../../platform/database/failures.ts'
import { sqlState, transact } from '../../../platform/database/sql.ts'
import { WriteConflict } from '../../contacts/service.ts'
import { acceptEvents, BeforeCommitError, type AcceptDeps, type Outcomes } from './acceptance.ts'
import { phoneOf } from './contact-sync.ts'
import type { AcceptedEvent, BeforeCommit, IncomingEvent, PendingEvent } from './event.ts'

export interface EventQueue {
  /**
   * Resolves after the commit. Refusals: resource_missing, source_disabled; upstream_unavailable if the queue is full.
   */
  accept(event: IncomingEvent, before_commit?: BeforeCommit): Promise<AcceptedEvent>
  load(): number
  stop(): Promise<void>
}

/** (behaviour: integrations 3.5) */
const eventsMax = 10_000
const charactersMax = 64_000_000
/** One source may use this fraction of the capacity. */
const sourceShare = 4
const batchMax = 200
const batchCharactersMax = 2_000_000
/**
 * A transaction costs as much as a dozen events. For `busyMs` after a batch of `busyBatch` events the next ones fill
 * up: to `fullBatch` events or for `spacingMs`.
 */
const busyBatch = 8
const busyMs = 50
const fullBatch = 100
const spacingMs = 6
const retriesMax = 8
const retryAfterMs = 250

interface Waiting extends PendingEvent {
  readonly characters: number
  readonly resolve: (accepted: AcceptedEvent) => void
  readonly reject: (error: unknown) => void
}

interface Load {
  events: number
  characters: number
}

interface Queue {
  readonly deps: AcceptDeps
  waiting: Waiting[]
  readonly load: Load
  readonly loadBySource: Map<string, Load>
  running: boolean
  /** Until then batches fill up (`performance.now()`). */
  busy_until: number
  readonly idle: (() => void)[]
}

export function eventQueue(deps: AcceptDeps): EventQueue {
  const queue: Queue = {
    deps,
    waiting: [],
    load: { events: 0, characters: 0 },
    loadBySource: new Map(),
    running: false,
    busy_until: 0,
    idle: [],
  }
  return {
    accept: (event, before_commit) => enqueue(queue, event, before_commit),
    load: () => queue.load.events,
    async stop() {
      if (queue.running) await new Promise<void>((resolve) => queue.idle.push(resolve))
    },
  }
}

function enqueue(queue: Queue, event: IncomingEvent, before_commit: BeforeCommit | undefined): Promise<AcceptedEvent> {
  const { platform } = queue.deps
  const data_json = JSON.stringify(event.data)
  const characters = data_json.length + JSON.stringify(event.customer).length
  if (!hasCapacity(queue, event.source.id, characters)) {
    platform.metrics.automation_events.inc({ outcome: 'refused' })
    return Promise.reject(
      new Problem(
        'upstream_unavailable',
        'Too many events wait to be stored right now. Report this one again in a moment.',
        { headers: retrySoon },
      ),
    )
  }
  const { promise, resolve, reject } = Promise.withResolvers<AcceptedEvent>()
  queue.waiting.push({
    event,
    id: platform.ids('aev'),
    at: isoTime(platform.clock.now()),
    data_json,
    before_commit,
    characters,
    resolve,
    reject,
  })
  addLoad(queue, event.source.id, 1, characters)
  if (!queue.running) {
    queue.running = true
    setImmediate(() => void run(queue))
  }
  return promise
}

function hasCapacity({ load, loadBySource }: Queue, source_id: string, characters: number): boolean {
  const own = loadBySource.get(source_id)
  const fits = (one: Load, share: number) =>
    one.events < eventsMax / share && one.characters + characters <= charactersMax / share
  return fits(load, 1) && (own === undefined || fits(own, sourceShare))
}

function addLoad({ load, loadBySource }: Queue, source_id: string, events: number, characters: number): void {
  const own = loadBySource.get(source_id) ?? { events: 0, characters: 0 }
  for (const one of [load, own]) {
    one.events += events
    one.characters += characters
  }
  if (own.events === 0) loadBySource.delete(source_id)
  else loadBySource.set(source_id, own)
}

async function run(queue: Queue): Promise<void> {
  while (queue.waiting.length > 0) {
    const began = performance.now()
    if (began < queue.busy_until) await batchFilled(() => queue.waiting.length, fullBatch, began + spacingMs)
    const batch = nextBatch(queue)
    await accept(queue.deps, batch)
    if (batch.length >= busyBatch) queue.busy_until = performance.now() + busyMs
  }
  queue.running = false
  for (const resolve of queue.idle.splice(0)) resolve()
}

/**
 * One of each source in turn, in order. A second report of an order status with another phone waits for the next batch,
 * with its source's later events: whether it counts depends on the first (behaviour: integrations 3.4).
 */
function nextBatch(queue: Queue): Waiting[] {
  const batch: Waiting[] = []
  const statuses = new Map<string, IncomingEvent>()
  const postponed = new Set<string>()
  let characters = 0
  for (const next of queue.loadBySource.size < 2 ? queue.waiting : roundRobin(queue.waiting, sourceIdOf, batchMax)) {
    if (batch.length === batchMax || (batch.length > 0 && characters + next.characters > batchCharactersMax)) break
    const { source, dedup_key } = next.event
    const status = dedup_key === undefined ? null : `${source.id} ${dedup_key}`
    const first = status === null ? undefined : statuses.get(status)
    if (
      first !== undefined &&
      first.event_id !== next.event.event_id &&
      phoneOf(first.customer) !== phoneOf(next.event.customer)
    )
      postponed.add(source.id)
    if (postponed.has(source.id)) continue
    if (status !== null && first === undefined) statuses.set(status, next.event)
    batch.push(next)
    characters += next.characters
  }
  const inBatch = new Set(batch)
  queue.waiting = queue.waiting.filter((one) => !inBatch.has(one))
  for (const { event, characters: own } of batch) addLoad(queue, event.source.id, -1, -own)
  return batch
}

const sourceIdOf = ({ event }: Waiting): string => event.source.id

/** Halves the batch to find an event that the database refuses. */
async function accept(deps: AcceptDeps, batch: readonly Waiting[]): Promise<void> {
  let open = batch
  for (let retry = 0; open.length > 0; retry++) {
    try {
      const current = open
      answer(deps, open, await transact(deps.platform.pool, (tx) => acceptEvents(deps, tx, current)))
      return
    } catch (error) {
      if (error instanceof BeforeCommitError) {
        open.find((one) => one === error.pending)!.reject(error.problem)
        deps.platform.metrics.automation_events.inc({ outcome: 'refused' })
        open = open.filter((one) => one !== error.pending)
        continue
      }
      if (retry < retriesMax && (await mayRetry(deps, error))) continue
      if (open.length === 1 && isDataError(error)) return await acceptFailed(deps, open, error)
      if (open.length === 1 || !mayBeOneEvent(error)) return refuse(deps, open, error)
      const half = Math.ceil(open.length / 2)
      await accept(deps, open.slice(0, half))
      open = open.slice(half)
      retry = -1
    }
  }
}

function answer({ platform: { metrics } }: AcceptDeps, batch: readonly Waiting[], outcomes: Outcomes): void {
  const counts = new Map<string, number>()
  for (const one of batch) {
    const outcome = outcomes.get(one)!
    const label = outcome instanceof Problem ? 'refused' : outcome.receipt.status
    counts.set(label, (counts.get(label) ?? 0) + 1)
    if (outcome instanceof Problem) one.reject(outcome)
    else one.resolve(outcome)
  }
  for (const [outcome, events] of counts) metrics.automation_events.inc({ outcome }, events)
}

/** A unique index (23505), a serialisation failure or a deadlock. */
const lostRace = (error: unknown): boolean => {
  const state = sqlState(error) ?? ''
  return error instanceof WriteConflict || state === '23505' || state.startsWith('40')
}

/** After a commit that succeeded all the same, the receipt is found by its ID. */
async function mayRetry({ platform }: AcceptDeps, error: unknown): Promise<boolean> {
  if (lostRace(error)) return true
  platform.storage.failed(error)
  if (!connectionLost(error) || neverSent(error)) return false
  await platform.clock.sleep(retryAfterMs)
  return true
}

const isDataError = (error: unknown): boolean => /^2[23]/.test(sqlState(error) ?? '')

const mayBeOneEvent = (error: unknown): boolean => lostRace(error) || isDataError(error)

/** `failed`, because its sender would only repeat an event that cannot be matched. */
async function acceptFailed(deps: AcceptDeps, batch: readonly Waiting[], error: unknown): Promise<void> {
  const { platform } = deps
  platform.log.error(
    { err: error, automation_event_id: batch[0]!.id },
    'an event could not be matched with automations; its receipt is `failed`',
  )
  try {
    answer(deps, batch, await transact(platform.pool, (tx) => acceptEvents(deps, tx, batch, 'failed')))
  } catch (again) {
    refuse(deps, batch, again)
  }
}

function refuse({ platform }: AcceptDeps, batch: readonly Waiting[], error: unknown): void {
  platform.metrics.automation_events.inc({ outcome: 'refused' }, batch.length)
  if (batch.length > 1) platform.log.error({ err: error }, 'a batch of events could not be stored')
  for (const { reject } of batch) reject(error instanceof BeforeCommitError ? error.problem : error)
}
