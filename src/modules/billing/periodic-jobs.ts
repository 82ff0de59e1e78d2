/** Periodic jobs of billing. */
import type { PeriodicJob, Platform } from '../../platform/platform.ts'
import { untilDone } from '../../platform/jobs/periodic-jobs.ts'
import { announceExpiring, writeOffExpired } from './package-lifecycle.ts'
import { foldUsage } from './usage-repository.ts'

const grantsMax = 200
const deltasMax = 5_000

export const billingPeriodicJobs = (platform: Platform): PeriodicJob[] => [
  // within a minute of the expiry (behaviour: billing 4.2)
  {
    name: 'expire-packages',
    every_ms: 15_000,
    run: () => untilDone(platform.clock, grantsMax, () => writeOffExpired(platform, grantsMax)),
  },
  {
    name: 'announce-expiring-packages',
    every_ms: 15_000,
    run: () => untilDone(platform.clock, grantsMax, () => announceExpiring(platform, grantsMax)),
  },
  {
    name: 'fold-usage',
    every_ms: 10_000,
    run: () => untilDone(platform.clock, deltasMax, () => foldUsage(platform.pool, deltasMax)),
  },
]
