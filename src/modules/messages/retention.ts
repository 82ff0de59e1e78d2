/** Drops whole months of messages after their retention, and derived data before (docs/decisions/retention.md). */
import { ageOf, isoTime, longAgo, mark, type Mark } from '../../lib/clock.ts'
import { idFloor } from '../../lib/ids.ts'
import { untilDone } from '../../platform/jobs/periodic-jobs.ts'
import { maintainPartitions, type PartitionedTable, startOf } from '../../platform/database/partitions.ts'
import type { PeriodicJob, Platform } from '../../platform/platform.ts'
import { deleteCounts, deleteEmptyQuarters, setDeletedBefore, hasJobBefore } from './repository.ts'

/** With 30 % one update in a hundred leaves its page under load, with half a page one in ten. */
const messagesFillfactor = 30
const messages: PartitionedTable = { table: 'messages', prefix: 'msg', every: 'month', fillfactor: messagesFillfactor }
const attempts: PartitionedTable = { table: 'message_attempts', column: 'message_id', prefix: 'msg', every: 'month' }
const rowsAtOnce = 5000
const hourMs = 3600_000

interface State {
  made: Mark
  /** Derived data of messages before this id is deleted. */
  cleanedBefore: string
}

export function messagePartitions(platform: Platform): PeriodicJob {
  const state: State = { made: longAgo, cleanedBefore: '' }
  return {
    name: 'maintain-message-partitions',
    every_ms: 60_000,
    async run() {
      const { clock, settings, retention_clock } = platform
      const before_ms =
        settings.message_retention_ms === null
          ? null
          : startOf(messages, retention_clock.now() - settings.message_retention_ms)
      const cleaned = before_ms !== null && (await deleteDerivedBefore(platform, before_ms, state))
      if (ageOf(clock, state.made) < hourMs) return 0
      state.made = mark(clock)
      let changed = 0
      for (const table of [messages, attempts])
        changed += await maintainPartitions(platform.pool, table, clock.now(), cleaned ? before_ms : null)
      return changed
    },
  }
}

/** False while some data is left. */
async function deleteDerivedBefore({ pool, clock, log }: Platform, before_ms: number, state: State): Promise<boolean> {
  const from = idFloor('msg', before_ms)
  if (state.cleanedBefore === from) return true
  if (await hasJobBefore(pool, from)) {
    log.warn(
      { before: isoTime(before_ms) },
      'messages past their retention still wait to be sent; they and older ones are deleted afterwards',
    )
    return false
  }
  await setDeletedBefore(pool, from)
  const steps = [
    () => deleteCounts(pool, from.slice(4, 12), rowsAtOnce),
    () => deleteEmptyQuarters(pool, isoTime(before_ms), rowsAtOnce),
  ]
  for (const step of steps) {
    await untilDone(clock, rowsAtOnce, step)
    // it may have run out of time
    if ((await step()) > 0) return false
  }
  Object.assign(state, { cleanedBefore: from, made: longAgo } satisfies State)
  return true
}
