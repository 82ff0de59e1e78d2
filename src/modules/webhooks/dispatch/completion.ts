/** The completer records outcomes in batches and counts consecutive failures. */
import * as store from './repository.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { EndpointSession, EndpointSessions, DeliveryJob } from './endpoint-sessions.ts'
import { transact, sqlState, type Db, type Pool } from '../../../platform/database/sql.ts'
import type { AttemptResult } from '../attempt.ts'
import { failuresAfter, tallyFailures, type FailureTally } from './circuit-breaker.ts'
import { clearFailures, lockFailures, writeFailures, type FailureCount, asWorker } from './repository.ts'

export interface CompleterDeps {
  readonly platform: Platform
  readonly sessions: Pick<EndpointSessions, 'release'>
  /** Never rejects. */
  readonly onFailures: (endpoint_id: string, failures: number) => Promise<void>
  readonly onIdle: () => void
}

const recordedAtOnce = 500
const recordedTogether = 300
const batchWaitMs = 50
const againMs = 250

export class Completer {
  readonly #deps: CompleterDeps
  #outcomes: AttemptOutcome[] = []
  #writing: Promise<void> | undefined
  #waiting = false
  #abandoned = false

  constructor(deps: CompleterDeps) {
    this.#deps = deps
  }

  add(outcome: AttemptOutcome): void {
    this.#outcomes.push(outcome)
    if (this.#outcomes.length >= recordedTogether) this.flush()
    else this.#flushLater()
  }

  flush(): void {
    this.#writing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.#write())
  }

  get busy(): boolean {
    return this.#outcomes.length > 0 || this.#writing !== undefined
  }

  isPending(session: EndpointSession): boolean {
    return this.#outcomes.some((outcome) => outcome.session === session)
  }

  /** Another process repeats attempts that were not recorded. */
  abandon(): void {
    this.#abandoned = true
  }

  #flushLater(): void {
    if (this.#waiting) return
    this.#waiting = true
    void this.#deps.platform.clock.sleep(batchWaitMs).then(() => {
      this.#waiting = false
      if (this.#outcomes.length > 0) this.flush()
    })
  }

  async #write(): Promise<void> {
    while (this.#outcomes.length > 0) {
      const taken = this.#outcomes.splice(0, recordedAtOnce)
      for (const set of recordingSets(taken)) await this.#recordOrRestore(set, taken)
    }
    this.#writing = undefined
    this.#deps.onIdle()
  }

  /** Unrecorded outcomes go back in their order, which decides which failures count. */
  async #recordOrRestore(set: RecordingSet, taken: readonly AttemptOutcome[]): Promise<void> {
    const done = await this.#attempt(`recording ${set.outcomes.length} webhook deliveries`, () => this.#record(set))
    if (done || this.#abandoned) return
    const before = new Set(taken)
    const left = new Set([...set.outcomes, ...this.#outcomes])
    this.#outcomes = [
      ...taken.filter((outcome) => left.has(outcome)),
      ...this.#outcomes.filter((outcome) => !before.has(outcome)),
    ]
  }

  async #attempt(what: string, work: () => Promise<void>): Promise<boolean> {
    const { log, clock, storage } = this.#deps.platform
    try {
      await work()
      return true
    } catch (error) {
      storage.failed(error)
      log.warn({ err: error }, `${what} failed; it is retried`)
      await clock.sleep(againMs)
      return false
    }
  }

  async #record(set: RecordingSet): Promise<void> {
    const { platform, sessions, onFailures } = this.#deps
    const changed = await recordOutcomes(platform.pool, set)
    for (const { session, job } of set.outcomes) sessions.release(session, job)
    for (const { endpoint_id, failures } of changed) await onFailures(endpoint_id, failures)
  }
}

export interface AttemptOutcome {
  readonly session: EndpointSession
  readonly job: DeliveryJob
  readonly failed: boolean
  readonly result: AttemptResult
  /** A later attempt succeeded, so this failure does not count, even if it is put back without that success. */
  overtaken?: true
}

export interface RecordingSet {
  readonly outcomes: readonly AttemptOutcome[]
  /** Of failures without a later success. */
  readonly tallies: ReadonlyMap<string, FailureTally>
}

/** Successes first, so that later failures are counted from 0. */
export function recordingSets(outcomes: readonly AttemptOutcome[]): RecordingSet[] {
  markOvertaken(outcomes)
  const sets = [false, true].map((failed) => outcomes.filter((outcome) => outcome.failed === failed))
  return sets.filter((set) => set.length > 0).map((set) => ({ outcomes: set, tallies: talliesOf(set) }))
}

/** Before the split, which hides the successes in between. */
function markOvertaken(outcomes: readonly AttemptOutcome[]): void {
  const succeeded = new Set<string>()
  for (const outcome of outcomes.toReversed()) {
    if (!outcome.failed) succeeded.add(outcome.job.endpoint_id)
    else if (succeeded.has(outcome.job.endpoint_id)) outcome.overtaken = true
  }
}

const talliesOf = (set: readonly AttemptOutcome[]): Map<string, FailureTally> =>
  tallyFailures(
    set
      .filter(({ overtaken }) => overtaken !== true)
      .map(({ job, failed }) => ({ endpoint_id: job.endpoint_id, failed, breaker_open: job.breaker_open })),
  )

/** Skips deliveries that another process recorded. Resolves to the changed failure counts. */
export async function recordOutcomes(pool: Pool, set: RecordingSet): Promise<FailureCount[]> {
  // in the order in which dropPending locks rows
  const results = set.outcomes.map(({ result }) => result).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  if (!set.outcomes.some(({ failed }) => failed)) {
    try {
      await store.recordSuccesses(pool, results)
      return []
    } catch (error) {
      if (sqlState(error) !== '23505') throw error
    }
  }
  return await transact(pool, async (tx) => {
    await asWorker(tx)
    const taken = await store.deleteFromQueue(tx, results)
    const byKey = new Map(results.map((result) => [keyOf(result), result]))
    const written = await store.insertResults(
      tx,
      taken.map((row) => ({ ...row, ...byKey.get(keyOf(row))! })),
    )
    return await countFailures(tx, set, written)
  })
}

const keyOf = ({ endpoint_id, id }: store.DeliveryKey): string => `${endpoint_id} ${id}`

async function countFailures(
  sql: Db,
  { outcomes, tallies }: RecordingSet,
  written: readonly store.DeliveryKey[],
): Promise<FailureCount[]> {
  const keys = new Set(written.map(keyOf))
  const own = outcomes.filter(({ result }) => keys.has(keyOf(result)))
  const succeeded = own.filter(({ failed }) => !failed).map(({ job }) => job.endpoint_id)
  if (succeeded.length > 0) await clearFailures(sql, [...new Set(succeeded)])
  if (tallies.size === 0) return []
  const counted = talliesOf(own)
  const before = await lockFailures(sql, [...tallies.keys()])
  const after = before.map(({ endpoint_id, failures }) => ({
    endpoint_id,
    failures: failuresAfter(failures, counted.get(endpoint_id) ?? { closed: 0, open: 0 }),
  }))
  if (counted.size > 0) await writeFailures(sql, after)
  return after
}
