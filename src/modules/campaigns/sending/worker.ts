/** The worker `campaigns`: sends due messages of the campaigns that this process has claimed, in parallel. */
import { waitEnded } from '../../../lib/clock.ts'
import type { CampaignRow } from '../campaign.ts'
import type { CampaignDeps } from '../deps.ts'
import { forgetFailures, type Job } from '../job-repository.ts'
import { MessagingLimits } from '../messaging-limit.ts'
import { type Progress, progressOf } from '../recipient-repository.ts'
import { findCampaigns } from '../repository.ts'
import { ActiveCampaign, type SenderState } from './active-campaign.ts'
import { RecipientLoader } from './recipient-loader.ts'
import { WindowTable } from './send-windows.ts'
import { advance, inFlightMax } from './step.ts'
import { claimDue, recordFailure } from '../transitions.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'

/** A tenth of a second of a campaign's messages is sent at once. */
const pollMs = 100
/** Without a campaign. */
const idlePollMs = 500
const leaseMs = 30_000
const campaignsMax = 2000
/** Per poll, those that have waited longest: a message may have 64 KB. */
const campaignsAtOnce = 200

export function sendingWorker(deps: CampaignDeps): Worker {
  const sending: SenderState = {
    deps,
    active: new Map(),
    windows: new WindowTable(),
    limits: new MessagingLimits(deps),
    recipients: new RecipientLoader(deps),
    characters: 0,
  }
  return {
    name: 'campaigns',
    get poll_every_ms() {
      return sending.active.size === 0 ? idlePollMs : pollMs
    },
    pause_ms: pollMs,
    async tick(stopping) {
      const inProgress = new Map<string, Promise<void>>()
      let accepted = 0
      const begin = async (): Promise<void> => {
        for (const { campaign, row, progress } of await dueCampaigns(sending, inProgress)) {
          const worked = work(sending, campaign, row, progress)
            .then((count) => void (accepted += count))
            .finally(() => inProgress.delete(row.id))
          inProgress.set(row.id, worked)
        }
      }
      try {
        do {
          await begin()
          await progressOrTimeout(deps, inProgress)
        } while (inProgress.size > 0 && stopping?.aborted !== true)
      } finally {
        await Promise.all(inProgress.values())
      }
      return accepted
    },
  }
}

async function progressOrTimeout(
  { platform: { clock } }: CampaignDeps,
  inProgress: ReadonlyMap<string, Promise<void>>,
): Promise<void> {
  if (inProgress.size === 0) return
  const settled = new AbortController()
  await Promise.race([Promise.all(inProgress.values()), clock.sleep(pollMs, settled.signal)])
  settled.abort(waitEnded)
}

interface Due {
  readonly campaign: ActiveCampaign
  readonly row: CampaignRow
  readonly progress: Progress
}

async function dueCampaigns({ deps, active }: SenderState, inProgress: ReadonlyMap<string, unknown>): Promise<Due[]> {
  const { pool, clock } = deps.platform
  const now = clock.elapsed()
  const jobs = await claimDue(deps.platform, 'send', { lease_ms: leaseMs, jobs_max: campaignsMax })
  keep(active, jobs, now)
  const nextPoll = ({ campaign_id }: Job): number => active.get(campaign_id)!.next_poll_ms
  const due = jobs
    .filter((job) => !inProgress.has(job.campaign_id) && nextPoll(job) <= now)
    .toSorted((one, other) => nextPoll(one) - nextPoll(other))
    .slice(0, campaignsAtOnce)
  const rows = await findCampaigns(pool, due)
  const progress = new Map((await progressOf(pool, rows.map(wantedProgress))).map((one) => [one.campaign_id, one]))
  return rows.map((row) => ({ campaign: active.get(row.id)!, row, progress: progress.get(row.id)! }))
}

const wantedProgress = ({ account_id, mode, id, throttle_per_second }: CampaignRow) => ({
  account_id,
  mode,
  campaign_id: id,
  most: inFlightMax(throttle_per_second),
})

function keep(active: Map<string, ActiveCampaign>, jobs: readonly Job[], now: number): void {
  const ids = new Set(jobs.map(({ campaign_id }) => campaign_id))
  for (const id of active.keys()) if (!ids.has(id)) active.delete(id)
  for (const job of jobs) {
    const known = active.get(job.campaign_id)
    if (known === undefined) active.set(job.campaign_id, new ActiveCampaign(job, now))
    else known.renew(job, now)
  }
}

/** Resolves to the number of accepted messages. Never rejects: a failure is counted for this campaign. */
async function work(
  sending: SenderState,
  campaign: ActiveCampaign,
  row: CampaignRow,
  progress: Progress,
): Promise<number> {
  const { platform } = sending.deps
  const { pool, process_id, log } = platform
  try {
    const accepted = await advance(sending, campaign, row, progress)
    if (campaign.job.failures > 0) await forgetFailures(pool, campaign.job, process_id)
    return accepted
  } catch (error) {
    await recordFailure(platform, campaign.job, error, 'a campaign could not be worked on; it is tried again').catch(
      (again: unknown) =>
        log.error({ err: again, campaign_id: row.id }, 'that a campaign could not be worked on could not be counted'),
    )
    return 0
  }
}
