/** Makes callback items storable: a bad one would block the others of its batch. */
import { limits } from '../../../api/limits.ts'
import { inboundTypes, messageTypes } from '../../../api/resources/channel.ts'
import { messageErrorCodes } from '../../../api/resources/message.ts'
import { storable } from '../../../lib/json.ts'
import type { InboundMessage, DeliveryReceipt, CallbackItem } from '../../../providers/provider.ts'
import { providerCodeOf } from '../message.ts'
import { validateInboundContent } from '../../../api/content/validate.ts'
import type { Detail } from '../../../api/errors.ts'

const knownTypes: ReadonlySet<string> = new Set([...messageTypes, ...inboundTypes])

/** Content of an unknown type or shape becomes `unsupported` (behaviour: messages 10.2). */
export function sanitizeItem(item: CallbackItem): CallbackItem {
  const clean = storable(item, limits.json_depth) as CallbackItem
  if (clean.kind === 'delivery_receipt')
    return 'error' in clean ? { ...clean, error: sanitizeError(clean.error) } : clean
  if (clean.kind !== 'inbound') return clean
  const { type } = clean
  const complete = { ...clean, profile_name: clean.profile_name ?? null, reply_to: clean.reply_to ?? null }
  const content = knownTypes.has(type)
    ? validContent(type, storable((item as InboundMessage).content, limits.json_depth))
    : null
  if (content !== null) return { ...complete, content }
  const { media: _, part: __, button_index: ___, ...unreadable } = complete
  return { ...unreadable, type: 'unsupported', content: { provider_type: type } }
}

function sanitizeError(error: unknown): NonNullable<DeliveryReceipt['error']> {
  const { code, message, provider_code } = (typeof error === 'object' && error !== null ? error : {}) as Record<
    string,
    unknown
  >
  return {
    code: messageErrorCodes.find((known) => known === code) ?? 'provider_error',
    message: typeof message === 'string' ? message : 'The provider could not deliver the message.',
    provider_code: providerCodeOf(provider_code),
  }
}

/** Removing one field may reveal nested failures. */
const roundsMax = 4
/** The only limit of inbound texts. */
const textMax = 65_536
/** Links to files are set later. */
const addressToCome = 'https://localhost/'

/** Removes invalid optional fields and cuts long texts. Null if that is not enough. */
function validContent(type: string, content: unknown): unknown {
  if (typeof content !== 'object' || content === null) return null
  if (failuresOf(type, content).length === 0) return content
  const fixed: unknown = structuredClone(content)
  for (let round = 0; round < roundsMax; round++) {
    const failures = failuresOf(type, fixed)
    if (failures.length === 0) return fixed
    for (const failure of failures) if (!fix(fixed, failure)) return null
  }
  return failuresOf(type, fixed).length === 0 ? fixed : null
}

function failuresOf(type: string, content: unknown): readonly Detail[] {
  const files = type === 'attachments' && Array.isArray(content)
  return validateInboundContent(
    type,
    files ? content.map((item: unknown) => (isHolder(item) ? { ...item, url: addressToCome } : item)) : content,
    { path: '' },
  )
}

type Holder = Record<string, unknown>
const isHolder = (value: unknown): value is Holder => typeof value === 'object' && value !== null

/** False if the field is required. Items of lists stay, because others are known by position. */
function fix(content: unknown, { param, code }: Detail): boolean {
  const path = [...param.matchAll(/[^.[\]]+/g)].map(([key]) => key)
  const last = path.pop()
  if (last === undefined || code === 'missing_field') return false
  const holder = path.reduce<unknown>((inner, key) => (isHolder(inner) ? inner[key] : undefined), content)
  if (!isHolder(holder) || Array.isArray(holder)) return false
  const value = holder[last]
  if (code === 'too_long' && typeof value === 'string') holder[last] = value.slice(0, textMax).toWellFormed()
  else delete holder[last]
  return true
}
