/**
 * WooCommerce's webhooks (behaviour: integrations 4.6):
 * https://woocommerce.github.io/woocommerce-rest-api-docs/#webhooks.
 */
import { invalid } from '../../api/problem.ts'
import type { Fields } from '../../lib/json.ts'
import { customerOf, firstText, itemsOf, objectOf, objectsOf, textOf, timeOf } from '../fields.ts'
import type { SourceEvent } from '../event.ts'
import type { Source, Webhook } from '../source.ts'
import {
  eventOf,
  hmacHeaderCheck,
  payloadReader,
  required,
  topicOf,
  unmapped,
  type JsonWebhook,
  type TopicEvent,
} from '../webhook.ts'

export const woocommerce: Source = {
  platform: 'woocommerce',
  signatureCheck: (secret) =>
    hmacHeaderCheck(
      'X-WC-Webhook-Signature',
      decodeSpecialCharacters(secret),
      'Give the webhook in WooCommerce and the source the same secret (`signing_secret`).',
    ),
  isPing,
  read: payloadReader(readWooCommerce),
  stores_payload: true,
}

/** WooCommerce calls a paid, unshipped order `processing`. */
const statuses: Readonly<Record<string, string>> = {
  processing: 'paid',
  'on-hold': 'on_hold',
  completed: 'completed',
  cancelled: 'cancelled',
  refunded: 'refunded',
  failed: 'payment_failed',
}

const topics: Readonly<Record<string, (payload: Fields) => TopicEvent | null>> = {
  'order.created': (payload) => order(payload, 'created'),
  'order.updated': changedOrder,
  'customer.created': (payload) => customerChange(payload, 'customer.created'),
  'customer.updated': (payload) => customerChange(payload, 'customer.updated'),
}

/** Sent unsigned, without a topic, when a webhook is switched on. Expects exactly 200. */
function isPing({ headers, body }: Pick<Webhook, 'headers' | 'body'>): boolean {
  return (
    headers['x-wc-webhook-signature'] === undefined &&
    headers['x-wc-webhook-topic'] === undefined &&
    body.length < 64 &&
    /^webhook_id=\d+$/.test(body.toString('latin1').trim())
  )
}

export function readWooCommerce({ headers, payload, digest }: JsonWebhook): SourceEvent {
  const topic = topicOf(headers, 'X-WC-Webhook-Topic')
  const id = textOf(payload['id'])
  const changed = timeOf(payload['date_modified_gmt'], payload['date_created_gmt'])
  // the delivery ID differs per attempt and is shared within a second, in which an order may change twice
  const parts = [topic, id, changed, topic === 'order.updated' ? textOf(payload['status'])?.slice(0, 40) : null]
  const event_id =
    id === null || id.length > 100 ? `${topic}:${digest()}` : parts.filter((part) => typeof part === 'string').join(':')
  const event = Object.hasOwn(topics, topic) ? topics[topic]!(payload) : null
  if (event === null) return unmapped('woocommerce', topic, event_id, changed, payload)
  return eventOf(event, event_id, changed, payload)
}

function changedOrder(payload: Fields): TopicEvent | null {
  refuseError(payload)
  const status = textOf(payload['status']) ?? ''
  if (status === 'checkout-draft') return checkout(payload)
  return Object.hasOwn(statuses, status) ? order(payload, statuses[status]!) : null
}

function order(payload: Fields, status: string): TopicEvent {
  refuseError(payload)
  const id = required(payload, 'id')
  return {
    type: `order.${status}`,
    order_id: id,
    customer: buyerOf(payload),
    marketing: null,
    data: {
      order: {
        id,
        number: firstText(payload['number'], payload['id']),
        status,
        currency: textOf(payload['currency']),
        total: textOf(payload['total']),
        url: textOf(payload['payment_url']),
        items: itemsOf(payload, ['name', 'parent_name']),
        shipping: shippingOf(payload),
      },
    },
  }
}

function checkout(payload: Fields): TopicEvent {
  return {
    type: 'checkout.started',
    order_id: null,
    customer: buyerOf(payload),
    marketing: null,
    data: {
      checkout: {
        id: required(payload, 'id'),
        currency: textOf(payload['currency']),
        total: textOf(payload['total']),
        url: textOf(payload['payment_url']),
        items: itemsOf(payload, ['name', 'parent_name']),
      },
    },
  }
}

function customerChange(payload: Fields, type: string): TopicEvent {
  refuseError(payload)
  const id = required(payload, 'id')
  const [billing, shipping] = [objectOf(payload['billing']), objectOf(payload['shipping'])]
  const customer = customerOf({
    external_id: id,
    phones: [billing['phone'], shipping['phone']],
    countries: [billing['country'], shipping['country']],
    emails: [payload['email'], billing['email']],
    first_names: [payload['first_name'], billing['first_name']],
    last_names: [payload['last_name'], billing['last_name']],
  })
  return { type, order_id: null, customer, marketing: null, data: { customer: { ...customer, id } } }
}

/** Sent if the webhook's user may not read the resource. */
function refuseError(payload: Fields): void {
  if (payload['id'] === undefined && typeof payload['code'] === 'string' && typeof payload['message'] === 'string')
    throw invalid(
      'id',
      'missing_field',
      `WooCommerce sent an error of its own instead of the resource: ${payload['message']} Let a user who may read it make the webhook.`,
    )
}

function buyerOf(payload: Fields): TopicEvent['customer'] {
  const [billing, shipping] = [objectOf(payload['billing']), objectOf(payload['shipping'])]
  return customerOf({
    external_id: payload['customer_id'],
    phones: [billing['phone'], shipping['phone']],
    countries: [billing['country'], shipping['country']],
    emails: [billing['email']],
    first_names: [billing['first_name'], shipping['first_name']],
    last_names: [billing['last_name'], shipping['last_name']],
  })
}

/** From the extension Shipment Tracking (https://woocommerce.com/document/shipment-tracking/). */
function shippingOf(payload: Fields): Fields {
  const tracking = objectsOf(payload['meta_data']).find(({ key }) => key === '_wc_shipment_tracking_items')
  const parcel = objectsOf(tracking?.['value']).at(-1) ?? {}
  return {
    carrier: firstText(parcel['custom_tracking_provider'], parcel['tracking_provider']),
    tracking_number: textOf(parcel['tracking_number']),
    tracking_url: firstText(parcel['custom_tracking_link'], parcel['formatted_tracking_link']),
  }
}

const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  60: '<',
  62: '>',
  38: '&',
  34: '"',
  39: "'",
  x26: '&',
  x22: '"',
  x27: "'",
}

/**
 * WooCommerce signs with the secret after `wp_specialchars_decode` with `ENT_QUOTES`
 * (https://developer.wordpress.org/reference/functions/wp_specialchars_decode/).
 */
function decodeSpecialCharacters(text: string): string {
  return text.replaceAll(
    /&(?:(lt|gt|amp|quot)|#0*(60|62|38|34|39)|#(?:x|X)0*(2[267]));/g,
    (entity, name?: string, decimal?: string, hexadecimal?: string) =>
      entities[name ?? decimal ?? `x${hexadecimal}`] ?? entity,
  )
}
