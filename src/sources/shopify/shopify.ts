/** Shopify's webhooks (behaviour: integrations 4.5): https://shopify.dev/docs/api/webhooks. */
import type { Fields } from '../../lib/json.ts'
import {
  customerOf,
  emailOf,
  firstText,
  idOf,
  itemsOf,
  objectOf,
  objectsOf,
  phoneOf,
  textOf,
  timeOf,
} from '../fields.ts'
import type { Source } from '../source.ts'
import {
  eventOf,
  headerText,
  hmacHeaderCheck,
  payloadReader,
  required,
  topicOf,
  unmapped,
  type JsonWebhook,
  type TopicEvent,
} from '../webhook.ts'
import type { ShopCustomer, SourceEvent } from '../event.ts'

export const shopify: Source = {
  platform: 'shopify',
  signatureCheck: (secret) =>
    hmacHeaderCheck(
      'X-Shopify-Hmac-Sha256',
      secret,
      "Give the source the app's client secret as `signing_secret`: Shopify signs with that.",
    ),
  read: payloadReader(readShopify),
  stores_payload: true,
}

const topics: Readonly<Record<string, (payload: Fields) => TopicEvent | null>> = {
  'orders/create': (payload) => order(payload, 'created'),
  'orders/paid': (payload) => order(payload, 'paid'),
  'orders/cancelled': (payload) => order(payload, 'cancelled'),
  'orders/fulfilled': (payload) => order(payload, 'shipped'),
  'orders/partially_fulfilled': (payload) => order(payload, 'shipped'),
  'fulfillments/create': (payload) => fulfillment(payload, statusOfShipment(payload['shipment_status']) ?? 'shipped'),
  'fulfillments/update': (payload) => fulfillment(payload, statusOfShipment(payload['shipment_status'])),
  'fulfillment_events/create': shipmentEvent,
  'refunds/create': refund,
  'checkouts/create': checkout,
  'checkouts/update': checkout,
  'carts/create': cart,
  'carts/update': cart,
  'customers/create': (payload) => customerChange(payload, 'customer.created'),
  'customers/update': (payload) => customerChange(payload, 'customer.updated'),
  'customers_marketing_consent/update': consentChange,
}

/** Its payload is not stored. */
const redactTopic = 'customers/redact'

export function readShopify(webhook: JsonWebhook): SourceEvent {
  const { headers, payload, digest } = webhook
  const topic = topicOf(headers, 'X-Shopify-Topic')
  const id =
    firstText(headerText(headers, 'x-shopify-event-id'), headerText(headers, 'x-shopify-webhook-id')) ?? digest()
  const event_id = `${topic}:${id.length > 100 ? digest() : id}`
  const occurred_at = timeOf(
    headerText(headers, 'x-shopify-triggered-at'),
    payload['updated_at'],
    payload['created_at'],
  )
  if (topic === redactTopic)
    return { ...unmapped('shopify', topic, event_id, occurred_at, {}), redaction: redactionOf(payload) }
  const event = Object.hasOwn(topics, topic) ? topics[topic]!(payload) : null
  if (event === null)
    return { ...unmapped('shopify', topic, event_id, occurred_at, payload), customer: subjectOf(topic, payload) }
  return eventOf(event, event_id, occurred_at, payload)
}

function order(payload: Fields, status: string): TopicEvent {
  const id = required(payload, 'id')
  const customer = objectOf(payload['customer'])
  const { tracked } = lastFulfillment(payload)
  return {
    type: `order.${status}`,
    order_id: id,
    customer: buyerOf(payload),
    ...consentOf(customer['sms_marketing_consent'], payload['buyer_accepts_marketing']),
    data: {
      order: {
        id,
        number: firstText(payload['name'], payload['order_number'], payload['number']),
        status,
        currency: textOf(payload['currency']),
        total: textOf(payload['total_price']),
        url: textOf(payload['order_status_url']),
        items: itemsOf(payload, ['title', 'name'], 'variant_title'),
        shipping: shippingOf(tracked),
      },
    },
  }
}

function lastFulfillment(payload: Fields): { tracked: Fields } {
  return {
    tracked:
      objectsOf(payload['fulfillments']).findLast(({ tracking_number }) => textOf(tracking_number) !== null) ?? {},
  }
}

function fulfillment(payload: Fields, status: string | null): TopicEvent | null {
  const id = required(payload, 'order_id')
  if (status === null || payload['status'] === 'cancelled') return null
  const destination = objectOf(payload['destination'])
  return {
    type: `order.${status}`,
    order_id: id,
    customer: customerOf({
      external_id: null,
      phones: [destination['phone']],
      countries: [destination['country_code']],
      emails: [payload['email']],
      first_names: [destination['first_name']],
      last_names: [destination['last_name']],
    }),
    buyer_unknown: true,
    marketing: null,
    // the order's name with a count: #1001.1
    data: {
      order: {
        ...bareOrder(id, status),
        number: textOf(payload['name'])?.replace(/\.\d+$/, '') ?? null,
        items: itemsOf(payload, ['title', 'name'], 'variant_title'),
        shipping: shippingOf(payload),
      },
    },
  }
}

function statusOfShipment(status: unknown): 'delivered' | 'out_for_delivery' | 'shipped' | null {
  if (status === 'delivered' || status === 'out_for_delivery') return status
  return status === 'in_transit' ? 'shipped' : null
}

function shipmentEvent(payload: Fields): TopicEvent | null {
  const id = required(payload, 'order_id')
  const status = statusOfShipment(payload['status'])
  return status === null
    ? null
    : {
        type: `order.${status}`,
        order_id: id,
        customer: {},
        buyer_unknown: true,
        marketing: null,
        data: { order: bareOrder(id, status) },
      }
}

