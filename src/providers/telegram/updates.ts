/** Reads updates of a bot (https://core.telegram.org/bots/api#update): messages of people, and the buttons that they tapped. */
import type { InboundMessage, MediaReference } from '../provider.ts'
import { placeOf } from './buttons.ts'
import { isObject, type Fields } from '../../lib/json-fields.ts'
import { integerAt, objectAt, textAt } from './json.ts'

/** What was read of an update: a message, or why there is none. */
export type Read =
  | { readonly inbound: InboundMessage; readonly callback_query_id?: string }
  | { readonly ignored: string }

const keyboardRowsMax = 100

export function readUpdate(update: unknown): Read {
  if (!isObject(update)) return { ignored: 'an update that is none' }
  const [message, query] = [objectAt(update, 'message'), objectAt(update, 'callback_query')]
  if (message !== null) return readMessage(message)
  if (query !== null) return readQuery(query)
  const kind = Object.keys(update).find((name) => name !== 'update_id') ?? 'nothing'
  return { ignored: `an update of the kind ${kind.slice(0, 40)}` }
}

/** Of the private chat with one person; null for groups and channels, whose ids are negative. */
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
  if (chat_id === null || id === null)
    return { ignored: 'a message of a group or a channel, which a bot does not answer here' }
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
  return content === null ? { ignored: 'a note of Telegram about the chat' } : { inbound: { ...base, ...content } }
}

type Content = Pick<InboundMessage, 'type' | 'content' | 'media'>

function contentOf(message: Fields): Content | null {
  const text = textAt(message, 'text')
  if (text !== null) return { type: 'text', content: { body: text } }
  return fileOf(message) ?? placeContent(message) ?? cardOf(message) ?? oddOf(message)
}

/** Kinds of files: how an attachment of ours is called, and what the file is where Telegram does not say. `animation` also comes as `document`. */
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

/** A photo comes in several sizes: the largest is taken. */
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

/** A venue comes with its location. */
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

/** What people send and no type of ours holds. */
const oddKinds = ['poll', 'dice', 'game', 'story', 'paid_media', 'checklist', 'invoice', 'giveaway']

function oddOf(message: Fields): Content | null {
  const kind = oddKinds.find((name) => isObject(message[name]))
  return kind === undefined ? null : { type: 'unsupported', content: { provider_type: kind } }
}

/** A tapped button: what it carries, under the message that it belongs to. */
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
  const [place, title] = [placeOf(data), titleOf(message!, data)]
  const inbound: InboundMessage = {
    kind: 'inbound',
    provider_id: `button:${id}`,
    from: String(chat_id),
    profile_name: nameOf(person),
    reply_to: `${chat_id}:${message_id}`,
    type: 'button_reply',
    // the place is ours to look up: where our message is gone, the words on the button are all that its sender may know
    content: { id: place === undefined ? data : title || `Button ${place + 1}`, title },
    ...(place === undefined ? {} : { button_index: place }),
  }
  return { inbound, callback_query_id: id }
}

/** What the button says: Telegram tells the whole keyboard with the message. */
function titleOf(message: Fields, data: string): string {
  const keyboard = objectAt(message, 'reply_markup')?.['inline_keyboard']
  const rows: readonly unknown[] = Array.isArray(keyboard) ? keyboard.slice(0, keyboardRowsMax) : []
  const button = rows
    .flatMap((row) => (Array.isArray(row) ? row.filter(isObject) : []))
    .find((one) => one['callback_data'] === data)
  return (button === undefined ? null : textAt(button, 'text')) ?? ''
}
