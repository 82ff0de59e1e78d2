/** Predicts a launch or the rest of a running campaign. Nothing is stored, sent or charged (behaviour: campaigns 7). */
import type { Readable } from 'node:stream'
import type { Caller } from '../../../api/caller.ts'
import { Problem } from '../../../api/problem.ts'
import type { CampaignRehearsal } from '../../../api/resources/campaign.ts'
import { isoTime } from '../../../lib/clock.ts'
import { TimeSlices } from '../../../lib/concurrency.ts'
import { isMarketing } from '../audience/audience.ts'
import { type CampaignRow, estimateOf, requireAction } from '../campaign.ts'
import type { CampaignDeps } from '../deps.ts'
import { type LaunchCheck, launchChecks } from '../launch.ts'
import { requireCampaign } from '../queries.ts'
import { rehearsedAudience, type RehearsedAudience } from './audience.ts'
import { expectedTimes, type ZoneCount } from './expected-times.ts'
import { type OutcomePredictor, outcomePredictor, type Outcome } from './outcomes.ts'
import { type CsvColumn, type CsvPage, csvStream, pageWaitMs } from '../../contacts/service.ts'
import type { Transaction } from '../../../platform/database/sql.ts'

/** Every recipient is checked up to this size; larger audiences are only counted. */
const walkedMax = 100_000
const samplesWanted = 3

export interface RehearsalSubject {
  readonly row: CampaignRow
  readonly predictor: OutcomePredictor
  readonly audience: RehearsedAudience
}

export const narrow = 'Rehearse a smaller audience, or a message with fewer merge tags.'

/** 409 `campaign_state_invalid` once it has ended. */
async function rehearsedCampaign(deps: CampaignDeps, caller: Caller, id: string): Promise<RehearsalSubject> {
  const { pool } = deps.platform
  const row = await requireCampaign(pool, caller, id)
  requireAction(row, 'rehearse')
  const channel = await deps.channels.find(row, row.channel_id)
  const audience = await rehearsedAudience(deps, pool, row, await isMarketing(deps.channels, row))
  if (audience === null) return await rehearsedCampaign(deps, caller, id)
  return { row, predictor: outcomePredictor(deps, row, channel), audience }
}

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
      const slices = new TimeSlices(ended)
      const examined = await countOutcomes(platform.settings, sql, rehearsed, slices)
      return { ...examined, ...(await timesOf(deps, row, examined.tally, slices)) }
    },
  )
  // no transaction is open: the provider may be asked for the template
  const facts = await launchChecks(deps, platform.pool, caller, row, { size: tally.unpaid })
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

/** The API has no timestamps after the year 9999. */
const lastTimeMs = Date.UTC(10_000, 0) - 1

const shownTime = (ms: number | null): string | null => (ms === null || ms > lastTimeMs ? null : isoTime(ms))

async function countOutcomes(
  { campaign_recipient_limit: limit }: { readonly campaign_recipient_limit: number },
  sql: Transaction,
  rehearsed: RehearsalSubject,
  slices: TimeSlices,
): Promise<{ readonly tally: Tally; readonly samples: readonly Outcome[] }> {
  const { row, predictor, audience } = rehearsed
  const counted = new Tally()
  for (const { skip_reason, timezone, submitted, count } of await audience.count(sql, slices))
    counted.add(skip_reason, timezone, submitted, count)
  const ordered = row.recipient_timezone && row.window_start !== null
  const walks =
    (predictor.varies || ordered || row.snapshot_at !== null) && counted.recipients <= Math.min(limit, walkedMax)
  const walked = new Tally()
  const samples: Outcome[] = []
  for (let after: string | null = ''; after !== null && (walks || samples.length < samplesWanted);) {
    const chunk = await audience.chunk(sql, after, slices)
    for (const outcome of await predictor.outcomes(sql, chunk.rows, slices)) {
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
  slices: TimeSlices,
): Promise<{ starts_at: number | null; ends_at: number | null }> {
  const now = deps.platform.clock.now()
  const { window_start: start, window_end: end } = row
  const pace = {
    from: Math.max(now, row.send_at === null ? now : Date.parse(row.send_at)),
    per_second: await ownRate(deps, row),
    window: start === null || end === null ? null : { start, end },
    timezone: row.timezone,
  }
  const { starts_at, ends_at } = await expectedTimes(pace, tally.zones(), tally.order, slices)
  return tally.submitted === 0
    ? { starts_at, ends_at }
    : { starts_at: now, ends_at: tally.unpaidToSend === 0 ? now : ends_at }
}

/** Its throttle, limited by the channel's rate. */
async function ownRate({ channels }: CampaignDeps, row: CampaignRow): Promise<number> {
  const channel = await channels.find(row, row.channel_id)
  return Math.min(row.throttle_per_second, (channel === null ? null : channels.rateOf(channel)) ?? Infinity)
}

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

export class Tally {
  recipients = 0
  skipped = 0
  submitted = 0
  order: number[] | null = null
  readonly #reasons = new Map<string, number>()
  readonly #zones = new Map<string, { readonly index: number; count: number }>()

  /** `reason` null: sent. */
  add(reason: string | null, timezone: string, submitted: boolean, count: number): void {
    this.recipients += count
    if (reason !== null) {
      this.skipped += count
      this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + count)
    } else if (submitted) this.submitted += count
    else this.#zone(timezone).count += count
  }

  addOne(reason: string | null, timezone: string, submitted: boolean): void {
    this.add(reason, timezone, submitted, 1)
    this.order ??= []
    if (reason === null && !submitted) this.order.push(this.#zone(timezone).index)
  }

  get unpaid(): number {
    return this.recipients - this.submitted
  }

  get unpaidToSend(): number {
    return this.unpaid - this.skipped
  }

  reasons(): Record<string, number> {
    return Object.fromEntries([...this.#reasons].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  zones(): ZoneCount[] {
    return [...this.#zones].map(([timezone, { count }]) => ({ timezone, count }))
  }

  #zone(timezone: string): { readonly index: number; count: number } {
    let zone = this.#zones.get(timezone)
    if (zone === undefined) this.#zones.set(timezone, (zone = { index: this.#zones.size, count: 0 }))
    return zone
  }
}

/** In sending order. Each chunk is a read of its own, as in `recipientsCsv`. */
export async function rehearsalCsv(
  deps: CampaignDeps,
  caller: Caller,
  id: string,
  gone: AbortSignal,
): Promise<Readable> {
  const { reads } = deps.platform
  const request = { account_id: caller.account_id, gone, narrow }
  const { audience, predictor } = await rehearsedCampaign(deps, caller, id)
  const pageAfter = async (sql: Transaction, ended: AbortSignal, from: string): Promise<CsvPage<Outcome>> => {
    const slices = new TimeSlices(ended)
    const { rows, after } = await audience.chunk(sql, from, slices)
    const next =
      after === null
        ? null
        : () => reads.run({ ...request, wait_ms: pageWaitMs }, (own, over) => pageAfter(own, over, after))
    return { rows: await predictor.outcomes(sql, rows, slices), next }
  }
  return csvStream(columns, await reads.run(request, (sql, ended) => pageAfter(sql, ended, '')))
}

const columns: readonly CsvColumn<Outcome>[] = [
  { name: 'contact_id', cell: ({ candidate }) => candidate.contact_id ?? '' },
  { name: 'to', cell: ({ candidate }) => candidate.to },
  { name: 'name', cell: ({ candidate }) => candidate.name ?? '' },
  { name: 'outcome', cell: ({ reason }) => (reason === null ? 'send' : 'skip') },
  { name: 'reason', cell: ({ reason }) => reason ?? '' },
]
