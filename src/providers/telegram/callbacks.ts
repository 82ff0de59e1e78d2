/** Telegram updates: messages and tapped buttons (https://core.telegram.org/bots/api#update). */
import { sameText } from '../../lib/hmac.ts'
import type {
  CallbackResponse,
  Callback,
  Connection,
  CallbackResult,
  InboundMessage,
  MediaReference,
} from '../provider.ts'
import { tokenOf, integerAt, objectAt, textAt } from './api.ts'
import { secretOf } from './connect.ts'
import { positionOf } from './content.ts'
import { isObject, type Fields } from '../../lib/json.ts'

/** Sent in the response to the webhook (https://core.telegram.org/bots/api#making-requests-when-getting-updates). */
const answerButton = (callback_query_id: string): CallbackResponse => ({
  content_type: 'application/json; charset=utf-8',
  body: JSON.stringify({ method: 'answerCallbackQuery', callback_query_id }),
})

export function receiveCallback({ headers, body }: Callback, connection: Connection): CallbackResult | null {
  const secret = headers['x-telegram-bot-api-secret-token'] ?? ''
  if (tokenOf(connection) === '' || !sameText(secret, secretOf(connection))) return null
  let update: unknown
  try {
    update = JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return { items: [], ignored: 'a body that is not JSON' }
  }
  const read = readUpdate(update)
  if ('ignored' in read) return { items: [], ignored: read.ignored }
  return {
    items: [read.inbound],
    ...(read.callback_query_id === undefined ? {} : { response: answerButton(read.callback_query_id) }),
  }
}

export type Read =
  | { readonly inbound: InboundMessage; readonly callback_query_id?: string }
  | { readonly ignored: string }

const keyboardRowsMax = 100

export function readUpdate(update: unknown): Read {
  if (!isObject(update)) return { ignored: 'an update that is not an object' }
  const [message, query] = [objectAt(update, 'message'), objectAt(update, 'callback_query')]
  if (message !== null) return readMessage(message)
  if (query !== null) return readQuery(query)
  const kind = Object.keys(update).find((name) => name !== 'update_id') ?? 'nothing'
  return { ignored: `an update of the kind ${kind.slice(0, 40)}` }
}

/** null for groups and channels, whose ids are negative. */
function chatOf(message: Fields): number | null {
  const chat = objectAt(message, 'chat')
  const id = chat === null ? null : integerAt(chat, 'id')
  return id !== null && id > 0 && (chat!['type'] ?? 'private') === 'private' ? id : null
}

const nameOf = (person: Fields | null): string | null =>
  person === null
    ? null
    : [textAt(person, 'first_name'), textAt(person, 'last_name')].filter((name) => name !== null).join(' ') || null

function readMessage(message: Fields): Read {
  const [chat_id, id] = [chatOf(message), integerAt(message, 'message_id')]
  if (chat_id === null || id === null) return { ignored: 'a message of a group or a channel' }
  const answered = objectAt(message, 'reply_to_message')
  const answered_id = answered === null ? null : integerAt(answered, 'message_id')
  const base = {
    kind: 'inbound' as const,
    provider_id: `${chat_id}:${id}`,
    from: String(chat_id),
    profile_name: nameOf(objectAt(message, 'from')),
    reply_to: answered_id === null ? null : `${chat_id}:${answered_id}`,
  }
  const content = contentOf(message)
  return content === null ? { ignored: 'a service message about the chat' } : { inbound: { ...base, ...content } }
}

type Content = Pick<InboundMessage, 'type' | 'content' | 'media'>

function contentOf(message: Fields): Content | null {
  const text = textAt(message, 'text')
  if (text !== null) return { type: 'text', content: { body: text } }
  return fileOf(message) ?? placeContent(message) ?? cardOf(message) ?? unsupportedOf(message)
}

/** An `animation` is repeated as `document`, so it comes first. */
const fileKinds: readonly (readonly [field: string, type: string, content_type: string | undefined])[] = [
  ['animation', 'video', 'video/mp4'],
  ['video', 'video', 'video/mp4'],
  ['video_note', 'video', 'video/mp4'],
  ['audio', 'audio', 'audio/mpeg'],
  ['voice', 'audio', 'audio/ogg'],
  ['document', 'document', undefined],
  ['sticker', 'sticker', 'image/webp'],
]

function fileOf(message: Fields): Content | null {
  const caption = textAt(message, 'caption')
  const found = photoOf(message) ?? plainFileOf(message)
  if (found === null) return null
  const { type, filename, reference } = found
  const item = { type, ...(filename === null ? {} : { filename }), ...(caption === null ? {} : { caption }) }
  return { type: 'attachments', content: [item], media: [{ index: 0, reference }] }
}

