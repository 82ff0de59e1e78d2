/** The lane `campaign-snapshots`: looks up the audience of campaigns that are to begin, a chunk of each at a time. */
import { limits } from '../../../contract/limits.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Lane } from '../../../lib/loop.ts'
import type { CampaignDeps } from '../deps.ts'
import { claimJobs, countFailure, type Job } from '../job-store.ts'
import { failFor } from '../lifecycle/ending.ts'
import { ChunkSizes } from './chunk-size.ts'
import { snapshotStep } from './snapshot.ts'

const leaseMs = 60_000
const atOnce = 2
const failuresMax = 20

export function snapshotLane(deps: CampaignDeps): Lane {
  const { pool, clock, process_id, notify } = deps.platform
  const sizes = new ChunkSizes()
  return {
    name: 'campaign-snapshots',
    idle_ms: 1000,
    async tick() {
      const now = clock.now()
      const jobs = await claimJobs(pool, 'snapshot', {
        process_id,
        at: isoTime(now),
        lease_until: isoTime(now + leaseMs),
        alive_since: isoTime(now - limits.process_silent_ms),
        jobs_max: atOnce,
      })
      const more = await Promise.all(jobs.map((job) => step(deps, job, sizes)))
      if (more.includes(false)) notify('campaigns', 'fan-out')
      return jobs.length
    },
  }
}

/** False where the campaign has nothing more to be looked up. */
async function step(deps: CampaignDeps, job: Job, sizes: ChunkSizes): Promise<boolean> {
  const { platform } = deps
  const { pool, clock, process_id, log } = platform
  try {
    return await snapshotStep(deps, job, sizes)
  } catch (error) {
    platform.storage.failed(error)
    log.error({ err: error, campaign_id: job.campaign_id }, 'the audience of a campaign could not be looked up; it is tried again')
    const failures = await countFailure(pool, job, process_id, isoTime(clock.now()))
    if (failures >= failuresMax) await failFor(platform, job, job.campaign_id, 'internal_error')
    return true
  }
}
