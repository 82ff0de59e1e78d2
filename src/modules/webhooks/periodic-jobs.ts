/** Periodic jobs of webhooks. */
import { idFloor } from '../../lib/ids.ts'
import { maintainPartitions } from '../../platform/database/partitions.ts'
import type { PeriodicJob, Platform } from '../../platform/platform.ts'
import { resealAll } from '../../platform/secrets/resealing.ts'
import { expireDeliveries } from './delivery-repository.ts'
import { queueDepths } from './dispatch/repository.ts'
import { listSealed, reseal } from './endpoint-repository.ts'

const expiredPerStep = 5_000

export const webhookPeriodicJobs = (platform: Platform): PeriodicJob[] => [
  {
    name: 'maintain-delivery-partitions',
    every_ms: 3600_000,
    run: () =>
      maintainPartitions(
        platform.pool,
        { table: 'webhook_deliveries', prefix: 'whd' },
        platform.clock.now(),
        platform.retention_clock.now() - platform.settings.delivery_retention_ms,
      ),
  },
  { name: 'delete-old-deliveries', every_ms: 3600_000, run: () => deleteOldDeliveries(platform) },
  { name: 'measure-webhook-queues', every_ms: 5_000, run: () => measure(platform) },
  {
    name: 'reencrypt-webhook-secrets',
    every_ms: 3600_000,
    run: () => resealAll(platform, { what: 'webhook endpoint', list: listSealed, reseal }),
  },
]

/** Deliveries outside of weekly partitions, and the index of failures. */
async function deleteOldDeliveries(platform: Platform): Promise<number> {
  const floor = idFloor(
    'whd',
    platform.retention_clock.now() - platform.settings.delivery_retention_ms - 7 * 24 * 3600_000,
  )
  let sum = 0
  for (;;) {
    const gone = await expireDeliveries(platform.pool, floor, expiredPerStep)
    sum += gone
    if (gone < expiredPerStep) return sum
  }
}

async function measure(platform: Platform): Promise<number> {
  const depths = await queueDepths(platform.pool)
  platform.metrics.queue_depth.set({ queue: 'webhook_due' }, depths.due)
  platform.metrics.queue_depth.set({ queue: 'webhook_retries' }, depths.waiting)
  return 0
}
