/** One step of a campaign: ends or pauses it, or sends within window and throttle. */
import { limits } from '../../../api/limits.ts'
import { isoTime } from '../../../lib/clock.ts'
import { approximateLength } from '../../../lib/json-size.ts'
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

/**
 * Messages in flight are limited to this many seconds of the rate: a pause takes effect soon even with a slow provider.
 */
const inFlightSeconds = 10
const inFlightFloor = 100
/** Of rendered messages that wait to be accepted. */
const charactersMax = limits.memory_characters_max / 2
const retryMs = 1000
/** The rules of a time zone may change. */
const waitMaxMs = 3600_000

export const inFlightMax = (per_second: number): number =>
  Math.max(inFlightFloor, Math.ceil(per_second * inFlightSeconds))

export async function advance(
  sending: SenderState,
  campaign: ActiveCampaign,
  row: CampaignRow,
  progress: Progress,
): Promise<number> {
  const timezones = (await isReadyToSend(sending, campaign, row, progress)) ? await openTimezones(sending, row) : null
  // until its demand is known it keeps its previous share of the channel
  campaign.demand = timezones === null ? null : { channel_id: row.channel_id, per_second: row.throttle_per_second }
  if (timezones === null) return 0
  return await sendDue(sending, campaign, row, { timezones, in_flight: await countedInFlight(sending, row, progress) })
}

async function isReadyToSend(
  sending: SenderState,
  campaign: ActiveCampaign,
  row: CampaignRow,
  progress: Progress,
): Promise<boolean> {
  const { platform, channels } = sending.deps
  if (row.status === 'cancelled' || row.status === 'failed') {
    if (await cancelRecipients(sending.deps, row, row.id, cancelBudgetMs)) await deleteJob(platform.pool, row)
    else if (!progress.unsent) campaign.backOff(platform.clock.elapsed(), progress.in_flight)
    return false
  }
  if (row.status !== 'sending') return false
  if (!progress.unsent) {
    if (progress.in_flight > 0 || !(await completeIfDone(platform, row, row.id)))
      campaign.backOff(platform.clock.elapsed(), progress.in_flight)
    return false
  }
  const blocker = await findBlocker(sending.deps, row, await channels.find(row, row.channel_id))
  if (blocker === null) return true
  await applyBlocker(sending, campaign, row, blocker)
  return false
}

/** Without messages that wait for a window in their recipient's time zone: they block nobody. */
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

async function sendDue(
  sending: SenderState,
  campaign: ActiveCampaign,
  row: CampaignRow,
  { timezones, in_flight }: { readonly timezones: readonly string[]; readonly in_flight: number },
): Promise<number> {
  const { platform, channels } = sending.deps
  const now = platform.clock.elapsed()
  const channel = await channels.find(row, row.channel_id)
  if (channel === null) return 0
  const per_second = shareOf(sending.active.values(), campaign, channels.rateOf(channel))
  const capacity = inFlightMax(per_second) - in_flight
  if (capacity <= 0) campaign.backOff(now, in_flight)
  const paced = Math.min(capacity, campaign.pacer.due(now, per_second))
  if (paced <= 0) return 0
  const length = approximateLength(row.message)
  const due = Math.min(paced, Math.max(1, Math.floor(limits.claim_bytes_max / length)))
  // messages of all campaigns at once; this campaign continues with the next poll
  const characters = due * length
  if (sending.characters > 0 && sending.characters + characters > charactersMax) return 0
  sending.characters += characters
  try {
    return await sendWithinLimit(sending, campaign, row, { timezones, due, per_second, channel })
  } finally {
    sending.characters -= characters
  }
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

/** '': the campaign's time zone. null: no window is open, and the job is postponed. */
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
  campaign.next_poll_ms = sent.unavailable || deferred.isFull ? now + retryMs : Math.min(pacer.next, now + retryMs)
  return sent.accepted
}
