/** What is checked when a campaign is saved, and what is kept of it: everything that the body can be told is told in one round (behaviour: campaigns 3). */
import type { Tenant } from '../../../api/caller.ts'
import type { Detail } from '../../../api/errors.ts'
import { throwFailures } from '../../../api/problem.ts'
import {
  campaignLimits,
  type CampaignCreation,
  type CampaignUpdate,
  type ScheduleRequest,
} from '../../../api/resources/campaign.ts'
import { parseStrictDateTime } from '../../../api/times.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { isVariableTag, keptMessage, messageFailures, requireTemplate, tooLarge } from '../../messages/service.ts'
import { scheduleOf } from '../present.ts'
import { audienceFailures, audienceSize, keptAudience, requireAudience } from './audience.ts'
import type { CampaignDeps } from '../deps.ts'
import { estimateOf } from './estimates.ts'
import type { AdhocRecipients, CampaignRow } from '../rows.ts'

/** What a body sets of a campaign. */
export type DraftFields = Pick<
  CampaignRow,
  | 'name'
  | 'channel_id'
  | 'channel_type'
  | 'audience'
  | 'message'
  | 'merge_fallbacks'
  | 'require_opt_in'
  | 'consent_declared'
  | 'send_at'
  | 'timezone'
  | 'window_start'
  | 'window_end'
  | 'recipient_timezone'
  | 'throttle_per_second'
  | 'estimated_credits'
  | 'estimated_wallet_micros'
>

export interface Draft {
  readonly fields: DraftFields
  readonly adhoc: AdhocRecipients | null
  /** As `audienceSize` tells it, up to one more than a campaign may have. */
  readonly size: number | null
}

/** What a schema cannot say about a campaign's body. */
export const campaignFailures = (body: CampaignUpdate): Detail[] => [
  ...(typeof body.name === 'string' && body.name.trim() === ''
    ? [{ param: 'name', code: 'too_short' as const, message: '`name` must not be empty.' }]
    : []),
  ...audienceFailures(body.audience),
]

/** The body that would make this draft again. */
export const bodyOf = (row: CampaignRow, adhoc: AdhocRecipients | null): CampaignCreation => ({
  name: row.name,
  channel: row.channel_id,
  audience: { ...row.audience, ...(adhoc === null ? {} : { recipients: [...adhoc] }) },
  message: row.message,
  merge_fallbacks: row.merge_fallbacks,
  require_opt_in: row.require_opt_in,
  consent_declared: row.consent_declared,
  schedule: scheduleOf(row),
  throttle_per_second: row.throttle_per_second,
})

/** Checks the body of a campaign. Throws the Problem that refuses it. `launches`: its template is left to the checks of the launch, of which others come first. */
export async function checkDraft(
  deps: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  body: CampaignCreation,
  launches = false,
): Promise<Draft> {
  const failures = campaignFailures(body)
  throwFailures(failures)
  const channel = await deps.channels.find(tenant, body.channel)
  if (channel === null) throw await deps.channels.missing(sql, tenant, body.channel, 'channel')
  const message = keptMessage(body.message)
  throwFailures(tooLarge(message, body.merge_fallbacks ?? {}))
  const { audience, adhoc } = keptAudience(body.audience)
  const merge_fallbacks = { ...body.merge_fallbacks }
  const variables = new Set((adhoc ?? []).flatMap((recipient) => Object.keys(recipient.variables ?? {})))
  const isOwnTag = (name: string): boolean => isVariableTag(name, variables)
  throwFailures(
    await messageFailures(deps, sql, tenant, { channel, message, merge_fallbacks, isOwnTag, sender: 'campaign' }),
  )
  await requireAudience(deps, sql, tenant, audience)
  if (!launches) await requireTemplate(deps, channel, message)
  const size = await audienceSize(deps, sql, tenant, audience, deps.platform.settings.campaign_recipient_limit + 1)
  const fields: DraftFields = {
    name: body.name.trim(),
    channel_id: channel.id,
    channel_type: channel.type,
    audience,
    message,
    merge_fallbacks,
    require_opt_in: body.require_opt_in ?? false,
    consent_declared: body.consent_declared ?? false,
    ...(await scheduleFields(deps, sql, tenant, body.schedule ?? {})),
    throttle_per_second: body.throttle_per_second ?? campaignLimits.throttle_default,
    ...(await estimateFields(deps, sql, tenant, channel.type, size)),
  }
  return { fields, adhoc, size }
}

async function estimateFields(
  { billing }: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  channel_type: string,
  size: number | null,
) {
  const estimate = size === null ? null : estimateOf(size, await billing.fundsOf(sql, tenant, channel_type))
  return { estimated_credits: estimate?.credits ?? null, estimated_wallet_micros: estimate?.wallet_micros ?? null }
}

async function scheduleFields(
  { accounts }: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  { send_at, timezone, send_window, recipient_timezone }: ScheduleRequest,
) {
  return {
    send_at: typeof send_at === 'string' ? parseStrictDateTime(send_at) : null,
    timezone: timezone ?? (await accounts.timezoneOf(sql, tenant.account_id)),
    window_start: send_window?.start ?? null,
    window_end: send_window?.end ?? null,
    recipient_timezone: recipient_timezone ?? false,
  }
}
