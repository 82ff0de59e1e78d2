/** Records how attempts ended, in sets: of each set the successes in one statement, the rest in a transaction that counts failures in a row as well. */
import { transact, sqlState, type Db, type Pool } from '../../../platform/database/sql.ts'
import { countRecorded, lockHandoffs, removeRecorded } from '../fan-out/handoff-store.ts'
import type { AttemptResult } from './attempt.ts'
import { failuresAfter, tallyFailures, type FailureTally } from './circuit.ts'
import type { DeliveryJob, EndpointSession } from './endpoint-session.ts'
import { clearFailures, lockFailures, writeFailures, type FailureCount } from './leases-store.ts'
import { asWorker } from './queue-store.ts'
import * as store from './recording-store.ts'

/** An attempt that has ended and is not recorded. */
export interface AttemptOutcome {
  readonly session: EndpointSession
  readonly job: DeliveryJob
  readonly failed: boolean
  readonly result: AttemptResult
  /** A failure that a success of its endpoint came after: it does not count. Known once it is taken to be recorded, and kept when it is put back without that success. */
  overtaken?: true
}

/** Attempts that are recorded together. */
export interface RecordingSet {
  readonly outcomes: readonly AttemptOutcome[]
  /** Of those that no success of their endpoint came after. */
  readonly tallies: ReadonlyMap<string, FailureTally>
}

/** Parts outcomes, in the order in which they came, into sets: successes first, so that failures after them are counted anew; what was handed off apart from what was queued. */
export function recordingSets(outcomes: readonly AttemptOutcome[]): RecordingSet[] {
  markOvertaken(outcomes)
  const isHandedOff = ({ job }: AttemptOutcome) => job.group !== undefined
  const sets = [false, true].flatMap((failed) => {
    const own = outcomes.filter((outcome) => outcome.failed === failed)
    return [own.filter(isHandedOff), own.filter((outcome) => !isHandedOff(outcome))]
  })
  return sets.filter((set) => set.length > 0).map((set) => ({ outcomes: set, tallies: talliesOf(set) }))
}

/** Before they are parted: a set of failures no longer shows which successes came between. */
function markOvertaken(outcomes: readonly AttemptOutcome[]): void {
  const succeeded = new Set<string>()
  for (const outcome of outcomes.toReversed()) {
    if (!outcome.failed) succeeded.add(outcome.job.endpoint_id)
    else if (succeeded.has(outcome.job.endpoint_id)) outcome.overtaken = true
  }
}

/** Each failure counts in the set that it is recorded with. */
const talliesOf = (set: readonly AttemptOutcome[]): Map<string, FailureTally> =>
  tallyFailures(
    set
      .filter(({ overtaken }) => overtaken !== true)
      .map(({ job, failed }) => ({ endpoint_id: job.endpoint_id, failed, circuit: job.circuit })),
  )

/**
 * Records a set of deliveries that were handed off, and removes the batches that have ended with it, unless a crash has taken outcomes of theirs. What someone else
 * has brought to the queue or dropped meanwhile is passed over. Resolves to the failures in a row that changed.
 */
export async function recordHandedOff(
  pool: Pool,
  process_id: string,
  set: RecordingSet,
  ended_batches: readonly number[],
): Promise<FailureCount[]> {
  const done = set.outcomes.map(({ job, result }) => ({ group: job.group!, event_id: job.event_id, result }))
  const stepByStep = async () =>
    await transact(pool, async (tx) => {
      await asWorker(tx)
      const dropped = await lockHandoffs(tx, process_id, [...new Set(done.map(({ group }) => group.batch))])
      const ours = done.filter(({ group }) => dropped.get(group.batch)?.includes(group.endpoint_id) === false)
      const written = await store.insertResults(
        tx,
        ours.map(({ group: { batch: _batch, ...shared }, event_id, result }) => ({
          ...shared,
          event_id,
          scheduled: true,
          ...result,
        })),
      )
      const counts = countsByBatch(done, written)
      await countRecorded(
        tx,
        [...counts].map(([id, recorded]) => ({ process_id, id, recorded })),
      )
      await removeRecorded(tx, process_id, ended_batches)
      return await countFailures(tx, set, written)
    })
  return await quicklyIfAllSucceeded(
    set,
    () => store.recordHandedOffSuccesses(pool, process_id, done, ended_batches),
    stepByStep,
  )
}

/** Records a set of deliveries from the queue. What is no longer there was recorded by someone else and is passed over. Resolves to the failures in a row that changed. */
export async function recordQueued(pool: Pool, set: RecordingSet): Promise<FailureCount[]> {
  // rows are locked in the order in which they are named: in that of whoever drops them
  const results = set.outcomes.map(({ result }) => result).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const stepByStep = async () =>
    await transact(pool, async (tx) => {
      await asWorker(tx)
      const taken = await store.takeFromQueue(tx, results)
      const byKey = new Map(results.map((result) => [keyOf(result), result]))
      const written = await store.insertResults(
        tx,
        taken.map((row) => ({ ...row, ...byKey.get(keyOf(row))! })),
      )
      return await countFailures(tx, set, written)
    })
  return await quicklyIfAllSucceeded(set, () => store.recordQueuedSuccesses(pool, results), stepByStep)
}

/** Step by step too where one of them is on record already: only an operator's hand brings that about. */
async function quicklyIfAllSucceeded(
  set: RecordingSet,
  quickly: () => Promise<void>,
  stepByStep: () => Promise<FailureCount[]>,
): Promise<FailureCount[]> {
  if (set.outcomes.some(({ failed }) => failed)) return await stepByStep()
  try {
    await quickly()
    return []
  } catch (error) {
    if (sqlState(error) !== '23505') throw error
    return await stepByStep()
  }
}

/** How many of these were written, by their batches. */
function countsByBatch(
  done: readonly store.HandedOffResult[],
  written: readonly store.DeliveryKey[],
): Map<number, number> {
  const keys = new Set(written.map(keyOf))
  const counts = new Map<number, number>()
  for (const { group, result } of done)
    if (keys.has(keyOf(result))) counts.set(group.batch, (counts.get(group.batch) ?? 0) + 1)
  return counts
}

const keyOf = ({ endpoint_id, id }: store.DeliveryKey): string => `${endpoint_id} ${id}`

/** Counts only what was written now: an outcome that was passed over has been counted by whoever recorded it. Resolves to all failures in a row that the set may have changed. */
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
