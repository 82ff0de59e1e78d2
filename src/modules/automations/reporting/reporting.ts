/**
 * What sources report, accepted in groups: events that arrive while a transaction is under way form the next one, as messages do
 * (docs/decisions/group-commit.md). One transaction at a time: two would wait for each other at the contacts.
 */
import { Problem, retrySoon } from '../../../api/problem.ts'
import { filled, inTurn } from '../../../lib/batching.ts'
import { isoTime } from '../../../lib/clock.ts'
import { connectionLost, neverSent } from '../../../platform/database/failures.ts'
import { sqlState, transact } from '../../../platform/database/sql.ts'
import { LostRace } from '../../contacts/service.ts'
import { phoneOf } from './contact-sync.ts'
import { acceptReports, NotKept, type AcceptDeps, type Outcomes } from './accepting.ts'
import type { KeepReported, Report, Reported, ReportedBySource } from './reported.ts'

export interface Reporting {
  /**
   * Accepts an event once, and resolves when that is committed: to its receipt, or to the first one where it was reported before. `keep` is called in the same
   * transaction. Refusals: resource_missing, source_disabled, and upstream_unavailable where too much waits.
   */
  report(event: ReportedBySource, keep?: KeepReported): Promise<Reported>
  /** Events that wait at this moment. */
  load(): number
  /** Resolves when nothing is in hand. */
  stop(): Promise<void>
}

/** What may wait (behaviour: integrations 3.5). */
const waitingMax = 10_000
const waitingCharactersMax = 64_000_000
/** The part of that which one source may take. */
const sourceShare = 4
/** One transaction: it holds up everybody's next event. */
const groupMax = 200
const groupCharactersMax = 2_000_000
/**
 * A transaction costs as much as a dozen events, whatever it holds. For `busyMs` after a group of `busyGroup` each one fills first, while events keep coming: to `fullGroup`, or for
 * `spacingMs`. Whoever was answered together tells his next ones together.
 */
const busyGroup = 8
const busyMs = 50
const fullGroup = 100
const spacingMs = 6
const repeatsMax = 8
const repeatAfterMs = 250

interface Waiting extends Report {
  /** Of what is stored of it. */
  readonly characters: number
  readonly resolve: (reported: Reported) => void
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
  /** Of each source that has events in it. */
  readonly ofSource: Map<string, Load>
  running: boolean
  /** Until then groups fill (`performance.now()`). */
  busy_until: number
  readonly idle: (() => void)[]
}

export function reportingOf(deps: AcceptDeps): Reporting {
  const queue: Queue = {
    deps,
    waiting: [],
    load: { events: 0, characters: 0 },
    ofSource: new Map(),
    running: false,
    busy_until: 0,
    idle: [],
  }
  return {
    report: (event, keep) => report(queue, event, keep),
    load: () => queue.load.events,
    async stop() {
      if (queue.running) await new Promise<void>((resolve) => queue.idle.push(resolve))
    },
  }
}

function report(queue: Queue, event: ReportedBySource, keep: KeepReported | undefined): Promise<Reported> {
  const { platform } = queue.deps
  const data_json = event.data_json ?? JSON.stringify(event.data)
  const characters = data_json.length + JSON.stringify(event.customer).length
  if (!hasRoomFor(queue, event.source.id, characters)) {
    platform.metrics.automation_events.inc({ outcome: 'refused' })
    return Promise.reject(
      new Problem(
        'upstream_unavailable',
        'Too many events wait to be stored right now. Report this one again in a moment.',
        { headers: retrySoon },
      ),
    )
  }
  const { promise, resolve, reject } = Promise.withResolvers<Reported>()
  queue.waiting.push({
    event,
    id: platform.ids('aev'),
    at: isoTime(platform.clock.now()),
    data_json,
    keep,
    characters,
    resolve,
    reject,
  })
  count(queue, event.source.id, 1, characters)
  if (!queue.running) {
    queue.running = true
    setImmediate(() => void run(queue))
  }
  return promise
}

function hasRoomFor({ load, ofSource }: Queue, source_id: string, characters: number): boolean {
  const own = ofSource.get(source_id)
  const fits = (one: Load, part: number) =>
    one.events < waitingMax / part && one.characters + characters <= waitingCharactersMax / part
  return fits(load, 1) && (own === undefined || fits(own, sourceShare))
}

function count({ load, ofSource }: Queue, source_id: string, events: number, characters: number): void {
  const own = ofSource.get(source_id) ?? { events: 0, characters: 0 }
  for (const one of [load, own]) {
    one.events += events
    one.characters += characters
  }
  if (own.events === 0) ofSource.delete(source_id)
  else ofSource.set(source_id, own)
}

async function run(queue: Queue): Promise<void> {
  while (queue.waiting.length > 0) {
    const began = performance.now()
    if (began < queue.busy_until) await filled(() => queue.waiting.length, fullGroup, began + spacingMs)
    const group = take(queue)
    await accept(queue.deps, group)
    if (group.length >= busyGroup) queue.busy_until = performance.now() + busyMs
  }
  queue.running = false
  for (const resolve of queue.idle.splice(0)) resolve()
}

