/** Group commit: submissions that arrive during a commit form the next batch (docs/decisions/group-commit.md). */
import { limits } from '../../../api/limits.ts'
import { batchFilled, roundRobin } from '../../../lib/concurrency.ts'
import { pause } from '../../../lib/clock.ts'
import { BulkPace } from './bulk-pace.ts'
import type { CommitDeps } from './acceptance.ts'
import { commit } from './commit.ts'
import {
  answerAll,
  type ItemOutcome,
  type Pending,
  type Submission,
  type Traffic,
  type UnavailableReason,
  type Unit,
  unitOf,
} from './submission.ts'
import { kindOf } from './producers.ts'

export interface Ingest {
  /**
   * In the order of items. Bulk waits for capacity; interactive submissions are `unavailable` without it. After a
   * rejection, some items of a bulk submission may have been accepted.
   */
  submit(submission: Submission): Promise<readonly ItemOutcome[]>
  load(): IngestLoad
  /** Refuses bulk from now on. Resolves when no commit is in progress. */
  stop(): Promise<void>
}

export interface IngestLoad {
  readonly interactive: number
  readonly bulk: number
  readonly unadmitted: number
}

const interactiveRowsMax = 20_000
const interactiveCharactersMax = 128_000_000
/** Part of the capacity that one account may use. */
const accountShare = 4
/** A few large messages take as long as hundreds of usual ones. */
const batchCharactersMax = 2_000_000
/** Other rows wait in their submissions. */
export const bulkRowsMax = 2000
/** Per submission and turn. */
const bulkTurnRows = 500

/** A commit costs as much as a dozen messages, so batches fill under load (docs/decisions/group-commit.md). */
const busyRequests = 8
const fullRequests = 24
const spacingMs = 6

const retryAfterErrorMs = 100

interface Queue {
  units: Unit[]
  rows: number
  characters: number
  /** Per account. */
  readonly loads: Map<string, { rows: number; characters: number }>
}

interface Bulk extends Queue {
  /** Partly admitted. */
  unadmitted: { readonly pending: Pending; admitted: number }[]
  readonly pace: BulkPace
}

interface Pump {
  readonly deps: CommitDeps
  readonly interactive: Queue
  readonly bulk: Bulk
  readonly running: Set<Traffic>
  answering: Promise<void>
  stopping: boolean
  /** Ends the wait of bulk traffic. */
  arrived: (() => void) | undefined
  readonly idle: (() => void)[]
}

export function groupCommit(deps: CommitDeps): Ingest {
  const pump: Pump = {
    deps,
    interactive: { units: [], rows: 0, characters: 0, loads: new Map() },
    bulk: { units: [], rows: 0, characters: 0, loads: new Map(), unadmitted: [], pace: new BulkPace() },
    running: new Set(),
    answering: Promise.resolve(),
    stopping: false,
    arrived: undefined,
    idle: [],
  }
  return {
    submit: (submission) => submit(pump, submission),
    load: () => ({ interactive: pump.interactive.rows, bulk: pump.bulk.rows, unadmitted: unadmittedRows(pump.bulk) }),
    async stop() {
      pump.stopping = true
      refuseWaiting(pump.bulk)
      pump.arrived?.()
      if (pump.running.size > 0) await new Promise<void>((resolve) => pump.idle.push(resolve))
    },
  }
}

function submit(pump: Pump, submission: Submission): Promise<readonly ItemOutcome[]> {
  const { items, traffic } = submission
  checkSubmission(pump.deps, submission)
  if (items.length === 0) return Promise.resolve([])
  const refused: UnavailableReason | undefined =
    traffic === 'bulk'
      ? pump.stopping
        ? 'stopping'
        : undefined
      : hasCapacityFor(pump.interactive, items)
        ? undefined
        : 'full'
  if (refused !== undefined) return Promise.resolve(items.map(() => ({ kind: 'unavailable', reason: refused })))
  const { promise, resolve, reject } = Promise.withResolvers<readonly ItemOutcome[]>()
  const pending: Pending = {
    submission,
    outcomes: items.map(() => undefined),
    open: items.length,
    rejected: false,
    resolve,
    reject,
  }
  if (traffic === 'interactive') {
    enqueue(pump.interactive, unitOf(pending, items, 0))
  } else {
    if (pump.bulk.units.length === 0) pump.bulk.pace.rowsArrived(performance.now())
    pump.bulk.unadmitted.push({ pending, admitted: 0 })
    admit(pump.bulk)
    if (pump.bulk.rows >= pump.bulk.pace.chunkRows) pump.arrived?.()
  }
  if (!pump.running.has(traffic)) {
    pump.running.add(traffic)
    setImmediate(() => void run(pump, traffic))
  }
  return promise
}

function hasCapacityFor({ rows, characters, loads }: Queue, items: Submission['items']): boolean {
  const own = loads.get(items[0]!.message.account_id)
  return (
    rows + items.length <= interactiveRowsMax &&
    characters < interactiveCharactersMax &&
    (own === undefined ||
      (own.rows + items.length <= interactiveRowsMax / accountShare &&
        own.characters < interactiveCharactersMax / accountShare))
  )
}

const accountOf = ({ items }: Unit): string => items[0]!.message.account_id

function enqueue(queue: Queue, unit: Unit): void {
  queue.units.push(unit)
  queue.rows += unit.items.length
  queue.characters += unit.characters
  const load = queue.loads.get(accountOf(unit))
  if (load === undefined) queue.loads.set(accountOf(unit), { rows: unit.items.length, characters: unit.characters })
  else {
    load.rows += unit.items.length
    load.characters += unit.characters
  }
}

