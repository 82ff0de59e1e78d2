/** Converts messages to one or several calls of the Bot API. */
import type { ErrorCode } from '../../api/errors.ts'
import type { OutboundMessage } from '../provider.ts'
import type { Fields } from '../../lib/json.ts'

export interface Step {
  readonly method: string
  readonly parameters: Fields
  readonly messages?: number
}

interface Attachment {
  readonly type: 'image' | 'video' | 'audio' | 'document' | 'sticker'
  readonly url: string
  readonly caption?: string | null
}

interface Layout {
  readonly header?: { readonly type: string; readonly text?: string; readonly url?: string } | null
  readonly body: { readonly text: string }
  readonly footer?: { readonly text?: string } | null
}

interface Buttons extends Layout {
  readonly action: { readonly buttons: readonly { readonly reply: { readonly id: string; readonly title: string } }[] }
}

interface CtaUrl extends Layout {
  readonly action: { readonly parameters: { readonly display_text: string; readonly url: string } }
}

interface Location {
  readonly latitude: number
  readonly longitude: number
  readonly name?: string | null
  readonly address?: string | null
}

const captionLengthMax = 1024

const files = {
  image: ['sendPhoto', 'photo'],
  video: ['sendVideo', 'video'],
  audio: ['sendAudio', 'audio'],
  document: ['sendDocument', 'document'],
  sticker: ['sendSticker', 'sticker'],
} as const
const albums: Readonly<Record<Attachment['type'], string | null>> = {
  image: 'visual',
  video: 'visual',
  audio: 'audio',
  document: 'document',
  sticker: null,
}

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
      return withButtons(chat, message.content as Buttons, keyboard)
    }
    case 'cta_url': {
      const { display_text, url } = (message.content as CtaUrl).action.parameters
      return withButtons(chat, message.content as CtaUrl, [[{ text: display_text, url }]])
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

function replyOf({ reply_to }: OutboundMessage): Fields {
  const id = /:(\d{1,15})$/.exec(reply_to ?? '')?.[1]
  return id === undefined ? {} : { reply_parameters: { message_id: Number(id), allow_sending_without_reply: true } }
}

/** An album is sent whole or not at all. */
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

function withButtons(chat: Fields, { header, body, footer }: Layout, inline_keyboard: readonly unknown[]): Step[] {
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

/** Telegram requires a phone number in every contact card. */
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
    message: 'Telegram does not send contact cards without a phone number. Add one, or send a text.',
    param: `contacts[${at}].phones`,
  }
}

const dataBytesMax = 64
const positionPrefix = 'posthorn:button:'

/**
 * At most 64 bytes (https://core.telegram.org/bots/api#inlinekeyboardbutton): the id, or the position if the id is
 * longer.
 */
const callbackData = (id: string, index: number): string =>
  Buffer.byteLength(id) > dataBytesMax || id.startsWith(positionPrefix) ? positionPrefix + index : id

/** undefined if the data is the id. */
export function positionOf(data: string): number | undefined {
  const digits = data.startsWith(positionPrefix) ? data.slice(positionPrefix.length) : ''
  return /^\d$/.test(digits) ? Number(digits) : undefined
}

interface Card {
  readonly name: {
    readonly formatted_name: string
    readonly first_name?: string | null
    readonly last_name?: string | null
  }
  readonly phones?: readonly { readonly phone: string; readonly type?: string | null }[] | null
  readonly emails?: readonly { readonly email: string }[] | null
  readonly org?: {
    readonly company?: string | null
    readonly department?: string | null
    readonly title?: string | null
  } | null
  readonly urls?: readonly { readonly url: string }[] | null
  readonly birthday?: string | null
}

const vcardBytesMax = 2048

const escaped = (text: string): string => text.replace(/[\\;,]/g, '\\$&').replace(/\r?\n|\r/g, '\\n')

/** vCard 3.0 (RFC 2426); null if name and number are enough, or it would be too long. */
function vcardOf({ name, phones, emails, org, urls, birthday }: Card): string | null {
  const more = [
    ...(phones ?? []).slice(1).map(({ phone }) => `TEL:${escaped(phone)}`),
    ...(emails ?? []).map(({ email }) => `EMAIL:${escaped(email)}`),
    ...(org?.company ? [`ORG:${[org.company, org.department ?? ''].filter(Boolean).map(escaped).join(';')}`] : []),
    ...(org?.title ? [`TITLE:${escaped(org.title)}`] : []),
    ...(urls ?? []).map(({ url }) => `URL:${escaped(url)}`),
    ...(birthday ? [`BDAY:${escaped(birthday)}`] : []),
  ]
  if (more.length === 0) return null
  const lines = [
    'BEGIN:VCARD',
    'VERSION:3.0',
    `N:${escaped(name.last_name ?? '')};${escaped(name.first_name || name.formatted_name)};;;`,
    `FN:${escaped(name.formatted_name)}`,
    `TEL:${escaped(phones?.[0]?.phone ?? '')}`,
    ...more,
    'END:VCARD',
  ]
  const card = lines.join('\r\n')
  return Buffer.byteLength(card) <= vcardBytesMax ? card : null
}