/**
 * The next events, one of each source in turn, each source's in their order: one with much to tell takes the room that the others leave. A status of an order that is told again is
 * left to the next group, with what its source told after it, where it names another phone: whether it counts hangs on what comes of the first (behaviour: integrations 3.4), and whom
 * it can be written to about on the phone.
 */
function take(queue: Queue): Waiting[] {
  const group: Waiting[] = []
  const statuses = new Map<string, ReportedBySource>()
  /** Sources whose other events are left. */
  const left = new Set<string>()
  let characters = 0
  for (const next of queue.ofSource.size < 2 ? queue.waiting : inTurn(queue.waiting, sourceOf, groupMax)) {
    if (group.length === groupMax || (group.length > 0 && characters + next.characters > groupCharactersMax)) break
    const { source, once_key } = next.event
    const status = once_key === undefined ? null : `${source.id} ${once_key}`
    const first = status === null ? undefined : statuses.get(status)
    if (
      first !== undefined &&
      first.event_id !== next.event.event_id &&
      phoneOf(first.customer) !== phoneOf(next.event.customer)
    )
      left.add(source.id)
    if (left.has(source.id)) continue
    if (status !== null && first === undefined) statuses.set(status, next.event)
    group.push(next)
    characters += next.characters
  }
  const taken = new Set(group)
  queue.waiting = queue.waiting.filter((one) => !taken.has(one))
  for (const { event, characters: own } of group) count(queue, event.source.id, -1, -own)
  return group
}

const sourceOf = ({ event }: Waiting): string => event.source.id

/** Accepts a group, and answers each of its events. */
async function accept(deps: AcceptDeps, group: readonly Waiting[]): Promise<void> {
  let open = group
  for (let repeat = 0; open.length > 0; repeat++) {
    try {
      const reports = open
      answer(deps, open, await transact(deps.platform.pool, (tx) => acceptReports(deps, tx, reports)))
      return
    } catch (error) {
      if (error instanceof NotKept) {
        open.find((one) => one === error.report)!.reject(error.problem)
        deps.platform.metrics.automation_events.inc({ outcome: 'refused' })
        open = open.filter((one) => one !== error.report)
        continue
      }
      if (repeat < repeatsMax && (await mayRepeat(deps, error))) continue
      if (open.length === 1 && isOfData(error)) return await acceptFailed(deps, open, error)
      if (open.length === 1 || !isOfOne(error)) return refuse(deps, open, error)
      const half = Math.ceil(open.length / 2)
      await accept(deps, open.slice(0, half))
      open = open.slice(half)
      repeat = -1
    }
  }
}

function answer({ platform: { metrics } }: AcceptDeps, group: readonly Waiting[], outcomes: Outcomes): void {
  const counts = new Map<string, number>()
  for (const one of group) {
    const outcome = outcomes.get(one)!
    const came_to = outcome instanceof Problem ? 'refused' : outcome.receipt.status
    counts.set(came_to, (counts.get(came_to) ?? 0) + 1)
    if (outcome instanceof Problem) one.reject(outcome)
    else one.resolve(outcome)
  }
  for (const [outcome, events] of counts) metrics.automation_events.inc({ outcome }, events)
}

/** Somebody else wrote first (23505 is a unique index that says so), or stood in the way. */
const raced = (error: unknown): boolean => {
  const state = sqlState(error) ?? ''
  return error instanceof LostRace || state === '23505' || state.startsWith('40')
}

/** After a lost race, and after a lost connection: what was committed all the same is found by its own id. */
async function mayRepeat({ platform }: AcceptDeps, error: unknown): Promise<boolean> {
  if (raced(error)) return true
  platform.storage.failed(error)
  if (!connectionLost(error) || neverSent(error)) return false
  await platform.clock.sleep(repeatAfterMs)
  return true
}

/** The database refuses what is to be written. */
const isOfData = (error: unknown): boolean => /^2[23]/.test(sqlState(error) ?? '')

/** One event of a group may be what the database refuses, or what loses every race. */
const isOfOne = (error: unknown): boolean => raced(error) || isOfData(error)

/** What cannot be looked at gets a receipt that says so, for whoever told it would only tell it again and again. */
async function acceptFailed(deps: AcceptDeps, group: readonly Waiting[], error: unknown): Promise<void> {
  const { platform } = deps
  platform.log.error({ err: error, automation_event_id: group[0]!.id }, 'a reported event could not be looked at')
  try {
    answer(deps, group, await transact(platform.pool, (tx) => acceptReports(deps, tx, group, 'failed')))
  } catch (again) {
    refuse(deps, group, again)
  }
}

function refuse({ platform }: AcceptDeps, group: readonly Waiting[], error: unknown): void {
  platform.metrics.automation_events.inc({ outcome: 'refused' }, group.length)
  if (group.length > 1)
    platform.log.error({ err: error }, 'a group of reported events failed as a whole; the next one goes on')
  for (const { reject } of group) reject(error instanceof NotKept ? error.problem : error)
}
