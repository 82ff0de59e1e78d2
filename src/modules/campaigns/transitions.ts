/** Changes the status of campaigns, in one transaction with event and job. Counts failed jobs. */
import type { Tenant } from '../../api/caller.ts'
import type { EventType } from '../../api/events.ts'
import { limits } from '../../api/limits.ts'
import type { Campaign, CampaignStatus, FailureReason, PauseReason } from '../../api/resources/campaign.ts'
import { isoTime } from '../../lib/clock.ts'
import { type CampaignRow, automaticTransitions } from './campaign.ts'
import { areCostsCounted } from './counter-repository.ts'
import { anyDue, claimJobs, countFailure, deleteJob, type Job, type JobKind, putJob } from './job-repository.ts'
import { campaignObjects } from './queries.ts'
import { isAnybodyPending } from './recipient-repository.ts'
import { lockCampaign, updateState } from './repository.ts'
import { type Db, transact, type Transaction } from '../../platform/database/sql.ts'
import { recordEvents } from '../../platform/events/outbox.ts'
import type { StoreAnswer } from '../../platform/http/route.ts'
import type { Platform } from '../../platform/platform.ts'

export async function storeAndReturn(tx: Db, storeAnswer: StoreAnswer<Campaign>, shown: Campaign): Promise<Campaign> {
  await storeAnswer(tx, shown)
  return shown
}

type Moves = Pick<Platform, 'clock' | 'ids'>

const eventOf: Readonly<Partial<Record<CampaignStatus, EventType>>> = {
  sending: 'campaign.started',
  paused: 'campaign.paused',
  completed: 'campaign.completed',
  failed: 'campaign.failed',
}

export async function transition(
  tx: Transaction,
  { clock, ids }: Moves,
  before: CampaignRow,
  change: Partial<CampaignRow> & { readonly status: CampaignStatus },
): Promise<CampaignRow> {
  const at = isoTime(clock.now())
  const row: CampaignRow = { ...before, ...change, updated_at: at }
  await updateState(tx, row)
  await updateJob(tx, row, at)
  const type = eventOf[row.status]
  if (type === undefined || row.status === before.status) return row
  const [object] = await campaignObjects(tx, row, [row])
  await recordEvents(tx, [
    {
      account_id: row.account_id,
      mode: row.mode,
      id: ids('evt'),
      type,
      object_id: row.id,
      object: object!,
      created_at: at,
    },
  ])
  return row
}

/** In the past, so that a clock set back cannot delay a due campaign. */
const immediately = '2000-01-01T00:00:00.000Z'

/** Nothing is sent before `send_at`. */
async function updateJob(tx: Db, row: CampaignRow, at: string): Promise<void> {
  if (row.status === 'draft') return
  if (row.status === 'cancelled' || row.status === 'failed') return await putJob(tx, row, 'send', immediately)
  if (row.status === 'paused' || row.status === 'completed') return await deleteJob(tx, row)
  const next_run_at = row.send_at !== null && row.send_at > at ? row.send_at : immediately
  await putJob(tx, row, row.snapshot_at === null ? 'snapshot' : 'send', next_run_at)
}

export const toPaused = (reason: PauseReason, at: string) => ({
  status: 'paused' as const,
  pause_reason: reason,
  paused_at: at,
})
export const toFailed = (reason: FailureReason) => ({
  status: 'failed' as const,
  failure_reason: reason,
  pause_reason: null,
})

/** False if the campaign has already stopped. */
export async function pauseFor(platform: Platform, tenant: Tenant, id: string, reason: PauseReason): Promise<boolean> {
  return await transitionFrom(platform, tenant, id, 'paused', async (tx, row) => {
    await transition(tx, platform, row, toPaused(reason, isoTime(platform.clock.now())))
    return true
  })
}

export async function failFor(platform: Platform, tenant: Tenant, id: string, reason: FailureReason): Promise<boolean> {
  const failed = await transitionFrom(platform, tenant, id, 'failed', async (tx, row) => {
    await transition(tx, platform, row, toFailed(reason))
    return true
  })
  if (failed) platform.notify('campaigns')
  return failed
}

/** False if recipients are pending or costs are not counted yet. */
export async function completeIfDone(platform: Platform, tenant: Tenant, id: string): Promise<boolean> {
  return await transitionFrom(platform, tenant, id, 'completed', async (tx, row) => {
    if (row.snapshot_at === null) return false
    if (await isAnybodyPending(tx, row)) return false
    // the event includes them
    if (!(await areCostsCounted(tx, row))) return false
    await transition(tx, platform, row, { status: 'completed', completed_at: isoTime(platform.clock.now()) })
    return true
  })
}

async function transitionFrom(
  platform: Platform,
  tenant: Tenant,
  id: string,
  to: 'paused' | 'completed' | 'failed',
  write: (tx: Transaction, row: CampaignRow) => Promise<boolean>,
): Promise<boolean> {
  const moved = await transact(platform.pool, async (tx) => {
    const row = await lockCampaign(tx, tenant, id)
    return row !== null && automaticTransitions[to]!.includes(row.status) && (await write(tx, row))
  })
  if (moved) platform.notify('fan-out')
  return moved
}

const failuresMax = 20

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

export async function recordFailure(platform: Platform, job: Job, error: unknown, message: string): Promise<void> {
  const { pool, clock, process_id, storage, log } = platform
  storage.failed(error)
  log.error({ err: error, campaign_id: job.campaign_id }, message)
  const failures = await countFailure(pool, job, process_id, isoTime(clock.now()))
  if (failures >= failuresMax) await failFor(platform, job, job.campaign_id, 'internal_error')
}
