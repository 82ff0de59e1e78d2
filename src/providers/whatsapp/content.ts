/** Converts messages to the format of the Cloud API. */
import type { OutboundMessage, DeliveryReceipt } from '../provider.ts'
import { type Fields, isObject } from '../../lib/json.ts'
import { objectAt, objectsAt, withoutNulls, textAt } from './api.ts'

type Written = readonly [type: string, object: unknown]

const flowMessageVersion = '3'
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

/** One per attachment, otherwise one. Each carries our message id and part number, which status callbacks return. */
export function callsOf(message: OutboundMessage): readonly object[] {
  const written = writtenOf(message)
  const business_scoped = /^[A-Z]{2}\./.test(message.to)
  return written.map(([type, object], part) => ({
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    ...(business_scoped ? { recipient: message.to } : { to: message.to.replace(/^\+/, '') }),
    ...(message.reply_to === null ? {} : { context: { message_id: message.reply_to } }),
    biz_opaque_callback_data: tagFor(message.id, { number: part + 1, total: written.length }),
    type,
    [type]: withoutNulls(object),
  }))
}

function writtenOf({ type, content }: OutboundMessage): readonly Written[] {
  if (type === 'attachments') return (content as readonly Fields[]).map(attachment)
  if (type === 'contacts') return [['contacts', (content as readonly Fields[]).map(contact)]]
  return [writers[type]!(content as Fields)]
}

export const isSupported = (type: string): boolean =>
  type === 'attachments' || type === 'contacts' || Object.hasOwn(writers, type)

function attachment({ type, url, caption, filename, ...more }: Fields): Written {
  const kind = String(type)
  const captioned = kind === 'image' || kind === 'video' || kind === 'document'
  return [kind, { ...more, link: url, ...(captioned ? { caption } : {}), ...(kind === 'document' ? { filename } : {}) }]
}

/** WhatsApp requires a part of the name besides `formatted_name`. */
function contact(card: Fields): Fields {
  const name = objectAt(card, 'name') ?? {}
  const parts = ['first_name', 'last_name', 'middle_name', 'suffix', 'prefix']
  const named = parts.some((part) => typeof name[part] === 'string')
  return named ? card : { ...card, name: { ...name, first_name: name['formatted_name'] } }
}

const actionOf = (content: Fields): Fields => objectAt(content, 'action') ?? {}

function interactive(type: string, content: Fields, action: Fields): Written {
  const header = objectAt(content, 'header')
  const own = actionOf(content)
  return [
    'interactive',
    {
      ...content,
      type,
      ...(header === undefined ? {} : { header: headerOf(header) }),
      action: { ...own, ...action },
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
  const own = actionOf(card)
  const shown = { ...more, card_index, header: headerOf((header ?? {}) as Fields) }
  if (objectAt(own, 'parameters') !== undefined)
    return { ...shown, type: 'cta_url', action: { ...own, name: 'cta_url' } }
  return {
    ...shown,
    action: {
      buttons: objectsAt(own, 'buttons').map((button) => ({ type: 'quick_reply', quick_reply: button['reply'] })),
    },
  }
}

const fileTypes: ReadonlySet<string> = new Set(['image', 'video', 'document'])

const componentOf = (component: Fields): Fields => {
  const { type, sub_type, index, parameters, cards, ...more } = component
  return {
    ...more,
    type: String(type).toLowerCase(),
    ...(typeof sub_type === 'string' ? { sub_type: sub_type.toLowerCase() } : {}),
    ...(index === undefined || index === null ? {} : { index: textAt(component, 'index') ?? index }),
    ...(Array.isArray(parameters)
      ? { parameters: parameters.map((one: unknown) => (isObject(one) ? parameterOf(one) : one)) }
      : {}),
    ...(Array.isArray(cards) ? { cards: objectsAt(component, 'cards').map(templateCardOf) } : {}),
  }
}

const templateCardOf = (card: Fields, place: number): Fields => ({
  ...card,
  card_index: card['card_index'] ?? place,
  components: objectsAt(card, 'components').map(componentOf),
})

function parameterOf(parameter: Fields): Fields {
  const type = String(parameter['type']).toLowerCase()
  if (fileTypes.has(type)) return fileParameter(type, parameter)
  if (type !== 'location' || objectAt(parameter, 'location') !== undefined) return { ...parameter, type }
  const { type: _, parameter_name, ...location } = parameter
  return { type, ...(parameter_name === undefined ? {} : { parameter_name }), location }
}

/** Accepts `{type, url}`, `{type, link}` and `{type, image: {link}}`. */
function fileParameter(type: string, parameter: Fields): Fields {
  const { type: _, [type]: nested, parameter_name, ...flat } = parameter
  const { url, ...file } = isObject(nested) ? nested : flat
  return {
    type,
    ...(parameter_name === undefined ? {} : { parameter_name }),
    [type]: { ...(typeof url === 'string' && file['id'] === undefined ? { link: url } : {}), ...file },
  }
}

type TaggedMessage = Pick<DeliveryReceipt, 'message_id' | 'part'>

const tagPattern = /^(msg_[0-9a-z]{26})(?:\/([1-9]\d?)\/([1-9]\d?))?$/

const tagFor = (message_id: string, { number, total }: NonNullable<DeliveryReceipt['part']>): string =>
  total === 1 ? message_id : `${message_id}/${number}/${total}`

/** Empty if the tag is not ours. */
export function messageOfTag(tag: string | undefined): TaggedMessage {
  const [, message_id, number, total] = tagPattern.exec(tag ?? '') ?? []
  if (message_id === undefined) return {}
  if (number === undefined) return { message_id }
  const part = { number: Number(number), total: Number(total) }
  return part.total > 1 && part.number <= part.total ? { message_id, part } : {}
}
