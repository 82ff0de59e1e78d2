/** What a message becomes at Telegram: one or several calls of the Bot API. Texts are sent as they are, without a parse mode. */
import type { ErrorCode } from '../../api/errors.ts'
import type { OutboundMessage } from '../provider.ts'
import type { Fields } from '../../lib/json-fields.ts'
import { callbackData } from './buttons.ts'
import { vcardOf, type Card } from './vcard.ts'

/** One call; it makes one message, but for an album. */
export interface Step {
  readonly method: string
  readonly parameters: Fields
  /** How many messages it makes; absent: one. */
  readonly messages?: number
}

interface Attachment {
  readonly type: 'image' | 'video' | 'audio' | 'document' | 'sticker'
  readonly url: string
  readonly caption?: string | null
}

interface Framed {
  readonly header?: { readonly type: string; readonly text?: string; readonly url?: string } | null
  readonly body: { readonly text: string }
  readonly footer?: { readonly text?: string } | null
}

interface Buttons extends Framed {
  readonly action: { readonly buttons: readonly { readonly reply: { readonly id: string; readonly title: string } }[] }
}

interface CtaUrl extends Framed {
  readonly action: { readonly parameters: { readonly display_text: string; readonly url: string } }
}

interface Location {
  readonly latitude: number
  readonly longitude: number
  readonly name?: string | null
  readonly address?: string | null
}

/** Telegram's bound of a caption, in characters. */
const captionLengthMax = 1024
const files = {
  image: ['sendPhoto', 'photo'],
  video: ['sendVideo', 'video'],
  audio: ['sendAudio', 'audio'],
  document: ['sendDocument', 'document'],
  sticker: ['sendSticker', 'sticker'],
} as const
/** What may stand in one album. */
const albums: Readonly<Record<Attachment['type'], string | null>> = {
  image: 'visual',
  video: 'visual',
  audio: 'audio',
  document: 'document',
  sticker: null,
}

/** At least one; none for a type that Telegram cannot carry. */
export function stepsOf(message: OutboundMessage): Step[] {
  const chat = { chat_id: message.to, ...replyOf(message) }
  switch (message.type) {
    case 'text':
      return [{ method: 'sendMessage', parameters: { ...chat, text: (message.content as { body: string }).body } }]
    case 'attachments':
      return albumsOf(message.content as readonly Attachment[]).map((album) => stepOfAlbum(chat, album))
    case 'button': {
      const { action } = message.content as Buttons
      const keyboard = action.buttons.map(({ reply }, index) => [
        { text: reply.title, callback_data: callbackData(reply.id, index) },
      ])
      return framed(chat, message.content as Buttons, keyboard)
    }
    case 'cta_url': {
      const { display_text, url } = (message.content as CtaUrl).action.parameters
      return framed(chat, message.content as CtaUrl, [[{ text: display_text, url }]])
    }
    case 'location':
      return [stepOfLocation(chat, message.content as Location)]
    case 'contacts':
      return (message.content as readonly Card[]).map((card) => ({
        method: 'sendContact',
        parameters: { ...chat, ...contactOf(card) },
      }))
    default:
      return []
  }
}

/** Our ids of Telegram's messages are `chat:message`. */
function replyOf({ reply_to }: OutboundMessage): Fields {
  const id = /:(\d{1,15})$/.exec(reply_to ?? '')?.[1]
  return id === undefined ? {} : { reply_parameters: { message_id: Number(id), allow_sending_without_reply: true } }
}

/** Neighbours that may stand in one album: one call makes them all, or none. */
function albumsOf(attachments: readonly Attachment[]): Attachment[][] {
  const found: Attachment[][] = []
  for (const attachment of attachments) {
    const last = found.at(-1)
    const album = albums[attachment.type]
    if (last !== undefined && album !== null && albums[last[0]!.type] === album) last.push(attachment)
    else found.push([attachment])
  }
  return found
}

function stepOfAlbum(chat: Fields, album: readonly Attachment[]): Step {
  const captionOf = ({ type, caption }: Attachment) => (caption && type !== 'sticker' ? { caption } : {})
  const [first] = album
  if (album.length === 1) {
    const [method, field] = files[first!.type]
    return { method, parameters: { ...chat, [field]: first!.url, ...captionOf(first!) } }
  }
  const media = album.map((attachment) => ({
    type: files[attachment.type][1],
    media: attachment.url,
    ...captionOf(attachment),
  }))
  return { method: 'sendMediaGroup', parameters: { ...chat, media }, messages: media.length }
}

/** Header, body and footer are one text; a file of a header takes it as its caption, where that is not too long. */
function framed(chat: Fields, { header, body, footer }: Framed, inline_keyboard: readonly unknown[]): Step[] {
  const text = [header?.type === 'text' ? header.text : undefined, body.text, footer?.text].filter(Boolean).join('\n\n')
  const markup = { reply_markup: { inline_keyboard } }
  const file =
    header?.type === 'image' || header?.type === 'video' || header?.type === 'document' ? files[header.type] : undefined
  if (file === undefined) return [{ method: 'sendMessage', parameters: { ...chat, text, ...markup } }]
  const [method, field] = file
  const sent = { ...chat, [field]: header!.url }
  if ([...text].length <= captionLengthMax) return [{ method, parameters: { ...sent, caption: text, ...markup } }]
  return [
    { method, parameters: sent },
    { method: 'sendMessage', parameters: { ...chat, text, ...markup } },
  ]
}

function stepOfLocation(chat: Fields, { latitude, longitude, name, address }: Location): Step {
  const title = name || address
  if (!title) return { method: 'sendLocation', parameters: { ...chat, latitude, longitude } }
  return { method: 'sendVenue', parameters: { ...chat, latitude, longitude, title, address: address || title } }
}

function contactOf(card: Card): Fields {
  const { name } = card
  const vcard = vcardOf(card)
  return {
    phone_number: card.phones?.[0]?.phone ?? '',
    first_name: name.first_name || name.formatted_name,
    ...(name.first_name && name.last_name ? { last_name: name.last_name } : {}),
    ...(vcard === null ? {} : { vcard }),
  }
}

/** Telegram sends no address card without a number. */
export function validate({
  type,
  content,
}: {
  readonly type: string
  readonly content: unknown
}): { code: ErrorCode; message: string; param: string } | null {
  if (type !== 'contacts') return null
  const at = (content as readonly Card[]).findIndex(({ phones }) => !phones?.[0]?.phone)
  if (at === -1) return null
  return {
    code: 'upstream_rejected',
    message: 'Telegram sends no address card without a phone number. Add one, or send a text.',
    param: `contacts[${at}].phones`,
  }
}
