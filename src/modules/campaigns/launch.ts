/** Launches a campaign after its checks: consent, channel, template, size, funds (behaviour: campaigns 2). */
import { isDeepStrictEqual } from 'node:util'
import type { Caller, Tenant } from '../../api/caller.ts'
import type { ErrorCode } from '../../api/errors.ts'
import { Problem } from '../../api/problem.ts'
import type { Campaign, CampaignCreation, CampaignLaunch } from '../../api/resources/campaign.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Funds } from '../billing/service.ts'
import { audienceSize } from './audience/audience.ts'
import { segmentSize } from './audience/size.ts'
import { type AdhocRecipients, type CampaignRow, covers, type Estimate, estimateOf, requireAction } from './campaign.ts'
import type { CampaignDeps } from './deps.ts'
import { changesTooFast, newCampaign } from './drafts.ts'
import { requireWithinLimit } from './messaging-limit.ts'
import { requireCampaign, lockCampaignOrThrow, campaignWithRecipients } from './queries.ts'
import { insertCampaign } from './repository.ts'
import type { StoreAnswer } from '../../platform/http/route.ts'
import { storeAndReturn, transition } from './transitions.ts'
import { type ChannelRow, isUp } from '../channels/service.ts'
import { requireTemplate } from '../messages/service.ts'
import { type Db, transact } from '../../platform/database/sql.ts'

const launchAttemptsMax = 5

export async function launchCampaign(
  deps: CampaignDeps,
  sql: Db,
  caller: Caller,
  id: string,
  body: CampaignLaunch,
  storeAnswer: StoreAnswer<Campaign>,
): Promise<Campaign> {
  for (let attempt = 1; ; attempt++) {
    const found = await requireCampaign(sql, caller, id)
    requireAction(found, 'launch')
    const draft = { ...found, ...optionsOf(body) }
    // no transaction is open: the provider may be asked for a template
    const estimate = await checkedEstimate(deps, sql, caller, draft)
    const shown = await transact(sql, async (tx) => {
      await deps.accounts.requireUnsuspended(tx, caller.account_id)
      const before = await lockCampaignOrThrow(tx, caller, id)
      requireAction(before, 'launch')
      if (!isDeepStrictEqual(before, found)) return null
      return await storeAndReturn(
        tx,
        storeAnswer,
        await campaignWithRecipients(
          tx,
          await transition(tx, deps.platform, before, { ...optionsOf(body), ...launched(deps, before, estimate) }),
        ),
      )
    })
    if (shown === null && attempt === launchAttemptsMax) throw changesTooFast(id)
    if (shown === null) continue
    wake(deps)
    return shown
  }
}

/** In one transaction: nothing is stored if the launch is refused. */
export async function createLaunched(
  deps: CampaignDeps,
  sql: Db,
  caller: Caller,
  body: CampaignCreation,
  storeAnswer: StoreAnswer<Campaign>,
): Promise<Campaign> {
  const { row, adhoc, size } = await newCampaign(deps, sql, caller, body, true)
  const draft: CampaignRow = { ...row, allow_insufficient_funds: body.allow_insufficient_funds ?? false }
  const estimate = await checkedEstimate(deps, sql, caller, draft, { adhoc, size })
  const shown = await transact(sql, async (tx) => {
    await deps.accounts.requireUnsuspended(tx, caller.account_id)
    await insertCampaign(tx, draft, adhoc)
    return await storeAndReturn(
      tx,
      storeAnswer,
      await campaignWithRecipients(
        tx,
        await transition(tx, deps.platform, draft, launched(deps, draft, estimate)),
        adhoc,
      ),
    )
  })
  wake(deps)
  return shown
}

const optionsOf = ({ consent_declared, allow_insufficient_funds }: CampaignLaunch) => ({
  ...(consent_declared === undefined ? {} : { consent_declared }),
  allow_insufficient_funds: allow_insufficient_funds ?? false,
})

async function checkedEstimate(
  deps: CampaignDeps,
  sql: Db,
  caller: Caller,
  row: CampaignRow,
  known: KnownAudience = {},
): Promise<Estimate | null> {
  const { checks, estimate } = await launchChecks(deps, sql, caller, row, known)
  for (const check of checks) await check.require()
  return await estimate()
}

function launched({ platform: { clock } }: CampaignDeps, { send_at }: CampaignRow, estimate: Estimate | null) {
  const at = isoTime(clock.now())
  return {
    status: send_at !== null && send_at > at ? ('scheduled' as const) : ('queued' as const),
    launched_at: at,
    estimated_credits: estimate?.credits ?? null,
    estimated_wallet_micros: estimate?.wallet_micros ?? null,
  }
}

