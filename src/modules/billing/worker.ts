/** What happens to money by itself: expired credits are written off, expiring ones announced, usage folded. */
import { isoTime } from '../../lib/clock.ts'
import { untilDone } from '../../platform/jobs/periodic-jobs.ts'
import { transact } from '../../platform/database/sql.ts'
import type { PeriodicJob, Platform } from '../../platform/platform.ts'
import { expiryNoticeMs, recordExpiring } from './announcements.ts'
import type { BillingService } from './service.ts'
import { listExpiring, lockGrants } from './store.ts'
import { foldUsage } from './usage-store.ts'

const grantsMax = 200
const deltasMax = 5_000

export const billingPeriodicJobs = (platform: Platform, billing: BillingService): PeriodicJob[] => [
  // written off within a minute of the expiry (behaviour: billing 4.2)
  {
    name: 'package-expiry',
    every_ms: 15_000,
    run: () => untilDone(platform.clock, grantsMax, () => billing.writeOffExpired(grantsMax)),
  },
  {
    name: 'package-expiring',
    every_ms: 15_000,
    run: () => untilDone(platform.clock, grantsMax, () => announceExpiring(platform)),
  },
  {
    name: 'usage-fold',
    every_ms: 10_000,
    run: () => untilDone(platform.clock, deltasMax, () => foldUsage(platform.pool, deltasMax)),
  },
]

/** Records package.expiring for grants whose unused credits end within 7 days, once a grant. */
async function announceExpiring(platform: Platform): Promise<number> {
  const at = isoTime(platform.clock.now())
  const due = await listExpiring(platform.pool, at, isoTime(platform.ageing.now() + expiryNoticeMs), grantsMax)
  if (due.length === 0) return 0
  const announced = await transact(
    platform.pool,
    async (tx) => await recordExpiring(tx, platform, await lockGrants(tx, due), at),
  )
  platform.notify('fan-out')
  return announced
}