function dequeued(queue: Queue, units: readonly Unit[]): void {
  for (const unit of units) {
    queue.rows -= unit.items.length
    queue.characters -= unit.characters
    const load = queue.loads.get(accountOf(unit))!
    load.rows -= unit.items.length
    load.characters -= unit.characters
    if (load.rows === 0) queue.loads.delete(accountOf(unit))
  }
}

function checkSubmission({ producers }: CommitDeps, { traffic, items, producer }: Submission): void {
  if (traffic === 'interactive' && items.length > limits.group_commit_rows_max)
    throw new Error(
      `an interactive submission has at most ${limits.group_commit_rows_max} messages, since it is committed as a whole`,
    )
  if (producer === undefined) return
  const { columns } = producers.require(producer.kind)
  const missing = columns.find((name) => producer.values?.[name] === undefined)
  if (missing !== undefined) throw new Error(`a submission of the kind ${producer.kind} has no ${missing}`)
  if (producer.valueFrom !== undefined && traffic === 'bulk')
    throw new Error('`valueFrom` needs an interactive submission, because it uses all outcomes')
  const keys = new Set(items.map((item) => item.submission_key))
  if (columns.length === 0 && (keys.has(undefined) || keys.size < items.length))
    throw new Error('each item of a producer has a submission key of its own')
}

async function run(pump: Pump, traffic: Traffic): Promise<void> {
  while (pump[traffic].units.length > 0) {
    try {
      if (traffic === 'interactive') await commitInteractive(pump)
      else await commitChunk(pump)
    } catch (error) {
      pump.deps.platform.log.error({ err: error }, 'a batch of messages failed; the next batch continues')
      await pause(retryAfterErrorMs)
    }
  }
  pump.running.delete(traffic)
  if (pump.running.size === 0) for (const resolve of pump.idle.splice(0)) resolve()
}

async function waitForTurn(pump: Pump): Promise<void> {
  for (let wait = bulkWaitMs(pump); wait > 0 && pump.bulk.units.length > 0; wait = bulkWaitMs(pump)) {
    const { promise: arrival, resolve } = Promise.withResolvers<void>()
    pump.arrived = resolve
    await Promise.race([pause(Math.max(1, wait)), arrival])
    pump.arrived = undefined
  }
}

function bulkWaitMs({ deps, interactive, bulk }: Pump): number {
  const now = performance.now()
  return (
    bulk.pace.earliestStart(now, { rows: bulk.rows, requestsWait: interactive.units.length > 0, alone: deps.alone() }) -
    now
  )
}

async function commitInteractive(pump: Pump): Promise<void> {
  const began = performance.now()
  const batch = take(pump.interactive, limits.group_commit_rows_max)
  pump.answering = commit(pump.deps, batch)
  await pump.answering
  if (batch.length < busyRequests) return
  pump.bulk.pace.requestsCommitted(performance.now())
  await batchFilled(() => pump.interactive.units.length, fullRequests, began + spacingMs)
}

async function commitChunk(pump: Pump): Promise<void> {
  const { bulk } = pump
  await waitForTurn(pump)
  // starting beside a commit of requests would slow it down; also waiting for later ones would starve bulk
  await Promise.allSettled([pump.answering])
  if (bulk.units.length === 0) return
  const began = performance.now()
  const batch = take(bulk, bulk.pace.chunkRows)
  admit(bulk)
  await commit(pump.deps, batch)
  if (batch.some(({ pending }) => pending.rejected)) dropRejected(bulk)
  bulk.pace.chunkCommitted(batch.length, began, performance.now())
}

/** Alternates between accounts. Never splits a unit. */
function take(queue: Queue, rows_max: number): Unit[] {
  const kind = kindOf(queue.units[0]!)
  const batch: Unit[] = []
  const left: Unit[] = []
  let [rows, characters] = [0, 0]
  let full = false
  for (const unit of queue.loads.size < 2 ? queue.units : roundRobin(queue.units, accountOf)) {
    full ||=
      batch.length > 0 &&
      kindOf(unit) === kind &&
      (rows + unit.items.length > rows_max || characters + unit.characters > batchCharactersMax)
    if (full || kindOf(unit) !== kind) left.push(unit)
    else {
      batch.push(unit)
      rows += unit.items.length
      characters += unit.characters
    }
  }
  queue.units = left
  dequeued(queue, batch)
  return batch
}

function admit(bulk: Bulk): void {
  while (bulk.unadmitted.length > 0 && bulk.rows < bulkRowsMax) {
    const entry = bulk.unadmitted.shift()!
    const { items } = entry.pending.submission
    const until = Math.min(items.length, entry.admitted + Math.min(bulkTurnRows, bulkRowsMax - bulk.rows))
    for (let at = entry.admitted; at < until; at++) enqueue(bulk, unitOf(entry.pending, [items[at]!], at))
    entry.admitted = until
    if (until < items.length) bulk.unadmitted.push(entry)
  }
}

function dropRejected(bulk: Bulk): void {
  dequeued(
    bulk,
    bulk.units.filter(({ pending }) => pending.rejected),
  )
  bulk.units = bulk.units.filter(({ pending }) => !pending.rejected)
  bulk.unadmitted = bulk.unadmitted.filter(({ pending }) => !pending.rejected)
  admit(bulk)
}

const unadmittedRows = ({ unadmitted }: Bulk): number =>
  unadmitted.reduce((sum, { pending, admitted }) => sum + pending.submission.items.length - admitted, 0)

function refuseWaiting(bulk: Bulk): void {
  const outcome = { kind: 'unavailable', reason: 'stopping' } as const
  for (const { pending, admitted } of bulk.unadmitted.splice(0))
    answerAll(unitOf(pending, pending.submission.items.slice(admitted), admitted), outcome)
  dequeued(bulk, bulk.units)
  for (const unit of bulk.units.splice(0)) answerAll(unit, outcome)
}
