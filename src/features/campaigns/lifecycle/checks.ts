/** The checks of a launch, in their order: consent, channel, template, size, funds (behaviour: campaigns 2). A rehearsal tells all of them at once. */
import type { Tenant } from '../../../contract/caller.ts'
import type { ErrorCode } from '../../../contract/errors.ts'
import { missing, Problem } from '../../../contract/problem.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { isUp, type ChannelRow } from '../../channels/service.ts'
import type { Funds } from '../../billing/service.ts'
import type { CampaignDeps } from '../deps.ts'
import { audienceSize } from '../drafts/audience.ts'
import { covers, estimateOf, type Estimate } from '../drafts/estimates.ts'
import { requireTemplate } from '../drafts/templates.ts'
import { countToSend } from '../rehearsal/audience.ts'
import type { AdhocRecipients, CampaignRow } from '../rows.ts'

/** Recipients whom a live whatsapp channel may write to first in 24 hours, where its own limit is not known. */
const reachableDefault = 2000

export interface LaunchCheck {
  readonly code: ErrorCode
  /** What holds where it does not refuse. */
  readonly passed: string
  /** Throws the Problem that refuses the launch. */
  readonly require: () => Promise<void>
}

export interface LaunchFacts {
  readonly funds: Funds
  /** null: not known before the snapshot. */
  readonly estimate: Estimate | null
  readonly checks: readonly LaunchCheck[]
}

/** What the caller knows already. */
export interface Known {
  /** The recipients of an ad-hoc one, where they are not stored yet. */
  readonly adhoc?: AdhocRecipients | null
  /** As `audienceSize` tells it. */
  readonly size?: number | null
  /** Those of them who would be sent to. */
  readonly reached?: number
  /** `requireTemplate` was asked just now, and found nothing. */
  readonly template_checked?: boolean
}

/** What a launch of this campaign would look at now. */
export async function launchFacts(deps: CampaignDeps, sql: Db, tenant: Tenant, row: CampaignRow, known: Known = {}): Promise<LaunchFacts> {
  const { platform, billing, channels } = deps
  const channel = await channels.find(tenant, row.channel_id)
  const limit = platform.settings.campaign_recipient_limit
  const size = known.size === undefined ? await audienceSize(deps, sql, tenant, row.audience, limit + 1) : known.size
  const funds = await billing.fundsOf(sql, tenant, row.channel_type)
  const checks: LaunchCheck[] = [
    { code: 'consent_required', passed: 'It is declared that the recipients agreed to be contacted.', require: async () => requireConsent(row) },
    { code: 'channel_not_connected', passed: `The channel ${row.channel_id} is active and connected.`, require: async () => requireChannel(row, channel) },
    {
      code: 'template_not_approved',
      passed: row.message.type === 'template' ? 'The template is approved.' : 'The message needs no template.',
      require: async () => (channel === null || known.template_checked === true ? undefined : await requireTemplate(deps, channel, row.message)),
    },
    {
      code: 'campaign_limit_exceeded',
      passed: size === null ? 'How many recipients there are is known once the segment is looked up.' : `A campaign may have ${size} recipients.`,
      async require() {
        requireSize(size, limit)
        if (channel !== null && size !== null) await requireReachable(deps, sql, row, channel, size, known)
      },
    },
    {
      code: 'insufficient_balance',
      passed: fundsSuffice(row, size, funds),
      require: async () => requireFunds(row, size, funds),
    },
  ]
  return { funds, estimate: size === null ? null : estimateOf(size, funds), checks }
}

function requireConsent({ consent_declared }: CampaignRow): void {
  if (consent_declared) return
  const problem = 'Declare with `consent_declared` true that the recipients agreed to be contacted.'
  throw new Problem('consent_required', problem, { param: 'consent_declared' })
}

function requireChannel({ channel_id }: CampaignRow, channel: ChannelRow | null): void {
  if (channel === null) throw missing('channel', channel_id, 'channel')
  if (isUp(channel)) return
  throw new Problem(
    'channel_not_connected',
    `The channel ${channel.id} is ${channel.status === 'active' ? channel.connection_status : channel.status}. Launch once it is active and connected.`,
  )
}

function requireSize(size: number | null, limit: number): void {
  if (size === null || size <= limit) return
  throw new Problem('campaign_limit_exceeded', `The audience has more than ${limit} recipients, which is the most that a campaign may have. Split it.`)
}

/** Different recipients count, and those alone who would be sent to: they are counted where all of them together would be too many. */
async function requireReachable(deps: CampaignDeps, sql: Db, row: CampaignRow, channel: ChannelRow, size: number, known: Known): Promise<void> {
  const reachable = reachableOf(channel)
  if (reachable === null || size <= reachable) return
  const reached = known.reached ?? (await countToSend(deps, sql, row, known.adhoc))
  if (reached <= reachable) return
  throw new Problem(
    'campaign_limit_exceeded',
    `The campaign would go to ${reached} recipients, and the channel ${channel.id} may write to ${reachable} in 24 hours. Split it over several days.`,
  )
}

/** How many recipients a channel reaches in 24 hours; null: any number. */
export function reachableOf(channel: ChannelRow): number | null {
  if (channel.type !== 'whatsapp' || channel.mode === 'test') return null
  const limit = channel.settings['messaging_limit']
  return typeof limit === 'number' ? limit : reachableDefault
}

/** Of an audience whose size is not known it must be one message that is paid. */
function requireFunds({ allow_insufficient_funds }: CampaignRow, size: number | null, funds: Funds): void {
  if (allow_insufficient_funds || covers(size ?? 1, funds)) return
  const { credits, wallet_micros } = estimateOf(size ?? 1, funds)
  const lacking = wallet_micros - Math.max(0, funds.wallet_micros)
  throw new Problem(
    'insufficient_balance',
    `${size === null ? 'One message takes' : `${size} recipients take`} ${credits} package credits and ${wallet_micros} micro-USD; the wallet lacks ${lacking}. ` +
      'Top up, or launch with `allow_insufficient_funds` true: the campaign then pauses when they run out.',
  )
}

function fundsSuffice({ mode, allow_insufficient_funds }: CampaignRow, size: number | null, funds: Funds): string {
  if (mode === 'test') return 'Test mode costs nothing.'
  if (covers(size ?? 1, funds)) return size === null ? 'Package credits or wallet cover a message.' : 'Package credits and wallet cover every recipient.'
  return allow_insufficient_funds ? 'The campaign pauses when package credits and wallet run out, as its launch allowed.' : ''
}
