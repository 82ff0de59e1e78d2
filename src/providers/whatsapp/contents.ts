/** Messages as the Cloud API wants them: each of our content types has one line in `writers`. What a caller adds to a content object goes along. */
import type { OutboundMessage } from '../provider.ts'
import { type Fields } from '../../lib/json-fields.ts'
import { objectAt, objectsAt, withoutNulls } from './json.ts'
import { tagOf } from './tags.ts'
import { componentOf } from './template-components.ts'

/** `type` and its object, as in the body of a call. */
type Written = readonly [type: string, object: unknown]

const flowMessageVersion = '3'
/** What Meta itself takes where no token is given. */
const flowTokenUnused = 'unused'

const writers: Readonly<Record<string, (content: Fields) => Written>> = {
  text: (content) => ['text', { preview_url: false, ...content }],
  template: (content) => ['template', { ...content, components: objectsAt(content, 'components').map(componentOf) }],
  location: (content) => ['location', content],
  button: (content) =>
    interactive('button', content, { buttons: objectsAt(actionOf(content), 'buttons').map(replyButton) }),
  list: (content) => interactive('list', content, {}),
  cta_url: (content) => interactive('cta_url', content, { name: 'cta_url' }),
  flow: (content) => interactive('flow', content, { name: 'flow', parameters: flowParameters(actionOf(content)) }),
  product: (content) => interactive('product', content, {}),
  product_list: (content) =>
    interactive('product_list', { ...content, header: { ...objectAt(content, 'header'), type: 'text' } }, {}),
  catalog: (content) => interactive('catalog_message', content, { name: 'catalog_message' }),
  carousel: ({ cards, ...content }) =>
    interactive('carousel', content, { cards: objectsAt({ cards }, 'cards').map(cardOf) }),
  location_request: (content) => interactive('location_request_message', content, { name: 'send_location' }),
}

/**
 * The bodies of the calls that send a message: one each, but for attachments, of which each is a provider message of its own. What they carry back in receipts is
 * the message's id, and where there are several which of them it is.
 */
export function callsOf(message: OutboundMessage): readonly object[] {
  const written = writtenOf(message)
  const business_scoped = /^[A-Z]{2}\./.test(message.to)
  return written.map(([type, object], part) => ({
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    ...(business_scoped ? { recipient: message.to } : { to: message.to.replace(/^\+/, '') }),
    ...(message.reply_to === null ? {} : { context: { message_id: message.reply_to } }),
    biz_opaque_callback_data: tagOf(message.id, { number: part + 1, total: written.length }),
    type,
    [type]: withoutNulls(object),
  }))
}

function writtenOf({ type, content }: OutboundMessage): readonly Written[] {
  if (type === 'attachments') return (content as readonly Fields[]).map(attachment)
  if (type === 'contacts') return [['contacts', (content as readonly Fields[]).map(contact)]]
  return [writers[type]!(content as Fields)]
}

/** Whether messages of this type can be written. */
export const isWritten = (type: string): boolean =>
  type === 'attachments' || type === 'contacts' || Object.hasOwn(writers, type)

function attachment({ type, url, caption, filename, ...more }: Fields): Written {
  const kind = String(type)
  const captioned = kind === 'image' || kind === 'video' || kind === 'document'
  return [kind, { ...more, link: url, ...(captioned ? { caption } : {}), ...(kind === 'document' ? { filename } : {}) }]
}

/** WhatsApp wants one part of the name besides the whole of it. */
function contact(card: Fields): Fields {
  const name = objectAt(card, 'name') ?? {}
  const parts = ['first_name', 'last_name', 'middle_name', 'suffix', 'prefix']
  const named = parts.some((part) => typeof name[part] === 'string')
  return named ? card : { ...card, name: { ...name, first_name: name['formatted_name'] } }
}

const actionOf = (content: Fields): Fields => objectAt(content, 'action') ?? {}

function interactive(type: string, content: Fields, action: Fields): Written {
  const header = objectAt(content, 'header')
  const given = actionOf(content)
  return [
    'interactive',
    {
      ...content,
      type,
      ...(header === undefined ? {} : { header: headerOf(header) }),
      action: { ...given, ...action },
    },
  ]
}

function headerOf({ type, text, url, filename, ...more }: Fields): Fields {
  const kind = String(type)
  if (kind === 'text') return { type: kind, text }
  return { type: kind, [kind]: { ...more, link: url, ...(kind === 'document' ? { filename } : {}) } }
}

const replyButton = (button: Fields): Fields => ({ ...button, type: 'reply' })

function flowParameters(action: Fields): Fields {
  const { flow_token, ...parameters } = objectAt(action, 'parameters') ?? {}
  return { flow_message_version: flowMessageVersion, ...parameters, flow_token: flow_token ?? flowTokenUnused }
}

function cardOf(card: Fields, card_index: number): Fields {
  const { header, action: _, ...more } = card
  const given = actionOf(card)
  const shown = { ...more, card_index, header: headerOf((header ?? {}) as Fields) }
  if (objectAt(given, 'parameters') !== undefined)
    return { ...shown, type: 'cta_url', action: { ...given, name: 'cta_url' } }
  return {
    ...shown,
    action: {
      buttons: objectsAt(given, 'buttons').map((button) => ({ type: 'quick_reply', quick_reply: button['reply'] })),
    },
  }
}
