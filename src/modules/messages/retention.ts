/** How messages end: whole months are dropped once nobody wants them kept, and what is derived from them goes first (docs/decisions/retention.md). */
import { ageOf, isoTime, longAgo, mark, type Mark } from '../../lib/clock.ts'
import { idFloor } from '../../lib/ids.ts'
import { untilDone } from '../../platform/jobs/periodic-jobs.ts'
import { keepPartitions, type PartitionedTable, startOf } from '../../platform/database/partitions.ts'
import type { PeriodicJob, Platform } from '../../platform/platform.ts'
import { forgetCounts, forgetQuarters, keepFrom, waitsBefore } from './repository.ts'

/** A message is updated three times within a second or so: with half a page free one update in ten left its page under load, with this one in a hundred. */
const messagesFillfactor = 30
const messages: PartitionedTable = { table: 'messages', prefix: 'msg', every: 'month', fillfactor: messagesFillfactor }
const attempts: PartitionedTable = { table: 'message_attempts', column: 'message_id', prefix: 'msg', every: 'month' }
const forgottenAtOnce = 5000
const hourMs = 3600_000

interface State {
  /** When partitions were made, and months dropped, for the last time. */
  made: Mark
  /** The id before which nothing that is derived from messages is left. */
  forgotten: string
}

/** Makes partitions ahead, and drops months that are past retention: as soon as one is, minute by minute. */
export function messagePartitions(platform: Platform): PeriodicJob {
  const state: State = { made: longAgo, forgotten: '' }
  return {
    name: 'message partitions',
    every_ms: 60_000,
    async run() {
      const { clock, settings, retention_clock } = platform
      const before_ms =
        settings.message_retention_ms === null
          ? null
          : startOf(messages, retention_clock.now() - settings.message_retention_ms)
      const isForgotten = before_ms !== null && (await forgetBefore(platform, before_ms, state))
      if (ageOf(clock, state.made) < hourMs) return 0
      state.made = mark(clock)
      let changed = 0
      for (const table of [messages, attempts])
        changed += await keepPartitions(platform.pool, table, clock.now(), isForgotten ? before_ms : null)
      return changed
    },
  }
}

/** What is derived from messages before a time: false while some is left. */
async function forgetBefore({ pool, clock, log }: Platform, before_ms: number, state: State): Promise<boolean> {
  const from = idFloor('msg', before_ms)
  if (state.forgotten === from) return true
  if (await waitsBefore(pool, from)) {
    log.warn(
      { before: isoTime(before_ms) },
      'messages are past retention and wait to be sent: they, and those before, are kept until they are',
    )
    return false
  }
  await keepFrom(pool, from)
  const steps = [
    () => forgetCounts(pool, from.slice(4, 12), forgottenAtOnce),
    () => forgetQuarters(pool, isoTime(before_ms), forgottenAtOnce),
  ]
  for (const step of steps) {
    await untilDone(clock, forgottenAtOnce, step)
    // it may have run out of time
    if ((await step()) > 0) return false
  }
  Object.assign(state, { forgotten: from, made: longAgo } satisfies State)
  return true
}
