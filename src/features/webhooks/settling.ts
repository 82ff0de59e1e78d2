/** How attempts ended, on its way into the database: settled in sets, one statement at a time; and what was handed on in memory, brought to the queue. */
import type { Platform } from '../../platform/platform.ts'
import type { Settlement } from './delivery-store.ts'
import { circuitAt, type Hand, type Job } from './hand.ts'
import { settle, type Count } from './lane-store.ts'
import { queueSpans, settleHanded } from './span-store.ts'
import type { Spans } from './spans.ts'

export interface Done {
  readonly hand: Hand
  readonly job: Job
  readonly failed: boolean
  readonly settlement: Settlement
}

export interface SettlingDeps {
  readonly platform: Platform
  readonly spans: Spans
  /** These are settled. */
  readonly release: (hand: Hand, job: Job) => void
  /** What the database says of an endpoint's failures in a row. Never rejects. */
  readonly failing: (endpoint_id: string, failures: number) => Promise<void>
  /** Nothing is left to write. */
  readonly quiet: () => void
}

export interface Settling {
  add(done: Done): void
  /** Writes what there is, together with what else comes up in this moment. */
  soon(): void
  /** What is left of these spans goes to the queue. */
  toQueue(spans: readonly number[]): void
  /** Something is not written yet. */
  busy(): boolean
  /** Outcomes that are not settled. */
  pending(hand: Hand): boolean
  /** From now on nothing is tried twice: what is not written down is done again by whoever comes next. */
  giveUp(): void
}

const settledAtOnce = 500
const settledTogether = 300
/** How long an outcome waits for others while attempts are under way. */
const patienceMs = 50
const againMs = 250

export function settling({ platform, spans, release, failing, quiet }: SettlingDeps): Settling {
  const { pool, process_id, clock, log } = platform
  let done: Done[] = []
  const leaving = new Set<number>()
  let writing: Promise<void> | undefined
  let waiting = false
  let givenUp = false

  async function write(): Promise<void> {
    while (done.length > 0 || leaving.size > 0) {
      const batch = done.splice(0, settledAtOnce)
      // a span that leaves takes nothing along that is settled before
      for (const part of [batch.filter(({ job }) => job.run !== undefined), batch.filter(({ job }) => job.run === undefined)]) {
        if (part.length > 0)
          await attempt(
            `settling ${part.length} webhook deliveries`,
            () => settlePart(part),
            () => (done = [...part, ...done]),
          )
      }
      const left = [...leaving]
      leaving.clear()
      if (left.length > 0)
        await attempt(
          `queueing ${left.length} spans of webhook deliveries`,
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

  async function settlePart(part: readonly Done[]): Promise<void> {
    const changed = part[0]!.job.run === undefined ? await settleQueued(part) : await settleTaken(part)
    for (const { hand, job } of part) release(hand, job)
    for (const { endpoint_id, failures } of changed) await failing(endpoint_id, failures)
  }

  const settleQueued = (part: readonly Done[]) =>
    settle(
      pool,
      part.map(({ settlement }) => settlement),
      countsOf(part),
      circuitAt,
    )

  async function settleTaken(part: readonly Done[]) {
    const jobs = part.map(({ job }) => job)
    const rows = part.map(({ job, settlement }) => ({ run: job.run!, event_id: job.event_id, settlement }))
    const changed = await settleHanded(pool, process_id, rows, spans.endedBy(jobs), countsOf(part), circuitAt)
    spans.settled(jobs)
    return changed
  }

  async function queue(ids: readonly number[]): Promise<void> {
    await queueSpans(
      pool,
      ids.map((id) => ({ process_id, id })),
    )
    spans.queued(ids)
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
      if (done.length >= settledTogether) soon()
      else if (one.job.run !== undefined) later()
    },
    toQueue(ids) {
      for (const id of ids) leaving.add(id)
      if (leaving.size > 0) soon()
    },
    busy: () => done.length > 0 || leaving.size > 0 || writing !== undefined,
    pending: (hand) => done.some((one) => one.hand === hand),
    giveUp: () => void (givenUp = true),
  }
}

/** Failures in a row of each endpoint, in the order in which its attempts ended. */
function countsOf(batch: readonly Done[]): Count[] {
  const counts = new Map<string, { endpoint_id: string; reset: boolean; closed: number; open: number }>()
  for (const { hand, job, failed } of batch) {
    let count = counts.get(hand.endpoint_id)
    if (count === undefined) counts.set(hand.endpoint_id, (count = { endpoint_id: hand.endpoint_id, reset: false, closed: 0, open: 0 }))
    if (!failed) Object.assign(count, { reset: true, closed: 0, open: 0 })
    else if (job.circuit) count.open += 1
    else count.closed += 1
  }
  return [...counts.values()]
}
