/** What happens to webhooks by themselves: the deliver worker, and the periodic jobs that measure, reseal and in the end forget. */
import { idFloor } from '../../lib/ids.ts'
import { keepPartitions } from '../../platform/database/partitions.ts'
import type { PeriodicJob, Platform } from '../../platform/platform.ts'
import { resealAll } from '../../platform/secrets/resealing.ts'
import { Deliverer } from './dispatch/deliverer.ts'
import { expireDeliveries } from './deliveries/store.ts'
import { queueDepths } from './dispatch/queue-store.ts'
import type { WebhookService } from './service.ts'
import { listSealed, reseal } from './endpoints/store.ts'

const expiredPerStep = 5_000

export const webhookDeliverer = (
  platform: Platform,
  { poster, endpoints }: WebhookService,
  random: () => number = Math.random,
): Deliverer =>
  new Deliverer({
    platform,
    poster,
    disable: (tenant, endpoint_id) => endpoints.disableFailing(tenant, endpoint_id),
    onChange: (listener) => endpoints.onChange(listener),
    random,
  })

export const webhookPeriodicJobs = (platform: Platform): PeriodicJob[] => [
  {
    name: 'delivery partitions',
    every_ms: 3600_000,
    run: () =>
      keepPartitions(
        platform.pool,
        { table: 'webhook_deliveries', prefix: 'whd' },
        platform.clock.now(),
        platform.ageing.now() - platform.settings.delivery_retention_ms,
      ),
  },
  { name: 'old deliveries', every_ms: 3600_000, run: () => forgetOld(platform) },
  { name: 'webhook queue depths', every_ms: 5_000, run: () => measure(platform) },
  {
    name: 'webhook secrets',
    every_ms: 3600_000,
    run: () => resealAll(platform, { what: 'webhook endpoint', list: listSealed, reseal }),
  },
]

/** Deliveries outside of weekly partitions, and the index of failures. */
async function forgetOld(platform: Platform): Promise<number> {
  const floor = idFloor('whd', platform.ageing.now() - platform.settings.delivery_retention_ms - 7 * 24 * 3600_000)
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
