/** Commits a batch: most rows in one optimistic statement, the rest under locks. */
import { acceptOptimistically, acceptUnderLocks, type CommitDeps } from './acceptance.ts'
import { endFailed, recovering } from './recovery.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { MessageRow } from '../message.ts'
import { type Moment, momentAt, type RowMaker, rowOf } from './row.ts'
import { answer, isDecided, type ItemOutcome, type Unit } from './submission.ts'

export async function commit(deps: CommitDeps, units: readonly Unit[]): Promise<void> {
  const { platform, memoryQueue, billing } = deps
  const moment = momentAt(platform.clock.now(), memoryQueue.lease_ms, platform.retention_clock.now())
  try {
    const maker = { ids: platform.ids, entryId: billing.entryId, memoryQueue, tracing: platform.tracing }
    let n = 0
    for (const unit of units) n = makeRows(maker, unit, n, moment)
    platform.metrics.group_commit_rows.observe(n)
    const quick = units.filter((unit) => !needsLocks(unit))
    if (quick.length > 0) await recovering(deps, quick, moment, acceptOptimistically)
    finish(deps, quick, moment)
    const rest = units.filter((unit) => !unit.answered)
    if (rest.length > 0) await recovering(deps, rest, moment, acceptUnderLocks)
    finish(deps, rest, moment)
  } catch (error) {
    fail(deps, units, moment, error)
  }
  const undecided = units.filter((unit) => !unit.answered)
  if (undecided.length > 0) fail(deps, undecided, moment, new Error('a submission was left undecided'))
}

function makeRows(maker: RowMaker, unit: Unit, first: number, moment: Moment): number {
  const { origin, producer, trace } = unit.pending.submission
  for (const { message, submission_key } of unit.items) {
    const row = rowOf(
      maker,
      { message, origin, submission_key, producer_values: producer?.values },
      first + unit.rows.length,
      moment,
    )
    if (trace !== undefined) maker.tracing.remember(row.id, trace)
    unit.rows.push(row)
  }
  return first + unit.rows.length
}

const needsLocks = ({ pending }: Unit): boolean => pending.submission.producer?.valueFrom !== undefined

function finish(deps: CommitDeps, units: readonly Unit[], moment: Moment): void {
  const decided = units.filter((unit) => !unit.answered && isDecided(unit))
  for (const unit of decided) answer(unit, unit.outcomes as ItemOutcome[])
  passOn(deps, decided, moment)
}

/** Committed messages are announced all the same. */
function fail(deps: CommitDeps, units: readonly Unit[], moment: Moment, error: unknown): void {
  finish(deps, units, moment)
  const failed = units.filter((unit) => !unit.answered)
  endFailed(failed, error)
  if (failed.some(({ mayBeStored }) => mayBeStored))
    deps.platform.log.error(
      { err: error },
      'a submission failed after some of its messages were stored or may have been stored',
    )
  passOn(deps, failed, moment)
}

/** Never throws: messages not announced are found in the tables. */
function passOn(deps: CommitDeps, units: readonly Unit[], moment: Moment): void {
  try {
    announce(deps, units, moment)
  } catch (error) {
    deps.platform.log.error(
      { err: error },
      'accepted messages could not be queued in memory; they are claimed from the table',
    )
  }
}

function announce(
  { platform, memoryQueue, projections, onAccepted }: CommitDeps,
  units: readonly Unit[],
  moment: Moment,
): void {
  const accepted: MessageRow[] = []
  const inMemory: MessageRow[] = []
  for (const unit of units) {
    for (const [index, outcome] of unit.outcomes.entries()) {
      if (outcome?.kind !== 'accepted') continue
      accepted.push(outcome.row)
      if (unit.rows[index]!.process_id === memoryQueue.process_id) inMemory.push(outcome.row)
    }
  }
  if (accepted.length === 0) return
  countAccepted(platform, accepted)
  if (inMemory.length > 0) memoryQueue.offer(inMemory, moment.lease_until_ms)
  if (accepted.length > inMemory.length) platform.notify('dispatch')
  projections.wake(accepted)
  onAccepted(accepted)
}

function countAccepted({ metrics }: Platform, accepted: readonly MessageRow[]): void {
  const counts = new Map<string, { channel_type: string; mode: string; count: number }>()
  for (const { channel_type, mode } of accepted) {
    const key = `${mode} ${channel_type}`
    const known = counts.get(key)
    if (known === undefined) counts.set(key, { channel_type, mode, count: 1 })
    else known.count += 1
  }
  for (const { channel_type, mode, count } of counts.values())
    metrics.messages_accepted.inc({ channel_type, mode }, count)
}