function refund(payload: Fields): TopicEvent {
  const id = required(payload, 'order_id')
  return {
    type: 'order.refunded',
    order_id: id,
    customer: {},
    buyer_unknown: true,
    marketing: null,
    data: { order: bareOrder(id, 'refunded') },
  }
}

const bareOrder = (id: string, status: string): Fields => ({
  id,
  number: null,
  status,
  currency: null,
  total: null,
  url: null,
  items: [],
  shipping: shippingOf({}),
})

/** A completed checkout is reported by its order. */
function checkout(payload: Fields): TopicEvent | null {
  // newer payloads have no id
  const id = textOf(payload['id']) ?? required(payload, 'token')
  if (textOf(payload['completed_at']) !== null) return null
  const bySms = payload['buyer_accepts_sms_marketing']
  return {
    type: 'checkout.started',
    order_id: null,
    customer: buyerOf(payload),
    ...consentOf(
      bySms === true ? { state: 'subscribed' } : objectOf(payload['customer'])['sms_marketing_consent'],
      payload['buyer_accepts_marketing'],
    ),
    data: {
      checkout: {
        id,
        currency: textOf(payload['currency']),
        total: textOf(payload['total_price']),
        url: textOf(payload['abandoned_checkout_url']),
        items: itemsOf(payload, ['title', 'name'], 'variant_title'),
      },
    },
  }
}

function cart(payload: Fields): TopicEvent {
  const id = firstText(payload['id'], payload['token']) ?? required(payload, 'id')
  return {
    type: 'cart.updated',
    order_id: null,
    customer: {},
    marketing: null,
    data: {
      cart: { id, currency: null, total: null, url: null, items: itemsOf(payload, ['title', 'name'], 'variant_title') },
    },
  }
}

function customerChange(payload: Fields, type: string): TopicEvent {
  const id = required(payload, 'id')
  const address = objectOf(payload['default_address'])
  const customer = customerOf({
    external_id: id,
    phones: [payload['phone'], address['phone']],
    countries: [address['country_code']],
    emails: [payload['email']],
    first_names: [payload['first_name'], address['first_name']],
    last_names: [payload['last_name'], address['last_name']],
    locales: [payload['locale']],
    tags: payload['tags'],
  })
  return {
    type,
    order_id: null,
    customer,
    ...consentOf(payload['sms_marketing_consent'], undefined),
    data: { customer: { ...customer, id } },
  }
}

function consentChange(payload: Fields): TopicEvent {
  const id = firstText(payload['id'], payload['customer_id']) ?? required(payload, 'id')
  const customer = customerOf({
    external_id: id,
    phones: [payload['phone']],
    countries: [],
    emails: [],
    first_names: [],
    last_names: [],
  })
  return {
    type: 'customer.updated',
    order_id: null,
    customer,
    ...consentOf(payload['sms_marketing_consent'], undefined),
    data: { customer: { ...customer, id } },
  }
}

function subjectOf(topic: string, payload: Fields): ShopCustomer {
  const external_id =
    idOf(payload['customer_id']) ??
    (topic.startsWith('customers') && topic !== 'customers/data_request' ? idOf(payload['id']) : null)
  const email = emailOf([payload['email_address']])
  const phone = phoneOf([payload['phone_number']], null)
  return {
    ...(external_id === null ? {} : { external_id }),
    ...(email === null ? {} : { email }),
    ...(phone === null ? {} : { phone }),
    ...buyerOf(payload),
  }
}

function buyerOf(payload: Fields): ShopCustomer {
  const [customer, billing, shipping] = [
    objectOf(payload['customer']),
    objectOf(payload['billing_address']),
    objectOf(payload['shipping_address']),
  ]
  const address = objectOf(customer['default_address'])
  return customerOf({
    external_id: customer['id'],
    phones: [payload['phone'], customer['phone'], billing['phone'], shipping['phone'], address['phone']],
    countries: [billing['country_code'], shipping['country_code'], address['country_code']],
    emails: [payload['email'], payload['contact_email'], customer['email']],
    first_names: [customer['first_name'], billing['first_name'], shipping['first_name']],
    last_names: [customer['last_name'], billing['last_name'], shipping['last_name']],
    locales: [payload['customer_locale'], customer['locale']],
    tags: customer['tags'],
  })
}

/**
 * Consent to text messages counts for this event only, because it does not cover WhatsApp. `buyer_accepts_marketing` is
 * about e-mail: false counts for this event, true means nothing.
 */
function consentOf(sms: unknown, acceptsMail: unknown): Pick<TopicEvent, 'marketing' | 'consent_this_event_only'> {
  const { state } = objectOf(sms)
  if (state === 'unsubscribed' || state === 'redacted') return { marketing: false }
  if (state === 'subscribed') return { marketing: true, consent_this_event_only: true }
  return acceptsMail === false ? { marketing: false, consent_this_event_only: true } : { marketing: null }
}

const shippingOf = (tracked: Fields): Fields => ({
  carrier: textOf(tracked['tracking_company']),
  tracking_number: textOf(tracked['tracking_number']),
  tracking_url: textOf(tracked['tracking_url']),
})

/** https://shopify.dev/docs/apps/build/compliance/privacy-law-compliance */
function redactionOf(payload: Fields): NonNullable<SourceEvent['redaction']> {
  const customer = objectOf(payload['customer'])
  const orders: unknown[] = Array.isArray(payload['orders_to_redact']) ? payload['orders_to_redact'] : []
  return {
    external_id: idOf(customer['id']),
    phone: phoneOf([customer['phone']], null),
    email: emailOf([customer['email']]),
    order_ids: orders.map(textOf).filter((id) => id !== null),
  }
}
