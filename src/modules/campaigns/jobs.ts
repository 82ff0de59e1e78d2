/** What both workers do with campaigns that are a process's work: take those that are due, and count the passes that fail. */
import { limits } from '../../api/limits.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Platform } from '../../platform/platform.ts'
import { anyDue, claimJobs, countFailure, type Job, type JobKind } from './job-store.ts'
import { failFor } from './lifecycle/ending.ts'

/** A quarter of an hour of failures. */
const failuresMax = 20

/** Takes due work of this kind for this process. */
export async function claimDue(
  { pool, clock, process_id }: Platform,
  kind: JobKind,
  { lease_ms, jobs_max }: { readonly lease_ms: number; readonly jobs_max: number },
): Promise<Job[]> {
  const now = clock.now()
  const at = isoTime(now)
  if (!(await anyDue(pool, kind, at))) return []
  return await claimJobs(pool, kind, {
    process_id,
    at,
    lease_until: isoTime(now + lease_ms),
    alive_since: isoTime(now - limits.process_silent_ms),
    jobs_max,
  })
}

/** A pass of this campaign failed, which is nothing to the others; after too many in a row the campaign has. */
export async function passFailed(platform: Platform, job: Job, error: unknown, message: string): Promise<void> {
  const { pool, clock, process_id, storage, log } = platform
  storage.failed(error)
  log.error({ err: error, campaign_id: job.campaign_id }, message)
  const failures = await countFailure(pool, job, process_id, isoTime(clock.now()))
  if (failures >= failuresMax) await failFor(platform, job, job.campaign_id, 'internal_error')
}
