/** WooCommerce's webhooks in the words of the catalogue (behaviour: integrations 4.6): https://woocommerce.github.io/woocommerce-rest-api-docs/#webhooks. */
import type { IncomingHttpHeaders } from 'node:http'
import { invalid } from '../../api/problem.ts'
import type { Fields } from '../../lib/json-fields.ts'
import { customerOf, firstText, itemsOf, objectOf, objectsOf, textOf, timeOf } from '../fields.ts'
import { eventOf, required, topicOf, unmapped } from '../topics.ts'
import type { Meaning, NativeCall, NativeEvent } from '../native-event.ts'

/** What an order that was changed tells by its status. WooCommerce calls an order that is paid and waits for its parcel `processing`. */
const statuses: Readonly<Record<string, string>> = {
  processing: 'paid',
  'on-hold': 'on_hold',
  completed: 'completed',
  cancelled: 'cancelled',
  refunded: 'refunded',
  failed: 'payment_failed',
}

/** What a topic means; null: nothing that the catalogue has. */
const meanings: Readonly<Record<string, (payload: Fields) => Meaning | null>> = {
  'order.created': (payload) => order(payload, 'created'),
  'order.updated': changedOrder,
  'customer.created': (payload) => customerChange(payload, 'customer.created'),
  'customer.updated': (payload) => customerChange(payload, 'customer.updated'),
}

/** The unsigned form that WooCommerce sends when a webhook is switched on; it has no topic, and wants exactly 200. */
export const isPing = (headers: IncomingHttpHeaders, body: Uint8Array): boolean =>
  headers['x-wc-webhook-signature'] === undefined &&
  headers['x-wc-webhook-topic'] === undefined &&
  body.length < 64 &&
  /^webhook_id=\d+$/.test(Buffer.from(body).toString('latin1').trim())

/** Throws `parameter_missing` where the topic, or what every payload of it has, is missing. */
export function readWooCommerce({ headers, payload, digest }: NativeCall): NativeEvent {
  const topic = topicOf(headers, 'X-WC-Webhook-Topic')
  const id = textOf(payload['id'])
  const changed = timeOf(payload['date_modified_gmt'], payload['date_created_gmt'])
  // its delivery id is the same for all of one second, and another one for each attempt; an order may get two statuses within a second
  const parts = [topic, id, changed, topic === 'order.updated' ? textOf(payload['status'])?.slice(0, 40) : null]
  const event_id =
    id === null || id.length > 100 ? `${topic}:${digest()}` : parts.filter((part) => typeof part === 'string').join(':')
  const meaning = Object.hasOwn(meanings, topic) ? meanings[topic]!(payload) : null
  if (meaning === null) return unmapped('woocommerce', topic, event_id, changed, payload)
  return eventOf(meaning, event_id, changed, payload)
}

function changedOrder(payload: Fields): Meaning | null {
  refuseError(payload)
  const told = textOf(payload['status']) ?? ''
  if (told === 'checkout-draft') return checkout(payload)
  return Object.hasOwn(statuses, told) ? order(payload, statuses[told]!) : null
}

function order(payload: Fields, status: string): Meaning {
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

/** An order that is still being written at the till. */
function checkout(payload: Fields): Meaning {
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

function customerChange(payload: Fields, type: string): Meaning {
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

/** Where the user who made a webhook may not read the resource, WooCommerce signs and sends the error of its own API instead. */
function refuseError(payload: Fields): void {
  if (payload['id'] === undefined && typeof payload['code'] === 'string' && typeof payload['message'] === 'string')
    throw invalid(
      'id',
      'missing_field',
      `WooCommerce sent an error of its own instead of the resource: ${payload['message']} Let a user who may read it make the webhook.`,
    )
}

function buyerOf(payload: Fields): Meaning['customer'] {
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

/** WooCommerce itself knows no parcels; the extension Shipment Tracking keeps them in the order's meta data (https://woocommerce.com/document/shipment-tracking/). */
function shippingOf(payload: Fields): Fields {
  const kept = objectsOf(payload['meta_data']).find(({ key }) => key === '_wc_shipment_tracking_items')
  const parcel = objectsOf(kept?.['value']).at(-1) ?? {}
  return {
    carrier: firstText(parcel['custom_tracking_provider'], parcel['tracking_provider']),
    tracking_number: textOf(parcel['tracking_number']),
    tracking_url: firstText(parcel['custom_tracking_link'], parcel['formatted_tracking_link']),
  }
}
