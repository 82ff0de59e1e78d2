/** The checks of a launch, in their order: consent, channel, template, size, funds (behaviour: campaigns 2). A rehearsal tells all of them at once. */
import type { Tenant } from '../../../api/caller.ts'
import type { ErrorCode } from '../../../api/errors.ts'
import { Problem } from '../../../api/problem.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { isUp, type ChannelRow } from '../../channels/service.ts'
import type { Funds } from '../../billing/service.ts'
import { segmentSize } from '../audience/counting.ts'
import type { CampaignDeps } from '../deps.ts'
import { audienceSize } from '../drafts/audience.ts'
import { covers, estimateOf, type Estimate } from '../drafts/estimates.ts'
import { requireTemplate } from '../../messages/service.ts'
import { requireWithinLimit } from '../messaging-limit.ts'
import type { AdhocRecipients, CampaignRow } from '../rows.ts'

export interface LaunchCheck {
  readonly code: ErrorCode
  /** Resolves to a sentence on what holds; throws the Problem that refuses the launch. */
  readonly require: () => Promise<string>
}

export interface LaunchFacts {
  readonly funds: Funds
  readonly checks: readonly LaunchCheck[]
  /** null of a segment, which is looked up when sending starts. 404 as `audienceSize`. */
  readonly estimate: () => Promise<Estimate | null>
}

/** What the caller knows already. */
export interface Known {
  /** The recipients of an ad-hoc one, where they are not stored yet. */
  readonly adhoc?: AdhocRecipients | null
  /** As `audienceSize` tells it. */
  readonly size?: number | null
}

/** What a launch of this campaign looks at now, each when it is asked for: what refuses first is told, whatever is wrong with the rest. */
export async function launchFacts(
  deps: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  row: CampaignRow,
  known: Known = {},
): Promise<LaunchFacts> {
  const { platform, billing, channels } = deps
  const channel = await channels.find(tenant, row.channel_id)
  const limit = platform.settings.campaign_recipient_limit
  const funds = await billing.fundsOf(sql, tenant, row.channel_type)
  let asked: Promise<number | null> | undefined
  const toldSize = async () =>
    known.size === undefined ? await audienceSize(deps, sql, tenant, row.audience, limit + 1) : known.size
  const sizeNow = () =>
    (asked ??= toldSize().then(async (size) => size ?? (await segmentSize(deps, sql, row, limit + 1))))
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

/** Of an audience whose size is not known it must be one message that is paid. */
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
