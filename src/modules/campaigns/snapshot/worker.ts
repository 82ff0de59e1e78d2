/** The worker `campaign-snapshots`: writes the recipients of starting campaigns, a chunk at a time. */
import type { CampaignDeps } from '../deps.ts'
import type { Job } from '../job-repository.ts'
import { ChunkSizes } from './chunk-size.ts'
import { snapshotStep } from './snapshot.ts'
import { claimDue, recordFailure } from '../transitions.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'

const leaseMs = 60_000
const atOnce = 2

export function snapshotWorker(deps: CampaignDeps): Worker {
  const sizes = new ChunkSizes()
  return {
    name: 'campaign-snapshots',
    poll_every_ms: 1000,
    async tick() {
      const jobs = await claimDue(deps.platform, 'snapshot', { lease_ms: leaseMs, jobs_max: atOnce })
      const more = await Promise.all(jobs.map((job) => step(deps, job, sizes)))
      if (more.includes(false)) deps.platform.notify('campaigns', 'fan-out')
      return jobs.length
    },
  }
}

async function step(deps: CampaignDeps, job: Job, sizes: ChunkSizes): Promise<boolean> {
  try {
    return await snapshotStep(deps, job, sizes)
  } catch (error) {
    await recordFailure(
      deps.platform,
      job,
      error,
      'the audience of a campaign could not be looked up; it is tried again',
    )
    return true
  }
}
