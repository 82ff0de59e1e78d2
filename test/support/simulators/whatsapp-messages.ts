/** Meta's checks of messages. */

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

const files = ['image', 'video', 'audio', 'document', 'sticker']
const captioned = ['image', 'video', 'document']
const interactives: Readonly<Record<string, (one: Json) => string | null>> = {
  button: ({ action }) => wrongButtons(action.buttons),
  list: ({ action }) =>
    text(action.button, 20) && action.sections?.every((section: Json) => section.rows?.length > 0)
      ? null
      : 'list needs a button and rows',
  cta_url: ({ action }) =>
    action.name === 'cta_url' && text(action.parameters?.display_text, 20) && link(action.parameters.url)
      ? null
      : 'cta_url needs its name and parameters',
  flow: ({ action }) =>
    action.name === 'flow' &&
    action.parameters?.flow_message_version === '3' &&
    text(action.parameters.flow_cta, 30) &&
    (action.parameters.flow_id ?? action.parameters.flow_name)
      ? null
      : 'flow needs its name, version, button and the flow',
  product: ({ action, header }) =>
    header === undefined && text(action.catalog_id) && text(action.product_retailer_id)
      ? null
      : 'product needs catalog and article',
  product_list: ({ action, header }) =>
    header?.type === 'text' && text(header.text, 60) && text(action.catalog_id) && action.sections?.length > 0
      ? null
      : 'product_list needs header, catalog and sections',
  catalog_message: ({ action }) => (action.name === 'catalog_message' ? null : 'catalog_message needs its name'),
  location_request_message: ({ action }) =>
    action.name === 'send_location' ? null : 'location_request_message needs its name',
  carousel: ({ action }) =>
    action.cards?.length >= 2
      ? (action.cards.map(wrongCard).find((wrong: string | null) => wrong !== null) ?? null)
      : 'carousel needs cards',
}

/** null if accepted. */
export function wrongMessage(message: Json): string | null {
  if (message.messaging_product !== 'whatsapp') return 'messaging_product must be whatsapp'
  if (!/^\d{5,15}$/.test(message.to ?? '') && !/^[A-Z]{2}\./.test(message.recipient ?? ''))
    return 'to must be a number, or recipient an id'
  if (String(message.biz_opaque_callback_data ?? '').length > 512) return 'biz_opaque_callback_data is too long'
  if (message.context !== undefined && !text(message.context.message_id)) return 'context needs a message_id'
  if (holdsNull(message)) return 'a field is null'
  const content = message[message.type]
  if (content === undefined) return `the object ${message.type} is missing`
  return wrongContent(message.type, content)
}

function wrongContent(type: string, content: Json): string | null {
  if (type === 'text') return text(content.body, 4096) ? null : 'text needs a body'
  if (type === 'template') return wrongTemplate(content)
  if (type === 'location')
    return typeof content.latitude === 'number' && typeof content.longitude === 'number'
      ? null
      : 'location needs two numbers'
  if (type === 'contacts')
    return content.every((card: Json) => Object.keys(card.name ?? {}).length >= 2)
      ? null
      : 'a name needs formatted_name and one part more'
  if (files.includes(type)) return wrongFile(type, content)
  if (type !== 'interactive') return `unknown type ${type}`
  const check = interactives[content.type]
  if (check === undefined) return `unknown interactive type ${content.type}`
  if (content.header !== undefined) {
    const wrong = wrongHeader(content.header)
    if (wrong !== null) return wrong
  }
  if (content.type !== 'product' && !text(content.body?.text, 1024)) return 'interactive needs a body'
  return content.action === undefined ? 'interactive needs an action' : check(content)
}

function wrongFile(type: string, content: Json): string | null {
  if (!link(content.link) && !text(content.id)) return `${type} needs link or id`
  if (content.caption !== undefined && (!captioned.includes(type) || !text(content.caption, 1024)))
    return `${type} takes no such caption`
  return content.filename !== undefined && type !== 'document' ? `${type} takes no filename` : null
}

const wrongHeader = (header: Json): string | null =>
  header.type === 'text'
    ? text(header.text, 60)
      ? null
      : 'header needs a text'
    : files.includes(header.type)
      ? wrongFile(header.type, header[header.type] ?? {})
      : 'header has no known type'

const wrongButtons = (buttons: Json): string | null =>
  Array.isArray(buttons) &&
  buttons.length <= 3 &&
  buttons.every(({ type, reply }) => type === 'reply' && text(reply?.id, 256) && text(reply.title, 20))
    ? null
    : 'button needs one to three reply buttons'

function wrongCard(card: Json, index: number): string | null {
  if (card.card_index !== index) return 'card_index must count from 0'
  if (wrongHeader(card.header ?? {}) !== null) return 'a card needs a header'
  if (card.type === 'cta_url')
    return card.action.name === 'cta_url' && link(card.action.parameters?.url) ? null : 'a card needs its address'
  return card.action.buttons?.every((button: Json) => button.type === 'quick_reply' && text(button.quick_reply?.id))
    ? null
    : 'a card needs its buttons'
}

function wrongTemplate(template: Json): string | null {
  if (!text(template.name, 512) || !text(template.language?.code)) return 'template needs name and language'
  for (const component of template.components ?? []) {
    if (!/^[a-z_]+$/.test(component.type)) return 'a component has no known type'
    if (component.type === 'button' && (typeof component.index !== 'string' || !text(component.sub_type)))
      return 'a button needs sub_type and index'
    for (const parameter of component.parameters ?? []) {
      if (!text(parameter.type)) return 'a parameter has no type'
      if (parameter[parameter.type] === undefined) return `a parameter of type ${parameter.type} needs its value`
    }
  }
  return null
}

const text = (value: unknown, most = Infinity): value is string =>
  typeof value === 'string' && value !== '' && [...value].length <= most
const link = (value: unknown): boolean => typeof value === 'string' && /^https?:\/\//.test(value)
const holdsNull = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.values(value).some(holdsNull))
