/** What happens to events by themselves: fanned out, delivered, and after 30 days forgotten. */
import { limits } from '../../contract/limits.ts'
import { isoTime } from '../../lib/clock.ts'
import { idFloor } from '../../lib/ids.ts'
import type { Lane } from '../../lib/loop.ts'
import { keepPartitions } from '../../platform/database/partitions.ts'
import type { Chore, Platform } from '../../platform/platform.ts'
import { deliverer, type Deliverer } from './dispatch/deliverer.ts'
import { expireDeliveries } from './deliveries/store.ts'
import { queueDepths, rest } from './dispatch/store.ts'
import { follow, listLostHandoffs, queueHandoffs } from './fan-out/handoff-store.ts'
import type { HandoffConsumer } from './dispatch/open-handoffs.ts'
import { noticeChores } from './notices/notices.ts'
import type { WebhookService } from './service.ts'
import { listSealed, reseal } from './endpoints/store.ts'

const eventsPerPass = 2_000
const expiredPerStep = 5_000
/** Endpoints offered to a pass, by the events of the one before: what offering costs stays below what it saves. */
const offersMin = 64
const offersPerEvent = 4
const offersTop = 2_000
/** A turn that ends sooner is not relied on. */
const leaseMarginMs = 10_000
const lookEveryMs = 1_000

/**
 * Makes the deliveries of events as they become final. Any number of processes may run it; one works at a time. What `taker` can take at once
 * goes to it in memory; without one everything goes to the queue.
 */
export function fanOutLane(platform: Platform, consumer: HandoffConsumer = nobody): Lane {
  const { pool, clock, process_id } = platform
  let lookedAt = -Infinity
  let offersMax = offersMin
  return {
    name: 'fan-out',
    idle_ms: 250,
    async tick() {
      const now = clock.now()
      const at = isoTime(now)
      if (now - lookedAt >= lookEveryMs) {
        lookedAt = now
        await takeOver(platform, consumer)
      }
      const batch = consumer.nextBatchId()
      const offers = consumer.offers(offersMax)
      const made = await follow(pool, { at, limit: eventsPerPass, process_id, batch, offers, leases_until: isoTime(now + leaseMarginMs) })
      if (made.queued > 0) platform.notify('deliver')
      if (made.handed !== null) await consumer.take({ batch, created_at: at, endpoints: made.endpoints!, deliveries: made.handed })
      if (made.events > 0) offersMax = Math.max(offersMin, Math.min(offersTop, offersPerEvent * made.events))
      if (made.events === eventsPerPass || (made.events === 0 && !made.unripe)) return made.events
      // more comes in a moment: looking again soon keeps deliveries quick, not looking at once keeps the passes few
      await rest(pool)
      return Math.max(1, made.events)
    },
  }
}

/** Brings to the queue what was handed on by processes that died since, or in an answer that was lost. */
async function takeOver(platform: Platform, consumer: HandoffConsumer): Promise<void> {
  const { pool, clock, process_id } = platform
  const lost = await listLostHandoffs(pool, process_id, consumer.batches(), isoTime(clock.now() - limits.process_silent_ms))
  if (lost.length > 0 && (await queueHandoffs(pool, lost)) > 0) platform.notify('deliver')
}

const nobody: HandoffConsumer = { nextBatchId: () => 0, offers: () => [], take: () => Promise.resolve(), batches: () => [] }

export const webhookDeliverer = (platform: Platform, webhooks: WebhookService, random: () => number = Math.random): Deliverer =>
  deliverer({ platform, poster: webhooks.poster, disable: webhooks.disableFailing, onChange: webhooks.onChange, random })

export const webhookChores = (platform: Platform): Chore[] => [
  {
    name: 'delivery partitions',
    every_ms: 3600_000,
    run: () => keepPartitions(platform.pool, { table: 'webhook_deliveries', prefix: 'whd', retention_ms: limits.event_retention_ms }, platform.clock.now()),
  },
  { name: 'old deliveries', every_ms: 3600_000, run: () => forgetOld(platform) },
  { name: 'webhook queue depths', every_ms: 5_000, run: () => measure(platform) },
  { name: 'webhook secrets', every_ms: 3600_000, run: () => resealAll(platform) },
  ...noticeChores(platform),
]

/** Deliveries outside of weekly partitions, and the index of failures. */
async function forgetOld(platform: Platform): Promise<number> {
  const floor = idFloor('whd', platform.clock.now() - limits.event_retention_ms - 7 * 24 * 3600_000)
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

/** After a rotation of the secret key every secret comes under the current one, so that the previous key can be dropped. */
async function resealAll(platform: Platform): Promise<number> {
  const { secrets, pool } = platform
  const again = (sealed: string | null) => (sealed === null || secrets.isCurrent(sealed) ? sealed : secrets.seal(secrets.open(sealed)))
  let changed = 0
  for (let after = ''; ;) {
    const rows = await listSealed(pool, after, 500)
    for (const row of rows) {
      const next = { secret: again(row.secret)!, previous_secret: again(row.previous_secret), verification_token: again(row.verification_token) }
      if (next.secret === row.secret && next.previous_secret === row.previous_secret && next.verification_token === row.verification_token) continue
      await reseal(pool, row.id, row.secret, next)
      changed += 1
    }
    if (rows.length < 500) return changed
    after = rows.at(-1)!.id
  }
}
