/** The lane `campaigns`: sends what is due of each campaign that this process works on, at its throttle, inside its window; and ends it. */
import type { Tenant } from '../../../contract/caller.ts'
import { limits } from '../../../contract/limits.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Lane } from '../../../lib/loop.ts'
import { isUp } from '../../channels/service.ts'
import type { CampaignDeps } from '../deps.ts'
import { cancelRest, completeIfDone, failFor, pauseFor } from '../lifecycle/ending.ts'
import { claimJobs, countFailure, deleteJob, postponeJob, type Job } from '../job-store.ts'
import { countUnderWay, listUnsent, unsentTimezones } from '../recipient-store.ts'
import type { CampaignRow } from '../rows.ts'
import { findCampaign } from '../store.ts'
import { Pacer } from './pacer.ts'
import { sendTo } from './sender.ts'
import { openFrom } from './windows.ts'

/** Between two looks at a campaign that is sending: a tenth of a second of its messages goes at once. */
const lookEveryMs = 100
const leaseMs = 30_000
const campaignsMax = 500
/** Submitted and not sent yet: more than so many seconds of its rate are not put before a provider that is slow, so that a pause is soon felt. */
const underWaySeconds = 10
const underWayMin = 100
/** After what could not be done: not stored, or a failure. */
const againMs = 1000
/** Longest wait that is not looked at again: a window's time zone may change its rules. */
const waitMaxMs = 3600_000
const failuresMax = 20

interface Sending {
  readonly deps: CampaignDeps
  readonly pacers: Map<string, Pacer>
}

export function sendingLane(deps: CampaignDeps): Lane {
  const { pool, clock, process_id } = deps.platform
  const sending: Sending = { deps, pacers: new Map() }
  return {
    name: 'campaigns',
    idle_ms: lookEveryMs,
    rest_ms: lookEveryMs,
    async tick() {
      const now = clock.now()
      const jobs = await claimJobs(pool, 'send', {
        process_id,
        at: isoTime(now),
        lease_until: isoTime(now + leaseMs),
        alive_since: isoTime(now - limits.process_silent_ms),
        jobs_max: campaignsMax,
      })
      const held = new Set(jobs.map(({ campaign_id }) => campaign_id))
      for (const id of sending.pacers.keys()) if (!held.has(id)) sending.pacers.delete(id)
      const counts = await Promise.all(jobs.map((job) => work(sending, job)))
      return counts.reduce((sum, count) => sum + count, 0)
    },
  }
}

/** One look at a campaign; resolves to how many messages were accepted. A failure is this campaign's alone. */
async function work({ deps, pacers }: Sending, job: Job): Promise<number> {
  const { platform } = deps
  const { pool, clock, process_id, log } = platform
  try {
    return await advance({ deps, pacers }, job)
  } catch (error) {
    platform.storage.failed(error)
    log.error({ err: error, campaign_id: job.campaign_id }, 'a campaign could not be worked on; it is tried again')
    const failures = await countFailure(pool, job, process_id, isoTime(clock.now() + againMs))
    if (failures >= failuresMax) await failFor(platform, job, job.campaign_id, 'internal_error')
    return 0
  }
}

async function advance(sending: Sending, job: Job): Promise<number> {
  const { platform } = sending.deps
  const row = await findCampaign(platform.pool, job, job.campaign_id)
  if (row === null) return 0
  if (row.status === 'cancelled' || row.status === 'failed') {
    await cancelRest(platform, job, row.id)
    await deleteJob(platform.pool, row)
    return 0
  }
  if (row.status !== 'sending' || (await stopped(sending.deps, row))) return 0
  return await sendDue(sending, row)
}

/** Whether its channel keeps the campaign from going on; it is paused or failed then. */
async function stopped({ platform, channels }: CampaignDeps, row: CampaignRow): Promise<boolean> {
  const channel = await channels.find(row, row.channel_id)
  if (channel === null) return await failFor(platform, row, row.id, 'channel_deleted')
  if (channel.status === 'suspended') return await failFor(platform, row, row.id, 'channel_suspended')
  if (!isUp(channel)) return await pauseFor(platform, row, row.id, 'channel_disconnected')
  return false
}

async function sendDue({ deps, pacers }: Sending, row: CampaignRow): Promise<number> {
  const { platform } = deps
  const { pool, clock, process_id } = platform
  const zones = await unsentTimezones(pool, row)
  if (zones.length === 0) {
    await completeIfDone(platform, row, row.id)
    return 0
  }
  const now = clock.now()
  const open = zonesOpen(row, zones, now)
  if (open.zones.length === 0) {
    await postponeJob(pool, row, process_id, isoTime(Math.min(open.from, now + waitMaxMs)))
    return 0
  }
  const per_second = await rateOf(deps, row)
  const pacer = pacers.get(row.id) ?? new Pacer(now)
  pacers.set(row.id, pacer)
  const room = Math.max(underWayMin, per_second * underWaySeconds)
  const due = Math.min(pacer.due(now, per_second), room - (await countUnderWay(pool, row, room)))
  if (due <= 0) return 0
  const sent = await sendTo(deps, row, await listUnsent(pool, row, open.zones, due))
  pacer.went(sent.accepted, per_second)
  if (sent.pause !== null) await pauseFor(platform, row, row.id, sent.pause)
  else if (sent.unavailable) await postponeJob(pool, row, process_id, isoTime(now + againMs))
  return sent.accepted
}

/** Its throttle, and no more than its channel's own rate. */
export async function rateOf(
  { channels }: Pick<CampaignDeps, 'channels'>,
  row: Tenant & Pick<CampaignRow, 'channel_id' | 'throttle_per_second'>,
): Promise<number> {
  const channel = await channels.find(row, row.channel_id)
  return Math.min(row.throttle_per_second, (channel === null ? null : channels.rateOf(channel)) ?? Infinity)
}

/** Of these time zones ('' is the campaign's own) those whose window is open; where none is, when the first of them opens. */
function zonesOpen(
  row: Pick<CampaignRow, 'timezone' | 'window_start' | 'window_end'>,
  zones: readonly string[],
  now: number,
): { readonly zones: string[]; readonly from: number } {
  const { window_start: start, window_end: end } = row
  const window = start === null || end === null ? null : { start, end }
  const froms = zones.map((zone) => ({ zone, from: openFrom(window, zone === '' ? row.timezone : zone, now) }))
  return { zones: froms.filter(({ from }) => from <= now).map(({ zone }) => zone), from: Math.min(...froms.map(({ from }) => from)) }
}
