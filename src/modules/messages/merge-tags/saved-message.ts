/** Checks messages with merge tags when a campaign or automation is saved (behaviour: campaigns 3; integrations 5). */
import type { Tenant } from '../../../api/caller.ts'
import { validateContent } from '../../../api/content/validate.ts'
import type { Detail } from '../../../api/errors.ts'
import { limits } from '../../../api/limits.ts'
import { Problem } from '../../../api/problem.ts'
import { messageTypes } from '../../../api/resources/channel.ts'
import { didYouMean } from '../../../lib/text.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { type ChannelRow, type ChannelService, isUp } from '../../channels/service.ts'
import type { ContactService } from '../../contacts/service.ts'
import { attributeKeyOf, countTags, isContactTag, mapStrings, replaceTags, tagsOf, unknownTags } from './tags.ts'

export type TaggedMessage = { readonly type: string } & Readonly<Record<string, unknown>>

export const typeAndContent = (message: TaggedMessage): TaggedMessage => ({
  type: message.type,
  ...(Object.hasOwn(message, message.type) && message.type !== 'type' ? { [message.type]: message[message.type] } : {}),
})

/** Paths of ignored fields (behaviour: conventions 4.4). */
export function ignoredOfMessage({ message }: Readonly<Record<string, unknown>>): string[] {
  if (typeof message !== 'object' || message === null) return []
  const { type, ...rest } = message as TaggedMessage
  return Object.keys(rest)
    .filter((field) => field !== type && !(messageTypes as readonly string[]).includes(field))
    .map((field) => `message.${field}`)
}

/** Limits the cost of rendering. */
export function tooLarge(message: TaggedMessage, fallbacks: Readonly<Record<string, string>>): Detail[] {
  const { tagged_message_length_max: most, message_tags_max: tags_max } = limits
  const failures = Object.entries({ message, merge_fallbacks: fallbacks })
    .filter(([, value]) => JSON.stringify(value).length > most)
    .map(([param]): Detail => ({
      param,
      code: 'too_long',
      message: `\`${param}\` may have at most ${most} characters of JSON.`,
    }))
  if (failures.length > 0 || countTags(message) <= tags_max) return failures
  return [{ param: 'message', code: 'too_many', message: `\`message\` may have at most ${tags_max} merge tags.` }]
}

export interface SavedMessage {
  readonly channel: ChannelRow
  readonly message: TaggedMessage
  readonly merge_fallbacks: Readonly<Record<string, string>>
  /** Whether the sender fills in a tag itself. */
  readonly isOwnTag: (name: string) => boolean
  /** Default: for campaigns. */
  readonly tagHint?: string
  readonly sender: 'campaign' | 'automation'
}

/** Throws `unsupported_message_type`. */
export async function messageFailures(
  { contacts }: { readonly contacts: ContactService },
  sql: Db,
  tenant: Tenant,
  { channel, message, merge_fallbacks, isOwnTag, tagHint, sender }: SavedMessage,
): Promise<Detail[]> {
  const { type } = message
  if (!channel.capabilities.includes(type)) {
    const has = `Its capabilities are ${channel.capabilities.join(', ')}.${didYouMean(type, channel.capabilities)}`
    throw new Problem(
      'unsupported_message_type',
      `The channel ${channel.id} cannot send ${JSON.stringify(type.slice(0, 80))}. ${has}`,
      {
        param: 'message.type',
      },
    )
  }
  if (channel.type === 'whatsapp' && channel.mode === 'live' && type !== 'template') {
    const why = 'recipients are written to outside of their service window.'
    return [
      {
        param: 'message.type',
        code: 'invalid_value',
        message: `A live whatsapp ${sender} must send a \`template\`: ${why}`,
      },
    ]
  }
  const names = [...tagsOf(message, 'message').map(({ name }) => name), ...Object.keys(merge_fallbacks)]
  const keys = names.map(attributeKeyOf).filter((key) => key !== null)
  const attributes = await contacts.definedAttributes(sql, tenant, keys)
  const isKnown = (name: string): boolean => isContactTag(name, attributes) || isOwnTag(name)
  return [
    ...contentFailures(type, message[type], channel.type),
    ...unknownTags(message, merge_fallbacks, isKnown, tagHint),
  ]
}

/** A string with tags fails only if it fails with both a word and an address in their place. */
function contentFailures(type: string, content: unknown, channel_type: string): Detail[] {
  const path = `message.${type}`
  const check = (value: unknown) => validateContent(type, value, { channel_type, path })
  const tagged = new Set(tagsOf(content, path).map(({ param }) => param))
  const failures = check(content)
  if (tagged.size === 0) return [...failures]
  const filled = ['x', 'https://example.com/x'].map(
    (text) =>
      new Set(check(mapStrings(content, path, (string) => replaceTags(string, () => text))).map(({ param }) => param)),
  )
  const stays = ({ param }: Detail) => filled.every((params) => params.has(param))
  return failures.filter((failure) => !tagged.has(failure.param) || stays(failure))
}

/** 422 `template_not_approved`, or 400 `parameter_invalid` for parameters that do not match. */
export async function requireTemplate(
  { channels }: { readonly channels: ChannelService },
  channel: ChannelRow,
  message: TaggedMessage,
): Promise<void> {
  if (message.type !== 'template') return
  const content = message['template']
  const { refusal } = isUp(channel)
    ? await channels.templateVerdictAsked(channel, content)
    : await channels.templateVerdict(channel, content, false)
  if (refusal === null) return
  if (refusal.code === 'upstream_unavailable') throw refusal
  const param = `message.${refusal.param ?? 'template'}`
  if (refusal.param !== 'template.components') throw new Problem('template_not_approved', refusal.message, { param })
  throw Problem.invalid([{ param, code: 'invalid_value', message: refusal.message }])
}
