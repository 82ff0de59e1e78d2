/** The checks of a launch, in their order: consent, channel, template, size, funds (behaviour: campaigns 2). A rehearsal tells all of them at once. */
import type { Tenant } from '../../../contract/caller.ts'
import type { ErrorCode } from '../../../contract/errors.ts'
import { missing, Problem } from '../../../contract/problem.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { isUp, type ChannelRow } from '../../channels/service.ts'
import type { CampaignDeps } from '../deps.ts'
import { audienceSize } from '../drafts/audience.ts'
import { covers, estimateOf, type Estimate } from '../drafts/estimates.ts'
import { requireTemplate } from '../drafts/templates.ts'
import type { CampaignRow } from '../rows.ts'

/** Recipients whom a live whatsapp channel may write to first in 24 hours, where its own limit is not known. */
const reachableDefault = 2000

export interface LaunchCheck {
  readonly code: ErrorCode
  /** Throws the Problem that refuses the launch. */
  readonly require: () => Promise<void>
}

export interface LaunchFacts {
  readonly channel: ChannelRow
  /** null: not known before the snapshot. */
  readonly size: number | null
  readonly estimate: Estimate | null
  readonly checks: readonly LaunchCheck[]
}

/** What a launch of this campaign would look at now. `size`: of the audience, where the caller knows it already. */
export async function launchFacts(deps: CampaignDeps, sql: Db, tenant: Tenant, row: CampaignRow, size?: number): Promise<LaunchFacts> {
  const { platform, billing, channels } = deps
  const channel = await channels.find(tenant, row.channel_id)
  if (channel === null) throw missing('channel', row.channel_id, 'channel')
  const limit = platform.settings.campaign_recipient_limit
  const known = size ?? (await audienceSize(deps, sql, tenant, row.audience, limit + 1))
  const funds = await billing.fundsOf(sql, tenant, row.channel_type)
  const checks: LaunchCheck[] = [
    { code: 'consent_required', require: () => Promise.resolve(requireConsent(row)) },
    { code: 'channel_not_connected', require: () => Promise.resolve(requireChannel(channel)) },
    { code: 'template_not_approved', require: () => requireTemplate(deps, channel, row.message) },
    { code: 'campaign_limit_exceeded', require: () => Promise.resolve(requireSize(channel, known, limit)) },
    {
      code: 'insufficient_balance',
      require: () => Promise.resolve(requireFunds(row, covers(known ?? 1, funds))),
    },
  ]
  return { channel, size: known, estimate: known === null ? null : estimateOf(known, funds), checks }
}

function requireConsent({ consent_declared }: CampaignRow): void {
  if (consent_declared) return
  const problem = 'Declare with `consent_declared` true that the recipients agreed to be contacted.'
  throw new Problem('consent_required', problem, { param: 'consent_declared' })
}

function requireChannel(channel: ChannelRow): void {
  if (isUp(channel)) return
  throw new Problem(
    'channel_not_connected',
    `The channel ${channel.id} is ${channel.status === 'active' ? channel.connection_status : channel.status}. Launch once it is active and connected.`,
  )
}

function requireSize(channel: ChannelRow, size: number | null, limit: number): void {
  if (size === null) return
  if (size > limit)
    throw new Problem('campaign_limit_exceeded', `The audience has more than ${limit} recipients, which is the most that a campaign may have. Split it.`)
  const reachable = reachableOf(channel)
  if (reachable === null || size <= reachable) return
  throw new Problem(
    'campaign_limit_exceeded',
    `The audience has ${size} recipients, and the channel ${channel.id} may write to ${reachable} in 24 hours. Split it over several days.`,
  )
}

/** How many recipients a channel reaches in 24 hours; null: any number. */
function reachableOf(channel: ChannelRow): number | null {
  if (channel.type !== 'whatsapp' || channel.mode === 'test') return null
  const limit = channel.settings['messaging_limit']
  return typeof limit === 'number' ? limit : reachableDefault
}

function requireFunds({ allow_insufficient_funds }: CampaignRow, covered: boolean): void {
  if (covered || allow_insufficient_funds) return
  throw new Problem(
    'insufficient_balance',
    'Package credits and wallet do not cover every recipient. Top up, or launch with `allow_insufficient_funds` true: the campaign then pauses when they run out.',
  )
}
