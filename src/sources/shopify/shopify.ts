/** Shopify's webhooks in the words of the catalogue (behaviour: integrations 4.5): https://shopify.dev/docs/api/webhooks. */
import type { Fields } from '../../lib/json-fields.ts'
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
import { eventOf, required, topicOf, unmapped } from '../topics.ts'
import type { Meaning, NativeCall, NativeCustomer, NativeEvent } from '../native-event.ts'
import { headerText } from '../signatures.ts'

/** What a topic means; null: nothing that the catalogue has. */
const meanings: Readonly<Record<string, (payload: Fields) => Meaning | null>> = {
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

/** Topics whose payloads name people whose data is to go, or to be told; of the first one nothing is kept. */
const redactTopic = 'customers/redact'

/** Throws `parameter_missing` where the topic, or what every payload of it has, is missing. */
export function readShopify(call: NativeCall): NativeEvent {
  const { headers, payload, digest } = call
  const topic = topicOf(headers, 'X-Shopify-Topic')
  const told =
    firstText(headerText(headers, 'x-shopify-event-id'), headerText(headers, 'x-shopify-webhook-id')) ?? digest()
  const event_id = `${topic}:${told.length > 100 ? digest() : told}`
  const occurred_at = timeOf(
    headerText(headers, 'x-shopify-triggered-at'),
    payload['updated_at'],
    payload['created_at'],
  )
  if (topic === redactTopic)
    return { ...unmapped('shopify', topic, event_id, occurred_at, {}), redaction: redactionOf(payload) }
  const meaning = Object.hasOwn(meanings, topic) ? meanings[topic]!(payload) : null
  if (meaning === null)
    return { ...unmapped('shopify', topic, event_id, occurred_at, payload), customer: subjectOf(topic, payload) }
  return eventOf(meaning, event_id, occurred_at, payload)
}

function order(payload: Fields, status: string): Meaning {
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

/** Of a fulfillment, which is a part of an order at least: the order's own total and page are not told. */
function fulfillment(payload: Fields, status: string | null): Meaning | null {
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
    buyer_untold: true,
    marketing: null,
    // its name is the order's with a count behind it: #1001.1
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

/** What a carrier tells of a parcel; null for what is no status of the order. */
function statusOfShipment(told: unknown): 'delivered' | 'out_for_delivery' | 'shipped' | null {
  if (told === 'delivered' || told === 'out_for_delivery') return told
  return told === 'in_transit' ? 'shipped' : null
}

function shipmentEvent(payload: Fields): Meaning | null {
  const id = required(payload, 'order_id')
  const status = statusOfShipment(payload['status'])
  return status === null
    ? null
    : {
        type: `order.${status}`,
        order_id: id,
        customer: {},
        buyer_untold: true,
        marketing: null,
        data: { order: bareOrder(id, status) },
      }
}

function refund(payload: Fields): Meaning {
  const id = required(payload, 'order_id')
  return {
    type: 'order.refunded',
    order_id: id,
    customer: {},
    buyer_untold: true,
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

/** One that has become an order is told by the order. */
function checkout(payload: Fields): Meaning | null {
  // its id is missing from newer versions of the payload
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

/** A cart has no customer, no total and no page. */
function cart(payload: Fields): Meaning {
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

function customerChange(payload: Fields, type: string): Meaning {
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

/** The consent to text messages alone; those to e-mails and WhatsApp have topics of their own. */
function consentChange(payload: Fields): Meaning {
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

/** Whose a payload of any topic is, so that he can be forgotten with it. */
function subjectOf(topic: string, payload: Fields): NativeCustomer {
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

function buyerOf(payload: Fields): NativeCustomer {
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
 * What of a customer's word on marketing goes for messages to his phone. A yes to text messages is one for this event; that he may be written to on WhatsApp
 * it does not say. `buyer_accepts_marketing` is about e-mails, and a box that nobody ticked is no refusal for ever: a no holds for this event, a yes says nothing.
 * Who was never asked, or has not confirmed yet, has said nothing.
 */
function consentOf(sms: unknown, acceptsMail: unknown): Pick<Meaning, 'marketing' | 'consent_passing'> {
  const { state } = objectOf(sms)
  if (state === 'unsubscribed' || state === 'redacted') return { marketing: false }
  if (state === 'subscribed') return { marketing: true, consent_passing: true }
  return acceptsMail === false ? { marketing: false, consent_passing: true } : { marketing: null }
}

const shippingOf = (tracked: Fields): Fields => ({
  carrier: textOf(tracked['tracking_company']),
  tracking_number: textOf(tracked['tracking_number']),
  tracking_url: textOf(tracked['tracking_url']),
})

/** https://shopify.dev/docs/apps/build/compliance/privacy-law-compliance */
function redactionOf(payload: Fields): NonNullable<NativeEvent['redaction']> {
  const customer = objectOf(payload['customer'])
  const orders: unknown[] = Array.isArray(payload['orders_to_redact']) ? payload['orders_to_redact'] : []
  return {
    external_id: idOf(customer['id']),
    phone: phoneOf([customer['phone']], null),
    email: emailOf([customer['email']]),
    order_ids: orders.map(textOf).filter((id) => id !== null),
  }
}
