/** How attempts ended, on its way into the database: settled in sets, one statement at a time; and what was handed on in memory, brought to the queue. */
import { transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { DeliveryJob, EndpointSession } from './endpoint-session.ts'
import { queueHandoffs } from '../fan-out/handoff-store.ts'
import { asLane } from './queue-store.ts'
import { recordHandedOff, recordingSets, recordQueued, type Outcome, type RecordingSet } from './recorder.ts'
import type { OpenHandoffs } from './open-handoffs.ts'

export interface CompleterDeps {
  readonly platform: Platform
  readonly handoffs: OpenHandoffs
  /** These are settled. */
  readonly release: (session: EndpointSession, job: DeliveryJob) => void
  /** What the database says of an endpoint's failures in a row. Never rejects. */
  readonly failing: (endpoint_id: string, failures: number) => Promise<void>
  /** Nothing is left to write. */
  readonly quiet: () => void
}

export interface Completer {
  add(done: Outcome): void
  /** Writes what there is, together with what else comes up in this moment. */
  soon(): void
  /** What is left of these batches goes to the queue. */
  toQueue(batches: readonly number[]): void
  /** Something is not written yet. */
  busy(): boolean
  /** Outcomes that are not settled. */
  pending(session: EndpointSession): boolean
  /** From now on nothing is tried twice: what is not written down is done again by whoever comes next. */
  giveUp(): void
}

const recordedAtOnce = 500
const recordedTogether = 300
/** How long an outcome waits for others while attempts are under way. */
const patienceMs = 50
const againMs = 250

export function completer({ platform, handoffs, release, failing, quiet }: CompleterDeps): Completer {
  const { pool, process_id, clock, log } = platform
  let done: Outcome[] = []
  const leaving = new Set<number>()
  let writing: Promise<void> | undefined
  let waiting = false
  let givenUp = false

  async function write(): Promise<void> {
    while (done.length > 0 || leaving.size > 0) {
      const batch = done.splice(0, recordedAtOnce)
      // a batch that leaves takes nothing along that is recorded before
      for (const set of recordingSets(batch)) {
        await attempt(
          `recording ${set.outcomes.length} webhook deliveries`,
          () => record(set),
          () => (done = [...set.outcomes, ...done]),
        )
      }
      const left = [...leaving]
      leaving.clear()
      if (left.length > 0)
        await attempt(
          `queueing ${left.length} batches of webhook deliveries`,
          () => queue(left),
          () => left.forEach((id) => leaving.add(id)),
        )
    }
    writing = undefined
    quiet()
  }

  async function attempt(what: string, work: () => Promise<void>, restore: () => void): Promise<void> {
    try {
      await work()
    } catch (error) {
      log.warn({ err: error }, `${what} failed; it is done again`)
      if (givenUp) done = []
      else restore()
      await clock.sleep(againMs)
    }
  }

  async function record(set: RecordingSet): Promise<void> {
    const jobs = set.outcomes.map(({ job }) => job)
    const handedOff = jobs[0]!.group !== undefined
    const changed = handedOff ? await recordHandedOff(pool, process_id, set, handoffs.endedBy(jobs)) : await recordQueued(pool, set)
    if (handedOff) handoffs.settled(jobs)
    for (const { session, job } of set.outcomes) release(session, job)
    for (const { endpoint_id, failures } of changed) await failing(endpoint_id, failures)
  }

  async function queue(ids: readonly number[]): Promise<void> {
    const keys = ids.map((id) => ({ process_id, id }))
    await transact(pool, async (tx) => {
      await asLane(tx)
      await queueHandoffs(tx, keys)
    })
    handoffs.queued(ids)
  }

  const soon = () => {
    writing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(write)
  }
  const later = () => {
    if (waiting) return
    waiting = true
    void clock.sleep(patienceMs).then(() => {
      waiting = false
      if (done.length > 0) soon()
    })
  }
  return {
    soon,
    add(one) {
      done.push(one)
      // what ends within a moment is settled together; what hangs is not waited for
      if (done.length >= recordedTogether) soon()
      else if (one.job.group !== undefined) later()
    },
    toQueue(ids) {
      for (const id of ids) leaving.add(id)
      if (leaving.size > 0) soon()
    },
    busy: () => done.length > 0 || leaving.size > 0 || writing !== undefined,
    pending: (session) => done.some((one) => one.session === session),
    giveUp: () => void (givenUp = true),
  }
}