const wake = ({ platform }: CampaignDeps): void => platform.notify('campaign-snapshots', 'campaigns', 'fan-out')

export interface LaunchCheck {
  readonly code: ErrorCode
  /** Resolves to a sentence for rehearsals; throws the Problem that refuses the launch. */
  readonly require: () => Promise<string>
}

export interface LaunchChecks {
  readonly funds: Funds
  readonly checks: readonly LaunchCheck[]
  /** null for a segment, which is evaluated when sending starts. 404 as `audienceSize`. */
  readonly estimate: () => Promise<Estimate | null>
}

export interface KnownAudience {
  readonly adhoc?: AdhocRecipients | null
  readonly size?: number | null
}

export async function launchChecks(
  deps: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  row: CampaignRow,
  known: KnownAudience = {},
): Promise<LaunchChecks> {
  const { platform, billing, channels } = deps
  const channel = await channels.find(tenant, row.channel_id)
  const limit = platform.settings.campaign_recipient_limit
  const funds = await billing.fundsOf(sql, tenant, row.channel_type)
  let counted: Promise<number | null> | undefined
  const storedSize = async () =>
    known.size === undefined ? await audienceSize(deps, sql, tenant, row.audience, limit + 1) : known.size
  const sizeNow = () =>
    (counted ??= storedSize().then(async (size) => size ?? (await segmentSize(deps, sql, row, limit + 1))))
  const gone = async (): Promise<never> => {
    throw await channels.missing(sql, tenant, row.channel_id, 'channel')
  }
  const checks: LaunchCheck[] = [
    { code: 'consent_required', require: async () => requireConsent(row) },
    { code: 'channel_not_connected', require: async () => requireChannel(channel ?? (await gone())) },
    {
      code: 'template_not_approved',
      async require() {
        if (channel !== null) await requireTemplate(deps, channel, row.message)
        return row.message.type === 'template' ? 'The template is approved.' : 'The message needs no template.'
      },
    },
    {
      code: 'campaign_limit_exceeded',
      async require() {
        const size = await sizeNow()
        requireSize(size, limit)
        if (channel !== null) await requireWithinLimit(deps, sql, row, channel, { size, adhoc: known.adhoc })
        return size === null
          ? 'How many recipients there are takes longer to count than a launch waits; it is known once the segment is looked up.'
          : `Recipients: ${size} of the ${limit} that a campaign may have.`
      },
    },
    { code: 'insufficient_balance', require: async () => requireFunds(row, await sizeNow(), funds) },
  ]
  const estimate = async () => {
    const size = row.audience.type === 'segment' ? null : await sizeNow()
    return size === null ? null : estimateOf(size, funds)
  }
  return { funds, checks, estimate }
}

function requireConsent({ consent_declared }: CampaignRow): string {
  if (consent_declared) return 'It is declared that the recipients agreed to be contacted.'
  const problem = 'Declare with `consent_declared` true that the recipients agreed to be contacted.'
  throw new Problem('consent_required', problem, { param: 'consent_declared' })
}

function requireChannel(channel: ChannelRow): string {
  if (isUp(channel)) return `The channel ${channel.id} is active and connected.`
  throw new Problem(
    'channel_not_connected',
    `The channel ${channel.id} is ${channel.status === 'active' ? channel.connection_status : channel.status}. Launch once it is active and connected.`,
  )
}

function requireSize(size: number | null, limit: number): void {
  if (size === null || size <= limit) return
  throw new Problem(
    'campaign_limit_exceeded',
    `The audience has more than ${limit} recipients, which is the most that a campaign may have. Split it.`,
  )
}

/** If the size is unknown, funds for one message suffice. */
function requireFunds({ mode, allow_insufficient_funds }: CampaignRow, size: number | null, funds: Funds): string {
  if (mode === 'test') return 'Test mode costs nothing.'
  if (covers(size ?? 1, funds))
    return size === null
      ? 'Package credits or wallet cover a message.'
      : 'Package credits and wallet cover every recipient.'
  if (allow_insufficient_funds)
    return 'The campaign pauses when package credits and wallet run out, as its launch allowed.'
  const { credits, wallet_micros } = estimateOf(size ?? 1, funds)
  const lacking = wallet_micros - Math.max(0, funds.wallet_micros)
  throw new Problem(
    'insufficient_balance',
    `${size === null ? 'One message takes' : `${size} recipients take`} ${credits} package credits and ${wallet_micros} micro-USD; the wallet lacks ${lacking}. ` +
      'Top up, or launch with `allow_insufficient_funds` true: the campaign then pauses when they run out.',
  )
}
