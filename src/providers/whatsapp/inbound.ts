/** Inbound WhatsApp messages; unknown types become `unsupported`. */
import type { InboundMessage } from '../provider.ts'
import { graphErrorOf, idAt, objectAt, objectsAt, textAt } from './api.ts'
import { isObject, type Fields } from '../../lib/json.ts'

type Read = Pick<InboundMessage, 'type' | 'content' | 'media'>
type Reader = (message: Fields) => Read | null

const fileTypes = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const

const readers: Readonly<Record<string, Reader>> = {
  text: ({ text }) => (isObject(text) ? { type: 'text', content: { body: textAt(text, 'body') ?? '' } } : null),
  ...Object.fromEntries(fileTypes.map((kind) => [kind, (message: Fields) => fileOf(kind, objectAt(message, kind))])),
  location: ({ location }) => (isObject(location) ? { type: 'location', content: placeOf(location) } : null),
  contacts: ({ contacts }) => (Array.isArray(contacts) ? { type: 'contacts', content: contacts } : null),
  button: ({ button }) => (isObject(button) ? buttonReply(textAt(button, 'payload'), textAt(button, 'text')) : null),
  interactive: ({ interactive }) => (isObject(interactive) ? answerOf(interactive) : null),
  order: ({ order }) => (isObject(order) ? orderOf(order) : null),
  reaction: ({ reaction }) =>
    isObject(reaction)
      ? { type: 'reaction', content: { message_id: null, emoji: textAt(reaction, 'emoji') || null } }
      : null,
}

/** E.164 number or business-scoped id; null if neither is given. */
export function partyOf(number: string | undefined, scoped: string | undefined): string | null {
  const digits = number?.replace(/^\+/, '')
  if (digits !== undefined && /^[1-9]\d{5,14}$/.test(digits)) return `+${digits}`
  return scoped !== undefined && /^[A-Z]{2}\.[A-Za-z0-9.]{1,128}$/.test(scoped) ? scoped : null
}

/** null without sender or id. `profiles`: the `contacts` of the change. */
export function inboundOf(message: Fields, profiles: readonly Fields[]): InboundMessage | null {
  const [id, number, scoped] = [idAt(message, 'id'), textAt(message, 'from'), textAt(message, 'from_user_id')]
  const profile = profiles.find(
    (one) =>
      (number !== undefined && textAt(one, 'wa_id') === number) ||
      (scoped !== undefined && textAt(one, 'user_id') === scoped),
  )
  const alone = profiles.length === 1 ? profiles[0] : undefined
  const from = partyOf(number, scoped ?? textAt(profile ?? alone ?? {}, 'user_id'))
  if (id === undefined || from === null) return null
  const kind = textAt(message, 'type') ?? ''
  const reader = Object.hasOwn(readers, kind) ? readers[kind] : undefined
  const { type, content, media } = reader?.(message) ?? unsupported(kind, message)
  const referral = objectAt(message, 'referral')
  return {
    kind: 'inbound',
    provider_id: id,
    from,
    profile_name: textAt(objectAt(profile ?? alone ?? {}, 'profile') ?? {}, 'name') ?? null,
    type,
    content: referral === undefined ? content : withReferral(content, referral),
    reply_to:
      (kind === 'reaction'
        ? textAt(objectAt(message, 'reaction') ?? {}, 'message_id')
        : textAt(objectAt(message, 'context') ?? {}, 'id')) ?? null,
    ...(media === undefined ? {} : { media }),
  }
}

function withReferral(content: unknown, referral: Fields): unknown {
  if (Array.isArray(content))
    return content.map((item: unknown, index) => (index === 0 && isObject(item) ? { ...item, referral } : item))
  return isObject(content) ? { ...content, referral } : content
}

function fileOf(kind: (typeof fileTypes)[number], file: Fields | undefined): Read | null {
  const id = file === undefined ? undefined : idAt(file, 'id')
  if (file === undefined || id === undefined) return null
  const words = Object.fromEntries(
    ['mime_type', 'filename', 'caption', 'sha256'].flatMap((key) =>
      textAt(file, key) === undefined ? [] : [[key, textAt(file, key)]],
    ),
  )
  const flags = Object.fromEntries(
    ['voice', 'animated'].flatMap((key) => (typeof file[key] === 'boolean' ? [[key, file[key]]] : [])),
  )
  const item = {
    type: kind === 'voice' ? 'audio' : kind,
    ...words,
    ...(kind === 'voice' ? { voice: true } : {}),
    ...flags,
  }
  return { type: 'attachments', content: [item], media: [{ index: 0, reference: { id } }] }
}

function answerOf(interactive: Fields): Read | null {
  const kind = textAt(interactive, 'type') ?? ''
  const answer = objectAt(interactive, kind)
  if (answer === undefined) return null
  const [id, title] = [textAt(answer, 'id') ?? '', textAt(answer, 'title') ?? '']
  if (kind === 'button_reply') return buttonReply(id, title)
  if (kind === 'list_reply')
    return { type: 'list_reply', content: { id, title, description: textAt(answer, 'description') ?? null } }
  if (kind !== 'nfm_reply') return { type: 'unsupported', content: { provider_type: kind } }
  const content = {
    name: textAt(answer, 'name') ?? null,
    body: textAt(answer, 'body') ?? null,
    response: responseOf(textAt(answer, 'response_json')),
  }
  return { type: 'flow_reply', content }
}

const buttonReply = (id: string | undefined, title = ''): Read => ({
  type: 'button_reply',
  content: { id: id || title, title },
})

function placeOf(location: Fields): Fields {
  const degrees = ['latitude', 'longitude'].flatMap((key) => {
    const value = location[key]
    return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))
      ? [[key, Number(value)] as const]
      : []
  })
  return { ...location, ...Object.fromEntries(degrees) }
}

/** Other JSON is wrapped in an object. */
function responseOf(json: string | undefined): Fields {
  try {
    const parsed: unknown = JSON.parse(json ?? '{}')
    return isObject(parsed) ? parsed : { response_json: parsed }
  } catch {
    return { response_json: json }
  }
}

function orderOf(order: Fields): Read {
  const items = objectsAt(order, 'product_items').map((item) => ({
    product_retailer_id: textAt(item, 'product_retailer_id') ?? '',
    quantity: Number(item['quantity']) || 0,
    item_price: textAt(item, 'item_price') ?? null,
    currency: textAt(item, 'currency') ?? null,
  }))
  return {
    type: 'order',
    content: { catalog_id: textAt(order, 'catalog_id') ?? '', text: textAt(order, 'text') ?? null, items },
  }
}

/** With WhatsApp's reason, or the text of a system notice. */
function unsupported(kind: string, message: Fields): Read {
  const error = graphErrorOf(objectsAt(message, 'errors')[0])
  const system = objectAt(message, 'system')
  return {
    type: 'unsupported',
    content: {
      provider_type:
        textAt(objectAt(message, 'unsupported') ?? {}, 'type') ??
        (system === undefined ? kind : (textAt(system, 'type') ?? kind)),
      ...(error === null ? {} : { code: String(error.code), message: error.details ?? error.message }),
      ...(system === undefined
        ? {}
        : {
            message: textAt(system, 'body') ?? '',
            ...(textAt(system, 'wa_id') === undefined ? {} : { wa_id: textAt(system, 'wa_id') }),
          }),
    },
  }
}
