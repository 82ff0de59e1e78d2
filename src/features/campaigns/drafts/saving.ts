/** What is checked when a campaign is saved, and what is kept of it: everything that the body can be told is told in one round (behaviour: campaigns 3). */
import type { Tenant } from '../../../contract/caller.ts'
import { validateContent } from '../../../contract/content/validate.ts'
import type { Detail } from '../../../contract/errors.ts'
import { invalid, missing, Problem, throwFailures } from '../../../contract/problem.ts'
import { campaignLimits, type CampaignCreation, type CampaignMessage, type CampaignUpdate, type ScheduleRequest } from '../../../contract/resources/campaign.ts'
import { parseStrictDateTime } from '../../../contract/times.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { ChannelRow } from '../../channels/service.ts'
import { scheduleOf } from '../present.ts'
import { audienceFailures, audienceSize, keptAudience, requireAudience } from './audience.ts'
import type { CampaignDeps } from '../deps.ts'
import { estimateOf } from './estimates.ts'
import { attributeKeyOf, mapStrings, replaceTags, countTags, tagsOf, unknownTags } from './merge-tags.ts'
import type { AdhocRecipients, CampaignRow } from '../rows.ts'
import { requireTemplate } from './templates.ts'

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
  ...(typeof body.name === 'string' && body.name.trim() === '' ? [{ param: 'name', code: 'too_short' as const, message: '`name` must not be empty.' }] : []),
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
export async function checkDraft(deps: CampaignDeps, sql: Db, tenant: Tenant, body: CampaignCreation, launches = false): Promise<Draft> {
  const failures = campaignFailures(body)
  throwFailures(failures)
  const channel = await deps.channels.find(tenant, body.channel)
  if (channel === null) throw missing('channel', body.channel, 'channel')
  const message = keptMessage(body.message)
  throwFailures(tooLarge(message, body.merge_fallbacks ?? {}))
  const { audience, adhoc } = keptAudience(body.audience)
  const merge_fallbacks = { ...body.merge_fallbacks }
  await checkMessage(deps, sql, tenant, channel, message, merge_fallbacks, adhoc)
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

async function estimateFields({ billing }: CampaignDeps, sql: Db, tenant: Tenant, channel_type: string, size: number | null) {
  const estimate = size === null ? null : estimateOf(size, await billing.fundsOf(sql, tenant, channel_type))
  return { estimated_credits: estimate?.credits ?? null, estimated_wallet_micros: estimate?.wallet_micros ?? null }
}

/** `type` and its content alone: nothing else of a message is a campaign's to say. */
const keptMessage = (message: { readonly type: string } & Readonly<Record<string, unknown>>): CampaignMessage => ({
  type: message.type,
  ...(Object.hasOwn(message, message.type) && message.type !== 'type' ? { [message.type]: message[message.type] } : {}),
})

/** What every recipient's message is made of is bounded, so that making it never takes long. */
function tooLarge(message: CampaignMessage, fallbacks: Readonly<Record<string, string>>): Detail[] {
  const { message_length_max: most, message_tags_max: tags_max } = campaignLimits
  const failures = Object.entries({ message, merge_fallbacks: fallbacks })
    .filter(([, value]) => JSON.stringify(value).length > most)
    .map(([param]): Detail => ({ param, code: 'too_long', message: `\`${param}\` may have at most ${most} characters of JSON.` }))
  if (failures.length > 0 || countTags(message) <= tags_max) return failures
  return [{ param: 'message', code: 'too_many', message: `\`message\` may have at most ${tags_max} merge tags.` }]
}

async function checkMessage(
  { contacts }: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  channel: ChannelRow,
  message: CampaignMessage,
  fallbacks: Readonly<Record<string, string>>,
  adhoc: AdhocRecipients | null,
): Promise<void> {
  const { type } = message
  if (!channel.capabilities.includes(type)) {
    const has = `Its capabilities are ${channel.capabilities.join(', ')}.`
    throw new Problem('unsupported_message_type', `The channel ${channel.id} cannot send ${JSON.stringify(type.slice(0, 80))}. ${has}`, {
      param: 'message.type',
    })
  }
  if (channel.type === 'whatsapp' && channel.mode === 'live' && type !== 'template')
    throw invalid(
      'message.type',
      'invalid_value',
      'A live whatsapp campaign must send a `template`: recipients are written to outside of their service window.',
    )
  const asked = [...tagsOf(message, 'message').map(({ name }) => name), ...Object.keys(fallbacks)]
  const keys = asked.map(attributeKeyOf).filter((key) => key !== null)
  const known = {
    attributes: await contacts.definedAttributes(sql, tenant, keys),
    variables: new Set((adhoc ?? []).flatMap(({ variables }) => Object.keys(variables ?? {}))),
  }
  const failures = [...contentFailures(type, message[type], channel.type), ...unknownTags(message, fallbacks, known)]
  throwFailures(failures)
}

/**
 * Checks content that holds merge tags: a string with tags is wrong only where it stays so whether they are filled in with a word or with an address. What a
 * recipient's own values make of it is checked for each of them.
 */
function contentFailures(type: string, content: unknown, channel_type: string): Detail[] {
  const path = `message.${type}`
  const check = (value: unknown) => validateContent(type, value, { channel_type, path })
  const tagged = new Set(tagsOf(content, path).map(({ param }) => param))
  const failures = check(content)
  if (tagged.size === 0) return [...failures]
  const filled = ['x', 'https://example.com/x'].map(
    (text) => new Set(check(mapStrings(content, path, (string) => replaceTags(string, () => text))).map(({ param }) => param)),
  )
  const stays = ({ param }: Detail) => filled.every((params) => params.has(param))
  return failures.filter((failure) => !tagged.has(failure.param) || stays(failure))
}

async function scheduleFields({ accounts }: CampaignDeps, sql: Db, tenant: Tenant, { send_at, timezone, send_window, recipient_timezone }: ScheduleRequest) {
  return {
    send_at: typeof send_at === 'string' ? parseStrictDateTime(send_at) : null,
    timezone: timezone ?? (await accounts.timezoneOf(sql, tenant.account_id)),
    window_start: send_window?.start ?? null,
    window_end: send_window?.end ?? null,
    recipient_timezone: recipient_timezone ?? false,
  }
}
