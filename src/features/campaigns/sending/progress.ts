/** One step of a campaign: what ends it or keeps it from going on, what its window and its throttle let go, and when it is looked at next. */
import { isoTime } from '../../../lib/clock.ts'
import { cancelRest, completeIfDone, endingMs, failFor, pauseFor } from '../lifecycle/ending.ts'
import { deleteJob, postponeJob } from '../job-store.ts'
import { listUnsent, unsentTimezones, type Progress } from '../recipient-store.ts'
import type { CampaignRow } from '../rows.ts'
import { shareOf, type HeldCampaign, type Sending } from './held-campaign.ts'
import { obstacleOf, type Obstacle } from './obstacles.ts'
import { sendTo } from './sender.ts'

/** Submitted and not sent yet: more than so many seconds of its rate are not put before a provider that is slow, so that a pause is soon felt. */
const underWaySeconds = 10
const underWayMin = 100
/** After what could not be decided just now. */
const againMs = 1000
/** Longest wait that is not looked at again: a window's time zone may change its rules. */
const waitMaxMs = 3600_000

/** How many messages of a campaign may be under way at once. */
export const roomOf = (per_second: number): number => Math.max(underWayMin, Math.ceil(per_second * underWaySeconds))

/** Resolves to how many messages were accepted. */
export async function advance(sending: Sending, campaign: HeldCampaign, row: CampaignRow, progress: Progress): Promise<number> {
  const { platform } = sending.deps
  const now = platform.clock.now()
  campaign.demand = null
  if (row.status === 'cancelled' || row.status === 'failed') {
    if (await cancelRest(platform, row, row.id, endingMs)) await deleteJob(platform.pool, row)
    return 0
  }
  if (row.status !== 'sending') return 0
  if (!progress.unsent) {
    if (progress.under_way > 0 || !(await completeIfDone(platform, row, row.id))) campaign.rest(now, progress.under_way)
    return 0
  }
  const channel = await sending.deps.channels.find(row, row.channel_id)
  const obstacle = await obstacleOf(sending.deps, row, channel)
  if (obstacle !== null) return await stopFor(sending, campaign, row, obstacle)
  const timezones = await openZones(sending, row)
  if (timezones === null) return 0
  campaign.demand = { channel_id: row.channel_id, per_second: row.throttle_per_second }
  const per_second = shareOf(sending.held.values(), campaign, sending.deps.channels.rateOf(channel!))
  const room = roomOf(per_second) - progress.under_way
  if (room <= 0) campaign.rest(now, progress.under_way)
  const due = Math.min(room, campaign.pacer.due(now, per_second))
  return due <= 0 ? 0 : await sendSome(sending, campaign, row, { timezones, due, per_second })
}

async function stopFor({ deps: { platform } }: Sending, campaign: HeldCampaign, row: CampaignRow, obstacle: Obstacle): Promise<number> {
  if (obstacle.kind === 'fail') await failFor(platform, row, row.id, obstacle.reason)
  else if (obstacle.kind === 'pause') await pauseFor(platform, row, row.id, obstacle.reason)
  else campaign.look_ms = platform.clock.now() + againMs
  return 0
}

/** The time zones of recipients ('' is the campaign's own) whose window is open now; null: none is, and the campaign is put off until the first one opens. */
async function openZones({ deps: { platform }, windows }: Sending, row: CampaignRow): Promise<string[] | null> {
  const { pool, clock, process_id } = platform
  const now = clock.now()
  const { window_start: start, window_end: end } = row
  const window = start === null || end === null ? null : { start, end }
  const zones = row.recipient_timezone ? await unsentTimezones(pool, row) : ['']
  const states = zones.map((zone) => ({ zone, ...windows.stateOf(window, zone === '' ? row.timezone : zone, row.timezone, now) }))
  const open = states.filter((state) => state.open).map(({ zone }) => zone)
  if (open.length > 0 || zones.length === 0) return open
  const opens = Math.min(...states.map(({ until }) => until))
  await postponeJob(pool, row, process_id, isoTime(Math.min(opens, now + waitMaxMs)))
  return null
}

interface Portion {
  readonly timezones: readonly string[]
  readonly due: number
  readonly per_second: number
}

async function sendSome(sending: Sending, campaign: HeldCampaign, row: CampaignRow, { timezones, due, per_second }: Portion): Promise<number> {
  const { deps, reach } = sending
  const { platform, channels } = deps
  const now = platform.clock.now()
  const channel = await channels.find(row, row.channel_id)
  const reachable = channel === null ? 0 : await reach.leftOf(channel)
  if (reachable <= 0) return await stopFor(sending, campaign, row, { kind: 'pause', reason: 'messaging_limit_reached' })
  const { aside, pacer } = campaign
  const recipients = await listUnsent(platform.pool, row, { timezones, but: aside.at(now), limit: Math.min(due, reachable) })
  if (recipients.length === 0) {
    campaign.look_ms = aside.next === Infinity ? now + againMs : aside.next
    return 0
  }
  const sent = await sendTo(deps, row, recipients)
  pacer.went(sent.accepted, per_second)
  if (channel !== null) reach.went(channel, sent.accepted)
  aside.tried(
    sent.again,
    recipients.map(({ n }) => n).filter((n) => !sent.again.includes(n)),
    now,
  )
  if (sent.pause !== null) await pauseFor(platform, row, row.id, sent.pause)
  campaign.look_ms = sent.unavailable || aside.isFull ? now + againMs : pacer.next
  return sent.accepted
}