interface Found {
  readonly type: string
  readonly filename: string | null
  readonly reference: MediaReference
}

function photoOf(message: Fields): Found | null {
  const sizes = (Array.isArray(message['photo']) ? message['photo'] : []).filter(isObject)
  const pixels = (size: Fields) => (integerAt(size, 'width') ?? 0) * (integerAt(size, 'height') ?? 0)
  const largest = sizes
    .filter((size) => textAt(size, 'file_id') !== null)
    .reduce<Fields | null>((best, size) => (best === null || pixels(size) > pixels(best) ? size : best), null)
  return largest === null
    ? null
    : { type: 'image', filename: null, reference: { file_id: textAt(largest, 'file_id')!, content_type: 'image/jpeg' } }
}

function plainFileOf(message: Fields): Found | null {
  for (const [field, type, usual] of fileKinds) {
    const file = objectAt(message, field)
    const file_id = file === null ? null : textAt(file, 'file_id')
    if (file === null || file_id === null) continue
    const content_type = textAt(file, 'mime_type') ?? stickerType(file) ?? usual
    return {
      type,
      filename: textAt(file, 'file_name'),
      reference: { file_id, ...(content_type === undefined ? {} : { content_type }) },
    }
  }
  return null
}

const stickerType = (file: Fields): string | undefined =>
  file['is_animated'] === true ? 'application/x-tgsticker' : file['is_video'] === true ? 'video/webm' : undefined

const numberAt = (fields: Fields, name: string): number | null =>
  typeof fields[name] === 'number' ? fields[name] : null

function placeContent(message: Fields): Content | null {
  const venue = objectAt(message, 'venue')
  const location = (venue === null ? null : objectAt(venue, 'location')) ?? objectAt(message, 'location')
  if (location === null) return null
  const [latitude, longitude] = [numberAt(location, 'latitude'), numberAt(location, 'longitude')]
  if (latitude === null || longitude === null) return null
  const [name, address] = venue === null ? [null, null] : [textAt(venue, 'title'), textAt(venue, 'address')]
  return {
    type: 'location',
    content: { latitude, longitude, ...(name === null ? {} : { name }), ...(address === null ? {} : { address }) },
  }
}

function cardOf(message: Fields): Content | null {
  const contact = objectAt(message, 'contact')
  const phone = contact === null ? null : textAt(contact, 'phone_number')
  if (contact === null || phone === null) return null
  const [first_name, last_name] = [textAt(contact, 'first_name'), textAt(contact, 'last_name')]
  const name = {
    formatted_name: nameOf(contact) ?? phone,
    ...(first_name === null ? {} : { first_name }),
    ...(last_name === null ? {} : { last_name }),
  }
  return { type: 'contacts', content: [{ name, phones: [{ phone }] }] }
}

const unsupportedKinds = ['poll', 'dice', 'game', 'story', 'paid_media', 'checklist', 'invoice', 'giveaway']

function unsupportedOf(message: Fields): Content | null {
  const kind = unsupportedKinds.find((name) => isObject(message[name]))
  return kind === undefined ? null : { type: 'unsupported', content: { provider_type: kind } }
}

function readQuery(query: Fields): Read {
  const [id, data, message, person] = [
    textAt(query, 'id'),
    textAt(query, 'data'),
    objectAt(query, 'message'),
    objectAt(query, 'from'),
  ]
  const chat_id = message === null ? null : chatOf(message)
  const message_id = message === null ? null : integerAt(message, 'message_id')
  if (id === null || data === null || chat_id === null || message_id === null)
    return { ignored: 'a tapped button of a group, a channel or a game' }
  const [position, title] = [positionOf(data), titleOf(message!, data)]
  const inbound: InboundMessage = {
    kind: 'inbound',
    provider_id: `button:${id}`,
    from: String(chat_id),
    profile_name: nameOf(person),
    reply_to: `${chat_id}:${message_id}`,
    type: 'button_reply',
    // if the message is gone, its position cannot be looked up
    content: { id: position === undefined ? data : title || `Button ${position + 1}`, title },
    ...(position === undefined ? {} : { button_index: position }),
  }
  return { inbound, callback_query_id: id }
}

function titleOf(message: Fields, data: string): string {
  const keyboard = objectAt(message, 'reply_markup')?.['inline_keyboard']
  const rows: readonly unknown[] = Array.isArray(keyboard) ? keyboard.slice(0, keyboardRowsMax) : []
  const button = rows
    .flatMap((row) => (Array.isArray(row) ? row.filter(isObject) : []))
    .find((one) => one['callback_data'] === data)
  return (button === undefined ? null : textAt(button, 'text')) ?? ''
}
