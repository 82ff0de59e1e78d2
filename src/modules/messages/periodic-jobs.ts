/** Periodic jobs of messages. */
import { isoTime } from '../../lib/clock.ts'
import { untilDone } from '../../platform/jobs/periodic-jobs.ts'
import type { PeriodicJob, Platform } from '../../platform/platform.ts'
import type { ChannelService } from '../channels/service.ts'
import { failAcceptedAfterDeletion } from './dispatch/blocked-channels.ts'
import { measureDepths } from './dispatch/repository.ts'
import { aggregateStatusCounts } from './list-repository.ts'
import { deleteProviderRecords } from './callbacks/repository.ts'
import { messagePartitions } from './retention.ts'

/** Providers repeat receipts for days. */
const providerRecordsMs = 30 * 24 * 3600_000
const rowsAtOnce = 5000
const deltasAtOnce = 10_000

export const messagePeriodicJobs = (
  platform: Platform,
  channels: Pick<ChannelService, 'deletedSince'>,
): PeriodicJob[] => [
  {
    name: 'measure-queues',
    every_ms: 5000,
    async run() {
      const { dispatch, scheduled, callback_items } = await measureDepths(platform.pool, isoTime(platform.clock.now()))
      platform.metrics.queue_depth.set({ queue: 'dispatch' }, dispatch)
      platform.metrics.queue_depth.set({ queue: 'scheduled' }, scheduled)
      platform.metrics.queue_depth.set({ queue: 'callbacks' }, callback_items)
      return 0
    },
  },
  { name: 'fail-accepted-late', every_ms: 60_000, run: () => failAcceptedAfterDeletion(platform, channels) },
  {
    name: 'delete-provider-records',
    every_ms: 60_000,
    run: () =>
      untilDone(platform.clock, rowsAtOnce, () =>
        deleteProviderRecords(platform.pool, isoTime(platform.retention_clock.now() - providerRecordsMs), rowsAtOnce),
      ),
  },
  {
    name: 'aggregate-status-counts',
    every_ms: 5000,
    run: () => untilDone(platform.clock, deltasAtOnce, () => aggregateStatusCounts(platform.pool, deltasAtOnce)),
  },
  messagePartitions(platform),
]
