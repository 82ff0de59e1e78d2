/** A rehearsal: what a launch would do now, or what a campaign on its way would still do. Nothing is stored, sent or charged (behaviour: campaigns 7). */
import type { Caller } from '../../../api/caller.ts'
import { Problem } from '../../../api/problem.ts'
import type { CampaignRehearsal } from '../../../api/resources/campaign.ts'
import { isoTime } from '../../../lib/clock.ts'
import { Turns } from '../../../lib/turns.ts'
import type { Transaction } from '../../../platform/database/sql.ts'
import { isMarketing } from '../audience/source.ts'
import type { CampaignDeps } from '../deps.ts'
import { estimateOf } from '../drafts/estimates.ts'
import { launchFacts, type LaunchCheck } from '../lifecycle/checks.ts'
import { existing } from '../reading.ts'
import type { CampaignRow } from '../rows.ts'
import { requireAction } from '../states.ts'
import { rehearsedAudience, type RehearsedAudience } from './audience.ts'
import { expectedTimes } from './expected-times.ts'
import { judgeOf, type Judge, type Outcome } from './outcomes.ts'
import { Tally } from './tally.ts'

/** Up to so many recipients each is looked at; of a larger audience only what the database can count. */
const walkedMax = 100_000
const samplesWanted = 3

export interface Rehearsed {
  readonly row: CampaignRow
  readonly judge: Judge
  readonly audience: RehearsedAudience
}

export const narrow = 'Rehearse a smaller audience, or a message with fewer merge tags.'

/** What a rehearsal of this campaign looks at. 404 `resource_missing`; 409 `campaign_state_invalid` once it is finished. */
export async function rehearsedCampaign(deps: CampaignDeps, caller: Caller, id: string): Promise<Rehearsed> {
  const { pool } = deps.platform
  const row = await existing(pool, caller, id)
  requireAction(row, 'rehearse')
  const channel = await deps.channels.find(row, row.channel_id)
  const audience = await rehearsedAudience(deps, pool, row, await isMarketing(deps.channels, row))
  // its snapshot was completed meanwhile: the row, read again, says so
  if (audience === null) return await rehearsedCampaign(deps, caller, id)
  return { row, judge: judgeOf(deps, row, channel), audience }
}

/** `gone` aborts when nobody waits for the answer any more. */
export async function rehearse(
  deps: CampaignDeps,
  caller: Caller,
  id: string,
  gone: AbortSignal,
): Promise<CampaignRehearsal> {
  const { platform } = deps
  const rehearsed = await rehearsedCampaign(deps, caller, id)
  const { row } = rehearsed
  const { tally, samples, starts_at, ends_at } = await platform.reads.run(
    { account_id: caller.account_id, gone, narrow },
    async (sql, ended) => {
      const turns = new Turns(ended)
      const looked = await look(platform.settings, sql, rehearsed, turns)
      return { ...looked, ...(await timesOf(deps, row, looked.tally, turns)) }
    },
  )
  // a provider may be asked for the template here, so no transaction is open
  const facts = await launchFacts(deps, platform.pool, caller, row, { size: tally.unpaid })
  const { credits, wallet_micros } = estimateOf(tally.unpaidToSend, facts.funds)
  return {
    object: 'campaign_rehearsal',
    campaign_id: row.id,
    recipients_count: tally.recipients,
    would_send: tally.recipients - tally.skipped,
    would_skip: tally.reasons(),
    cost: { package_credits: credits, wallet_micros },
    starts_at: shownTime(starts_at),
    ends_at: shownTime(ends_at),
    checks: [...stateCheck(row), ...(await Promise.all(facts.checks.map(checked)))],
    samples: samples.map(({ candidate, message }) => ({ to: candidate.to, message: message! })),
  }
}

/** The end of the year 9999: what lies behind it is no time stamp of the API. */
const lastTimeMs = Date.UTC(10_000, 0) - 1

const shownTime = (ms: number | null): string | null => (ms === null || ms > lastTimeMs ? null : isoTime(ms))

interface Looked {
  readonly tally: Tally
  readonly samples: readonly Outcome[]
}

/** Counts in the database first; then looks at each recipient as far as that tells more. */
async function look(
  { campaign_recipient_limit: limit }: { readonly campaign_recipient_limit: number },
  sql: Transaction,
  rehearsed: Rehearsed,
  turns: Turns,
): Promise<Looked> {
  const { row, judge, audience } = rehearsed
  const counted = new Tally()
  for (const { skip_reason, timezone, submitted, count } of await audience.count(sql, turns))
    counted.add(skip_reason, timezone, submitted, count)
  const ordered = row.recipient_timezone && row.window_start !== null
  const walks =
    (judge.varies || ordered || row.snapshot_at !== null) && counted.recipients <= Math.min(limit, walkedMax)
  const walked = new Tally()
  const samples: Outcome[] = []
  for (let after: string | null = ''; after !== null && (walks || samples.length < samplesWanted);) {
    const chunk = await audience.chunk(sql, after, turns)
    for (const outcome of await judge.outcomes(sql, chunk.rows, turns)) {
      const { candidate, reason, message } = outcome
      if (walks) walked.addOne(reason, candidate.timezone, candidate.submitted)
      if (message !== null && samples.length < samplesWanted) samples.push(outcome)
    }
    after = chunk.after
  }
  return { tally: walks ? walked : counted, samples }
}

async function timesOf(
  deps: CampaignDeps,
  row: CampaignRow,
  tally: Tally,
  turns: Turns,
): Promise<{ starts_at: number | null; ends_at: number | null }> {
  const now = deps.platform.clock.now()
  const { window_start: start, window_end: end } = row
  const pace = {
    from: Math.max(now, row.send_at === null ? now : Date.parse(row.send_at)),
    per_second: await ownRate(deps, row),
    window: start === null || end === null ? null : { start, end },
    timezone: row.timezone,
  }
  const { starts_at, ends_at } = await expectedTimes(pace, tally.zones(), tally.order, turns)
  // what is on its way already goes out at once
  return tally.submitted === 0
    ? { starts_at, ends_at }
    : { starts_at: now, ends_at: tally.unpaidToSend === 0 ? now : ends_at }
}

/** Messages a second of a campaign by itself: its throttle, and no more than its channel's own rate. */
async function ownRate({ channels }: CampaignDeps, row: CampaignRow): Promise<number> {
  const channel = await channels.find(row, row.channel_id)
  return Math.min(row.throttle_per_second, (channel === null ? null : channels.rateOf(channel)) ?? Infinity)
}

/** Left out once the campaign is launched. */
const stateCheck = ({ status }: CampaignRow) =>
  status === 'draft'
    ? [{ code: 'campaign_state_invalid', ok: true, message: 'The campaign is a draft, which can be launched.' }]
    : []

async function checked({ code, require }: LaunchCheck) {
  try {
    return { code, ok: true, message: await require() }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { code, ok: false, message: error.message }
  }
}
