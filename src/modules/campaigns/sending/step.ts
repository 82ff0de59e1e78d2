/** One step of a campaign: what ends it or keeps it from going on, what its window and its throttle let go, and when it is looked at next. */
import { isoTime } from '../../../lib/clock.ts'
import type { CampaignRow } from '../campaign.ts'
import { cancelRecipients, cancelBudgetMs } from '../cancellation.ts'
import { deleteJob, postponeJob } from '../job-repository.ts'
import { countInFlight, type Progress, unsentTimezones } from '../recipient-repository.ts'
import type { ActiveCampaign, SenderState } from './active-campaign.ts'
import { shareOf } from './pacing.ts'
import type { NextRecipient } from './recipient-loader.ts'
import { windowOf } from './send-windows.ts'
import { type Blocker, findBlocker, sendTo } from './sender.ts'
import { completeIfDone, failFor, pauseFor } from '../transitions.ts'
import type { ChannelRow } from '../../channels/service.ts'

/** Submitted and not sent yet: more than so many seconds of its rate are not put before a provider that is slow, so that a pause is soon felt. */
const inFlightSeconds = 10
const inFlightFloor = 100
/** After what could not be decided just now. */
const retryMs = 1000
/** Longest wait that is not looked at again: a window's time zone may change its rules. */
const waitMaxMs = 3600_000

/** How many messages of a campaign may be under way at once. */
export const inFlightMax = (per_second: number): number =>
  Math.max(inFlightFloor, Math.ceil(per_second * inFlightSeconds))

/** Resolves to how many messages were accepted. */
export async function advance(
  sending: SenderState,
  campaign: ActiveCampaign,
  row: CampaignRow,
  progress: Progress,
): Promise<number> {
  const timezones = (await isReadyToSend(sending, campaign, row, progress)) ? await openTimezones(sending, row) : null
  // until it is known what it wants it counts among those that share its channel as it did before
  campaign.demand = timezones === null ? null : { channel_id: row.channel_id, per_second: row.throttle_per_second }
  if (timezones === null) return 0
  return await sendDue(sending, campaign, row, { timezones, in_flight: await countedInFlight(sending, row, progress) })
}

/** Whether somebody is still to be sent to, and nothing keeps the campaign from it; what follows for it where that is not so is done. */
async function isReadyToSend(
  sending: SenderState,
  campaign: ActiveCampaign,
  row: CampaignRow,
  progress: Progress,
): Promise<boolean> {
  const { platform, channels } = sending.deps
  if (row.status === 'cancelled' || row.status === 'failed') {
    if (await cancelRecipients(sending.deps, row, row.id, cancelBudgetMs)) await deleteJob(platform.pool, row)
    else if (!progress.unsent) campaign.rest(platform.clock.elapsed(), progress.in_flight)
    return false
  }
  if (row.status !== 'sending') return false
  if (!progress.unsent) {
    if (progress.in_flight > 0 || !(await completeIfDone(platform, row, row.id)))
      campaign.rest(platform.clock.elapsed(), progress.in_flight)
    return false
  }
  const blocker = await findBlocker(sending.deps, row, await channels.find(row, row.channel_id))
  if (blocker === null) return true
  await applyBlocker(sending, campaign, row, blocker)
  return false
}

/** Submitted and not sent yet, but for those that wait until the window of their own time zone opens: they keep nobody else waiting. */
async function countedInFlight(
  { deps: { platform }, windows }: SenderState,
  row: CampaignRow,
  { in_flight }: Progress,
): Promise<number> {
  const window = windowOf(row)
  if (window === null || !row.recipient_timezone || in_flight === 0) return in_flight
  const now = platform.clock.now()
  const counts = await countInFlight(platform.pool, row)
  return counts.reduce(
    (sum, { timezone, count }) =>
      windows.stateOf(window, timezone || row.timezone, row.timezone, now).open ? sum + count : sum,
    0,
  )
}

/** What its throttle and the room under way let go now. */
async function sendDue(
  sending: SenderState,
  campaign: ActiveCampaign,
  row: CampaignRow,
  { timezones, in_flight }: { readonly timezones: readonly string[]; readonly in_flight: number },
): Promise<number> {
  const { platform, channels } = sending.deps
  const now = platform.clock.elapsed()
  const channel = await channels.find(row, row.channel_id)
  // deleted at this moment: the next look finds it
  if (channel === null) return 0
  const per_second = shareOf(sending.active.values(), campaign, channels.rateOf(channel))
  const room = inFlightMax(per_second) - in_flight
  if (room <= 0) campaign.rest(now, in_flight)
  const due = Math.min(room, campaign.pacer.due(now, per_second))
  return due <= 0 ? 0 : await sendWithinLimit(sending, campaign, row, { timezones, due, per_second, channel })
}

async function applyBlocker(
  { deps: { platform } }: SenderState,
  campaign: ActiveCampaign,
  row: CampaignRow,
  blocker: Blocker,
): Promise<number> {
  if (blocker.kind === 'fail') await failFor(platform, row, row.id, blocker.reason)
  else if (blocker.kind === 'pause') await pauseFor(platform, row, row.id, blocker.reason)
  else campaign.next_poll_ms = platform.clock.elapsed() + retryMs
  return 0
}

/** The time zones of recipients ('' is the campaign's own) whose window is open now; null: none is, and the campaign is put off until the first one opens. */
async function openTimezones({ deps: { platform }, windows }: SenderState, row: CampaignRow): Promise<string[] | null> {
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

async function sendWithinLimit(
  sending: SenderState,
  campaign: ActiveCampaign,
  row: CampaignRow,
  { timezones, due, per_second, channel }: Portion,
): Promise<number> {
  const now = sending.deps.platform.clock.elapsed()
  const { deferred, unfunded } = campaign
  const wanted = { timezones, excluded: [...deferred.at(now), ...unfunded], limit: due }
  let accepted = 0
  const isWithin = await sending.limits.sendWithin(channel, sending.recipients, row, wanted, async (recipients) => {
    accepted = await sendBatch(sending, campaign, row, recipients, per_second)
  })
  return isWithin
    ? accepted
    : await applyBlocker(sending, campaign, row, { kind: 'pause', reason: 'messaging_limit_reached' })
}

async function sendBatch(
  sending: SenderState,
  campaign: ActiveCampaign,
  row: CampaignRow,
  recipients: readonly NextRecipient[],
  per_second: number,
): Promise<number> {
  const { platform } = sending.deps
  const now = platform.clock.elapsed()
  const { deferred, unfunded, pacer } = campaign
  if (recipients.length === 0) {
    if (unfunded.size > 0)
      return await applyBlocker(sending, campaign, row, { kind: 'pause', reason: 'insufficient_balance' })
    campaign.next_poll_ms = deferred.next === Infinity ? now + retryMs : deferred.next
    return 0
  }
  const sent = await sendTo(sending.deps, row, recipients)
  for (const n of sent.unfunded) unfunded.add(n)
  pacer.sent(sent.accepted, per_second)
  deferred.tried(
    sent.again,
    recipients.map(({ recipient }) => recipient.n).filter((n) => !sent.again.includes(n)),
    now,
  )
  if (sent.pause !== null) await pauseFor(platform, row, row.id, sent.pause)
  // its share may grow before its next message is due
  campaign.next_poll_ms = sent.unavailable || deferred.isFull ? now + retryMs : Math.min(pacer.next, now + retryMs)
  return sent.accepted
}
