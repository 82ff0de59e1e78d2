/**
 * The worker `campaigns`: sends what is due of each campaign that this process works on. Campaigns are worked on side by side, and one that is slow keeps no other waiting. A look at all of
 * them is four statements, however many there are, and one where nothing is due; those of a campaign follow where it has something to send.
 */
import { over } from '../../../lib/clock.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import type { CampaignDeps } from '../deps.ts'
import { forgetFailures, type Job } from '../job-store.ts'
import { claimDue, passFailed } from '../jobs.ts'
import { MessagingLimits } from '../messaging-limit.ts'
import { progressOf, type Progress } from '../recipient-store.ts'
import type { CampaignRow } from '../rows.ts'
import { findCampaigns } from '../store.ts'
import { HeldCampaign, type Sending } from './held-campaign.ts'
import { advance, roomOf } from './step.ts'
import { Recipients } from './recipients.ts'
import { WindowTable } from './windows.ts'

/** Between two looks at all campaigns: a tenth of a second of a campaign's messages goes at once. */
const lookEveryMs = 100
/** Between two looks of a process that works on none. */
const idleLookEveryMs = 500
const leaseMs = 30_000
const campaignsMax = 2000

export function sendingWorker(deps: CampaignDeps): Worker {
  const sending: Sending = {
    deps,
    held: new Map(),
    windows: new WindowTable(),
    limits: new MessagingLimits(deps),
    recipients: new Recipients(deps),
  }
  return {
    name: 'campaigns',
    get idle_ms() {
      return sending.held.size === 0 ? idleLookEveryMs : lookEveryMs
    },
    rest_ms: lookEveryMs,
    async tick(stopping) {
      const inHand = new Map<string, Promise<void>>()
      let accepted = 0
      const begin = async (): Promise<void> => {
        for (const { campaign, row, progress } of await dueOf(sending, inHand)) {
          const worked = work(sending, campaign, row, progress)
            .then((count) => void (accepted += count))
            .finally(() => inHand.delete(row.id))
          inHand.set(row.id, worked)
        }
      }
      try {
        do {
          await begin()
          await settledOrLate(deps, inHand)
        } while (inHand.size > 0 && stopping?.aborted !== true)
      } finally {
        await Promise.all(inHand.values())
      }
      return accepted
    },
  }
}

/** Resolves when none of them is in hand any more, or when the others are to be looked at again. */
async function settledOrLate(
  { platform: { clock } }: CampaignDeps,
  inHand: ReadonlyMap<string, Promise<void>>,
): Promise<void> {
  if (inHand.size === 0) return
  const settled = new AbortController()
  await Promise.race([Promise.all(inHand.values()), clock.sleep(lookEveryMs, settled.signal)])
  settled.abort(over)
}

interface Due {
  readonly campaign: HeldCampaign
  readonly row: CampaignRow
  readonly progress: Progress
}

/** The campaigns that are to be worked on now; what is held and no work of this process any more is forgotten. */
async function dueOf({ deps, held }: Sending, inHand: ReadonlyMap<string, unknown>): Promise<Due[]> {
  const { pool, clock } = deps.platform
  const now = clock.elapsed()
  const jobs = await claimDue(deps.platform, 'send', { lease_ms: leaseMs, jobs_max: campaignsMax })
  keep(held, jobs, now)
  const due = jobs.filter(({ campaign_id }) => !inHand.has(campaign_id) && held.get(campaign_id)!.look_ms <= now)
  const rows = await findCampaigns(pool, due)
  const progress = new Map((await progressOf(pool, rows.map(wantedProgress))).map((one) => [one.campaign_id, one]))
  return rows.map((row) => ({ campaign: held.get(row.id)!, row, progress: progress.get(row.id)! }))
}

const wantedProgress = ({ account_id, mode, id, throttle_per_second }: CampaignRow) => ({
  account_id,
  mode,
  campaign_id: id,
  most: roomOf(throttle_per_second),
})

function keep(held: Map<string, HeldCampaign>, jobs: readonly Job[], now: number): void {
  const ids = new Set(jobs.map(({ campaign_id }) => campaign_id))
  for (const id of held.keys()) if (!ids.has(id)) held.delete(id)
  for (const job of jobs) {
    const known = held.get(job.campaign_id)
    if (known === undefined) held.set(job.campaign_id, new HeldCampaign(job, now))
    else known.stillHeld(job, now)
  }
}

/** Works on a campaign once; resolves to how many messages were accepted, and never rejects: a failure is this campaign's alone. */
async function work(sending: Sending, campaign: HeldCampaign, row: CampaignRow, progress: Progress): Promise<number> {
  const { platform } = sending.deps
  const { pool, process_id, log } = platform
  try {
    const accepted = await advance(sending, campaign, row, progress)
    if (campaign.job.failures > 0) await forgetFailures(pool, campaign.job, process_id)
    return accepted
  } catch (error) {
    await passFailed(platform, campaign.job, error, 'a campaign could not be worked on; it is tried again').catch(
      (again: unknown) =>
        log.error({ err: again, campaign_id: row.id }, 'that a campaign could not be worked on could not be counted'),
    )
    return 0
  }
}
