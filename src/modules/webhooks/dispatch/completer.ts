/** Outcomes on their way into the database: recorded in sets, one statement at a time; and handoff batches that go back to the queue. */
import { transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { queueHandoffs } from '../fan-out/handoff-store.ts'
import type { EndpointSession } from './endpoint-session.ts'
import type { OpenHandoffs } from './open-handoffs.ts'
import { asWorker } from './queue-store.ts'
import { recordHandedOff, recordingSets, recordQueued, type AttemptOutcome, type RecordingSet } from './recorder.ts'
import type { EndpointSessions } from './endpoint-sessions.ts'

export interface CompleterDeps {
  readonly platform: Platform
  readonly handoffs: OpenHandoffs
  readonly sessions: Pick<EndpointSessions, 'release'>
  /** What the database says of an endpoint's failures in a row. Never rejects. */
  readonly failing: (endpoint_id: string, failures: number) => Promise<void>
  /** Nothing is left to write. */
  readonly quiet: () => void
}

const recordedAtOnce = 500
const recordedTogether = 300
/** How long an outcome waits for others while attempts are under way. */
const patienceMs = 50
const againMs = 250

export class Completer {
  readonly #deps: CompleterDeps
  #outcomes: AttemptOutcome[] = []
  /** Batches that go to the queue. */
  readonly #leaving = new Set<number>()
  #writing: Promise<void> | undefined
  #waiting = false
  #givenUp = false

  constructor(deps: CompleterDeps) {
    this.#deps = deps
  }

  add(outcome: AttemptOutcome): void {
    this.#outcomes.push(outcome)
    // what ends within a moment is recorded together; what hangs is not waited for
    if (this.#outcomes.length >= recordedTogether) this.soon()
    else if (outcome.job.group !== undefined) this.#later()
  }

  /** Writes what there is, together with what else comes up in this moment. */
  soon(): void {
    this.#writing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.#write())
  }

  /** What is left of these batches goes to the queue. */
  toQueue(batches: readonly number[]): void {
    for (const id of batches) this.#leaving.add(id)
    if (this.#leaving.size > 0) this.soon()
  }

  /** Something is not written yet. */
  get busy(): boolean {
    return this.#outcomes.length > 0 || this.#leaving.size > 0 || this.#writing !== undefined
  }

  /** Whether outcomes of this endpoint are not recorded yet. */
  isPending(session: EndpointSession): boolean {
    return this.#outcomes.some((outcome) => outcome.session === session)
  }

  /** From now on nothing is tried twice: what is not written down is done again by whoever comes next. */
  giveUp(): void {
    this.#givenUp = true
  }

  #later(): void {
    if (this.#waiting) return
    this.#waiting = true
    void this.#deps.platform.clock.sleep(patienceMs).then(() => {
      this.#waiting = false
      if (this.#outcomes.length > 0) this.soon()
    })
  }

  async #write(): Promise<void> {
    while (this.#outcomes.length > 0 || this.#leaving.size > 0) {
      // a batch that leaves takes nothing along that is recorded before
      const taken = this.#outcomes.splice(0, recordedAtOnce)
      for (const set of recordingSets(taken)) await this.#recordOrRestore(set, taken)
      await this.#queueOrRestore()
    }
    this.#writing = undefined
    this.#deps.quiet()
  }

  /** What could not be recorded goes back in the order in which it came: which failures count depends on it. */
  async #recordOrRestore(set: RecordingSet, taken: readonly AttemptOutcome[]): Promise<void> {
    const done = await this.#attempt(`recording ${set.outcomes.length} webhook deliveries`, () => this.#record(set))
    if (done || this.#givenUp) return
    const before = new Set(taken)
    const left = new Set([...set.outcomes, ...this.#outcomes])
    this.#outcomes = [
      ...taken.filter((outcome) => left.has(outcome)),
      ...this.#outcomes.filter((outcome) => !before.has(outcome)),
    ]
  }

  async #queueOrRestore(): Promise<void> {
    const left = [...this.#leaving]
    this.#leaving.clear()
    if (left.length === 0) return
    const done = await this.#attempt(`queueing ${left.length} batches of webhook deliveries`, () => this.#queue(left))
    if (done || this.#givenUp) return
    for (const id of left) this.#leaving.add(id)
  }

  async #attempt(what: string, work: () => Promise<void>): Promise<boolean> {
    const { log, clock, storage } = this.#deps.platform
    try {
      await work()
      return true
    } catch (error) {
      storage.failed(error)
      log.warn({ err: error }, `${what} failed; it is done again`)
      await clock.sleep(againMs)
      return false
    }
  }

  async #record(set: RecordingSet): Promise<void> {
    const { platform, handoffs, sessions, failing } = this.#deps
    const { pool, process_id } = platform
    const jobs = set.outcomes.map(({ job }) => job)
    const handedOff = jobs[0]!.group !== undefined
    const changed = handedOff
      ? await recordHandedOff(pool, process_id, set, handoffs.endedBy(jobs))
      : await recordQueued(pool, set)
    if (handedOff) handoffs.recorded(jobs)
    for (const { session, job } of set.outcomes) sessions.release(session, job)
    for (const { endpoint_id, failures } of changed) await failing(endpoint_id, failures)
  }

  async #queue(ids: readonly number[]): Promise<void> {
    const { platform, handoffs } = this.#deps
    const keys = ids.map((id) => ({ process_id: platform.process_id, id }))
    await transact(platform.pool, async (tx) => {
      await asWorker(tx)
      await queueHandoffs(tx, keys)
    })
    handoffs.queued(ids)
  }
}
