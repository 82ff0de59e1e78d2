/** One step of a campaign: what ends it or keeps it from going on, what its window and its throttle let go, and when it is looked at next. */
import { isoTime } from '../../../lib/clock.ts'
import type { ChannelRow } from '../../channels/service.ts'
import { cancelRest, endingMs } from '../lifecycle/cancelling.ts'
import { completeIfDone, failFor, pauseFor } from '../lifecycle/ending.ts'
import { deleteJob, postponeJob } from '../job-store.ts'
import { countUnderWay, unsentTimezones, type Progress } from '../recipient-store.ts'
import type { CampaignRow } from '../rows.ts'
import { shareOf } from './fair-shares.ts'
import type { HeldCampaign, Sending } from './held-campaign.ts'
import { obstacleOf, type Obstacle } from './obstacles.ts'
import type { NextRecipient } from './recipients.ts'
import { sendTo } from './sender.ts'
import { windowOf } from './windows.ts'

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
export async function advance(
  sending: Sending,
  campaign: HeldCampaign,
  row: CampaignRow,
  progress: Progress,
): Promise<number> {
  const timezones = (await goesOn(sending, campaign, row, progress)) ? await openZones(sending, row) : null
  // until it is known what it wants it counts among those that share its channel as it did before
  campaign.demand = timezones === null ? null : { channel_id: row.channel_id, per_second: row.throttle_per_second }
  if (timezones === null) return 0
  return await sendDue(sending, campaign, row, { timezones, under_way: await underWay(sending, row, progress) })
}

/** Whether somebody is still to be sent to, and nothing keeps the campaign from it; what follows for it where that is not so is done. */
async function goesOn(
  sending: Sending,
  campaign: HeldCampaign,
  row: CampaignRow,
  progress: Progress,
): Promise<boolean> {
  const { platform, channels } = sending.deps
  if (row.status === 'cancelled' || row.status === 'failed') {
    if (await cancelRest(sending.deps, row, row.id, endingMs)) await deleteJob(platform.pool, row)
    else if (!progress.unsent) campaign.rest(platform.clock.elapsed(), progress.under_way)
    return false
  }
  if (row.status !== 'sending') return false
  if (!progress.unsent) {
    if (progress.under_way > 0 || !(await completeIfDone(platform, row, row.id)))
      campaign.rest(platform.clock.elapsed(), progress.under_way)
    return false
  }
  const obstacle = await obstacleOf(sending.deps, row, await channels.find(row, row.channel_id))
  if (obstacle === null) return true
  await stopFor(sending, campaign, row, obstacle)
  return false
}

/** Submitted and not sent yet, but for those that wait until the window of their own time zone opens: they keep nobody else waiting. */
async function underWay(
  { deps: { platform }, windows }: Sending,
  row: CampaignRow,
  { under_way }: Progress,
): Promise<number> {
  const window = windowOf(row)
  if (window === null || !row.recipient_timezone || under_way === 0) return under_way
  const now = platform.clock.now()
  const counts = await countUnderWay(platform.pool, row)
  return counts.reduce(
    (sum, { timezone, count }) =>
      windows.stateOf(window, timezone || row.timezone, row.timezone, now).open ? sum + count : sum,
    0,
  )
}

/** What its throttle and the room under way let go now. */
async function sendDue(
  sending: Sending,
  campaign: HeldCampaign,
  row: CampaignRow,
  { timezones, under_way }: { readonly timezones: readonly string[]; readonly under_way: number },
): Promise<number> {
  const { platform, channels } = sending.deps
  const now = platform.clock.elapsed()
  const channel = await channels.find(row, row.channel_id)
  // deleted at this moment: the next look finds it
  if (channel === null) return 0
  const per_second = shareOf(sending.held.values(), campaign, channels.rateOf(channel))
  const room = roomOf(per_second) - under_way
  if (room <= 0) campaign.rest(now, under_way)
  const due = Math.min(room, campaign.pacer.due(now, per_second))
  return due <= 0 ? 0 : await sendSome(sending, campaign, row, { timezones, due, per_second, channel })
}

async function stopFor(
  { deps: { platform } }: Sending,
  campaign: HeldCampaign,
  row: CampaignRow,
  obstacle: Obstacle,
): Promise<number> {
  if (obstacle.kind === 'fail') await failFor(platform, row, row.id, obstacle.reason)
  else if (obstacle.kind === 'pause') await pauseFor(platform, row, row.id, obstacle.reason)
  else campaign.look_ms = platform.clock.elapsed() + againMs
  return 0
}

/** The time zones of recipients ('' is the campaign's own) whose window is open now; null: none is, and the campaign is put off until the first one opens. */
async function openZones({ deps: { platform }, windows }: Sending, row: CampaignRow): Promise<string[] | null> {
  const { pool, clock, process_id } = platform
  const now = clock.now()
  const window = windowOf(row)
  const zones = row.recipient_timezone ? await unsentTimezones(pool, row) : ['']
  const states = zones.map((zone) => ({
    zone,
    ...windows.stateOf(window, zone === '' ? row.timezone : zone, row.timezone, now),
  }))
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
  readonly channel: ChannelRow
}

async function sendSome(
  sending: Sending,
  campaign: HeldCampaign,
  row: CampaignRow,
  { timezones, due, per_second, channel }: Portion,
): Promise<number> {
  const now = sending.deps.platform.clock.elapsed()
  const { aside, unfunded } = campaign
  const wanted = { timezones, but: [...aside.at(now), ...unfunded], limit: due }
  let accepted = 0
  const isWithin = await sending.limits.sendWithin(channel, sending.recipients, row, wanted, async (recipients) => {
    accepted = await sendThese(sending, campaign, row, recipients, per_second)
  })
  return isWithin
    ? accepted
    : await stopFor(sending, campaign, row, { kind: 'pause', reason: 'messaging_limit_reached' })
}

async function sendThese(
  sending: Sending,
  campaign: HeldCampaign,
  row: CampaignRow,
  recipients: readonly NextRecipient[],
  per_second: number,
): Promise<number> {
  const { platform } = sending.deps
  const now = platform.clock.elapsed()
  const { aside, unfunded, pacer } = campaign
  if (recipients.length === 0) {
    if (unfunded.size > 0)
      return await stopFor(sending, campaign, row, { kind: 'pause', reason: 'insufficient_balance' })
    campaign.look_ms = aside.next === Infinity ? now + againMs : aside.next
    return 0
  }
  const sent = await sendTo(sending.deps, row, recipients)
  for (const n of sent.unfunded) unfunded.add(n)
  pacer.went(sent.accepted, per_second)
  aside.tried(
    sent.again,
    recipients.map(({ recipient }) => recipient.n).filter((n) => !sent.again.includes(n)),
    now,
  )
  if (sent.pause !== null) await pauseFor(platform, row, row.id, sent.pause)
  // its share may grow before its next message is due
  campaign.look_ms = sent.unavailable || aside.isFull ? now + againMs : Math.min(pacer.next, now + againMs)
  return sent.accepted
}
