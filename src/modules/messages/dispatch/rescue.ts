/** Rescues jobs of dead processes, once a second and in batches. */
import { limits } from '../../../api/limits.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { TransitionDeps } from '../transitions.ts'
import type { ChannelLeases } from './leases.ts'
import { leaseMs, type Scheduler } from './scheduler.ts'
import { rescueJobs } from './repository.ts'

export interface RescuerDeps extends Pick<TransitionDeps, 'platform' | 'projections'> {
  readonly scheduling: Scheduler
  readonly leases: ChannelLeases
}

export interface Rescuer {
  rescueIfDue(): Promise<number>
  rescueAll(): Promise<void>
}

const everyMs = 1000
const batchMax = 2000
/** The next run follows at once. */
const batchesMax = 5

export function rescuer(deps: RescuerDeps): Rescuer {
  const last = { ms: -Infinity }
  const rescueIfDue = async (): Promise<number> => {
    const { clock } = deps.platform
    if (clock.elapsed() - last.ms < everyMs) return 0
    last.ms = clock.elapsed()
    const now = clock.now()
    await deps.scheduling.sweep()
    await deps.leases.renew()
    const rescued = await rescueBatches(deps, now)
    if (rescued === batchMax * batchesMax) last.ms = -Infinity
    return rescued
  }
  return {
    rescueIfDue,
    async rescueAll() {
      while ((await rescueIfDue()) === batchMax * batchesMax);
    },
  }
}

async function rescueBatches({ platform, projections }: RescuerDeps, now: number): Promise<number> {
  const { pool, process_id, log } = platform
  const claim = {
    process_id,
    at: isoTime(now),
    alive_since: isoTime(now - limits.process_silent_ms),
    lease_ms: leaseMs,
    jobs_max: batchMax,
  }
  let rescued = 0
  for (let batch = 1; batch <= batchesMax; batch++) {
    const { jobs, origin_types } = await rescueJobs(pool, projections, claim)
    projections.wake(origin_types.map((origin_type) => ({ origin_type })))
    rescued += jobs
    if (jobs < batchMax) break
  }
  if (rescued === 0) return 0
  log.warn({ jobs: rescued }, 'rescued messages that another process had claimed')
  // another process may dispatch some of their channels
  platform.notify('dispatch')
  return rescued
}
