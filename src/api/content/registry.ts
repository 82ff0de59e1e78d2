/** The registry of content types. */
import { attachments } from './attachments.ts'
import { buttonReply } from './button-reply.ts'
import { button } from './button.ts'
import { carousel } from './carousel.ts'
import { catalog } from './catalog.ts'
import { contacts } from './contacts.ts'
import type { ContentType } from './content-type.ts'
import { ctaUrl } from './cta-url.ts'
import { flowReply } from './flow-reply.ts'
import { flow } from './flow.ts'
import { listReply } from './list-reply.ts'
import { list } from './list.ts'
import { locationRequest } from './location-request.ts'
import { location } from './location.ts'
import { order } from './order.ts'
import { productList } from './product-list.ts'
import { product } from './product.ts'
import { reaction } from './reaction.ts'
import { template } from './template.ts'
import { text } from './text.ts'
import { unsupported } from './unsupported.ts'

/** Outbound types in the order of capabilities (behaviour: channels 1.3), then inbound types. */
export const contentTypes = {
  text,
  attachments,
  template,
  button,
  list,
  cta_url: ctaUrl,
  location,
  contacts,
  flow,
  product,
  product_list: productList,
  catalog,
  carousel,
  location_request: locationRequest,
  button_reply: buttonReply,
  list_reply: listReply,
  flow_reply: flowReply,
  order,
  reaction,
  unsupported,
} as const satisfies Record<string, ContentType>

export type ContentTypeName = keyof typeof contentTypes

export const capabilities = [
  'text',
  'attachments',
  'template',
  'button',
  'list',
  'cta_url',
  'location',
  'contacts',
  'flow',
  'product',
  'product_list',
  'catalog',
  'carousel',
  'location_request',
] as const satisfies readonly ContentTypeName[]
export type Capability = (typeof capabilities)[number]

export const isContentType = (type: string): type is ContentTypeName => Object.hasOwn(contentTypes, type)
export const isCapability = (type: string): type is Capability =>
  isContentType(type) && contentTypes[type].direction === 'both'
