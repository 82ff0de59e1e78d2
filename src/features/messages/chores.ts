/** The chores of messages: gauges for operators, and forgetting what no provider will ever refer to again. */
import { isoTime } from '../../lib/clock.ts'
import { untilDone } from '../../platform/chores.ts'
import { keepPartitions } from '../../platform/database/partitions.ts'
import type { Chore, Platform } from '../../platform/platform.ts'
import { measureDepths } from './dispatch/store.ts'
import { foldStatusCounts } from './queries/list-store.ts'
import { forgetProviderRecords } from './reports/store.ts'

/** Providers repeat receipts for days; a month later nobody refers to a message any more. */
const providerRecordsMs = 30 * 24 * 3600_000
const forgottenAtOnce = 5000
const foldedAtOnce = 10_000
/** A message is updated three times within a second or so: with half a page free one update in ten left its page under load, with this one in a hundred. */
const messagesFillfactor = 30

export const messageChores = ({ pool, clock, ageing, metrics }: Platform): Chore[] => [
  {
    name: 'measure-queues',
    every_ms: 5000,
    async run() {
      const { dispatch, scheduled, reports } = await measureDepths(pool, isoTime(clock.now()))
      metrics.queue_depth.set({ queue: 'dispatch' }, dispatch)
      metrics.queue_depth.set({ queue: 'scheduled' }, scheduled)
      metrics.queue_depth.set({ queue: 'reports' }, reports)
      return 0
    },
  },
  {
    name: 'forget-provider-records',
    every_ms: 60_000,
    run: () => untilDone(clock, forgottenAtOnce, () => forgetProviderRecords(pool, isoTime(ageing.now() - providerRecordsMs), forgottenAtOnce)),
  },
  {
    name: 'fold-status-counts',
    every_ms: 5000,
    run: () => untilDone(clock, foldedAtOnce, () => foldStatusCounts(pool, foldedAtOnce)),
  },
  {
    name: 'message partitions',
    every_ms: 3600_000,
    async run() {
      const kept = { prefix: 'msg', every: 'month', retention_ms: null } as const
      const made = await keepPartitions(pool, { ...kept, table: 'messages', fillfactor: messagesFillfactor }, clock.now(), ageing.now())
      return made + (await keepPartitions(pool, { ...kept, table: 'message_attempts', column: 'message_id' }, clock.now(), ageing.now()))
    },
  },
]
