/** How attempts ended, on its way into the database: settled in sets, one statement at a time; and what was handed on in memory, brought to the queue. */
import type { Platform } from '../../../platform/platform.ts'
import type { AttemptResult } from '../deliveries/store.ts'
import { circuitAt, type EndpointSession, type DeliveryJob } from './endpoint-session.ts'
import { recordAttempts, type Count } from './store.ts'
import { queueHandoffs, recordHandedOff } from '../fan-out/handoff-store.ts'
import type { OpenHandoffs } from './open-handoffs.ts'

export interface Done {
  readonly session: EndpointSession
  readonly job: DeliveryJob
  readonly failed: boolean
  readonly result: AttemptResult
}

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
  add(done: Done): void
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
  let done: Done[] = []
  const leaving = new Set<number>()
  let writing: Promise<void> | undefined
  let waiting = false
  let givenUp = false

  async function write(): Promise<void> {
    while (done.length > 0 || leaving.size > 0) {
      const batch = done.splice(0, recordedAtOnce)
      // a batch that leaves takes nothing along that is settled before
      for (const part of [batch.filter(({ job }) => job.group !== undefined), batch.filter(({ job }) => job.group === undefined)]) {
        if (part.length > 0)
          await attempt(
            `settling ${part.length} webhook deliveries`,
            () => recordPart(part),
            () => (done = [...part, ...done]),
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

  async function recordPart(part: readonly Done[]): Promise<void> {
    const changed = part[0]!.job.group === undefined ? await recordQueuedPart(part) : await recordHandedOffPart(part)
    for (const { session, job } of part) release(session, job)
    for (const { endpoint_id, failures } of changed) await failing(endpoint_id, failures)
  }

  const recordQueuedPart = (part: readonly Done[]) =>
    recordAttempts(
      pool,
      part.map(({ result }) => result),
      countsOf(part),
      circuitAt,
    )

  async function recordHandedOffPart(part: readonly Done[]) {
    const jobs = part.map(({ job }) => job)
    const rows = part.map(({ job, result }) => ({ group: job.group!, event_id: job.event_id, result }))
    const changed = await recordHandedOff(pool, process_id, rows, handoffs.endedBy(jobs), countsOf(part), circuitAt)
    handoffs.settled(jobs)
    return changed
  }

  async function queue(ids: readonly number[]): Promise<void> {
    await queueHandoffs(
      pool,
      ids.map((id) => ({ process_id, id })),
    )
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

/** Failures in a row of each endpoint, in the order in which its attempts ended. */
function countsOf(batch: readonly Done[]): Count[] {
  const counts = new Map<string, { endpoint_id: string; reset: boolean; closed: number; open: number }>()
  for (const { session, job, failed } of batch) {
    let count = counts.get(session.endpoint_id)
    if (count === undefined) counts.set(session.endpoint_id, (count = { endpoint_id: session.endpoint_id, reset: false, closed: 0, open: 0 }))
    if (!failed) Object.assign(count, { reset: true, closed: 0, open: 0 })
    else if (job.circuit) count.open += 1
    else count.closed += 1
  }
  return [...counts.values()]
}
