import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { Problem } from '../api/problem.ts'
import { readPayload } from './payload.ts'
import { readShopify } from './shopify/shopify.ts'
import type { SourceEvent } from './event.ts'
import { readWooCommerce, woocommerce as wooCommerceSource } from './woocommerce/woocommerce.ts'
import { readSample, shopifyWebhook, wooCommerceWebhook } from '../../test/support/shop-webhooks.ts'
import { effort } from '../../test/support/effort.ts'

const isPing = (headers: Record<string, string>, body: Buffer) => wooCommerceSource.isPing!({ headers, body })
const digest = 'd'.repeat(64)
const shopify = (topic: string, body: string, more: Record<string, string> = {}): SourceEvent =>
  readShopify({
    headers: shopifyWebhook(topic, 's', body, more).headers,
    payload: readPayload(Buffer.from(body)),
    digest: () => digest,
  })
const woocommerce = (topic: string, body: string): SourceEvent =>
  readWooCommerce({
    headers: wooCommerceWebhook(topic, 's', body).headers,
    payload: readPayload(Buffer.from(body)),
    digest: () => digest,
  })
const sampleOf = (topic: string) => readSample(`shopify/${topic.replace('/', '-')}`)

const erika = { phone: '+49301234567', email: 'erika@example.com', first_name: 'Erika', last_name: 'Muster' }
const order = '820982911946154508'

test('each known topic of Shopify becomes its event, with its order', () => {
  const read = (topic: string) => {
    const { type, order_id, unmapped } = shopify(topic, sampleOf(topic))
    return [topic, type, order_id, unmapped ?? false]
  }
  const topics = readdirSync(join(import.meta.dirname, 'shopify/samples')).map((file) =>
    file.replace('.json', '').replace('-', '/'),
  )

  assert.deepEqual(topics.toSorted().map(read), [
    ['app/uninstalled', 'shopify.app/uninstalled', null, true],
    ['carts/create', 'cart.updated', null, false],
    ['carts/update', 'cart.updated', null, false],
    ['checkouts/create', 'checkout.started', null, false],
    ['checkouts/delete', 'shopify.checkouts/delete', null, true],
    ['checkouts/update', 'checkout.started', null, false],
    ['customers/create', 'customer.created', null, false],
    ['customers/data_request', 'shopify.customers/data_request', null, true],
    ['customers/redact', 'shopify.customers/redact', null, true],
    ['customers/update', 'customer.updated', null, false],
    ['customers_marketing_consent/update', 'customer.updated', null, false],
    ['fulfillment_events/create', 'order.delivered', order, false],
    ['fulfillments/create', 'order.shipped', order, false],
    ['fulfillments/update', 'order.out_for_delivery', order, false],
    ['orders/cancelled', 'order.cancelled', order, false],
    ['orders/create', 'order.created', order, false],
    ['orders/fulfilled', 'order.shipped', order, false],
    ['orders/paid', 'order.paid', order, false],
    ['orders/partially_fulfilled', 'order.shipped', order, false],
    ['orders/updated', 'shopify.orders/updated', null, true],
    ['products/update', 'shopify.products/update', null, true],
    ['refunds/create', 'order.refunded', order, false],
    ['shop/redact', 'shopify.shop/redact', null, true],
  ])
})

test('an order of Shopify has normalized data, beside the original with every digit of its ids', () => {
  const event = shopify('orders/fulfilled', sampleOf('orders/fulfilled'))
  const { raw, ...data } = event.data

  assert.deepEqual(data, {
    order: {
      id: order,
      number: '#1001',
      status: 'shipped',
      currency: 'EUR',
      total: '59.99',
      url: 'https://shop.example.com/548380009/orders/b1946ac92492d2347c6235b4d2611184/authenticate?key=abcdefg',
      items: [
        { id: '788032119674292922', name: 'Tasse', variant: 'Blau', sku: 'TASSE-B', quantity: 2, price: '14.50' },
        { id: '788032119674292923', name: 'Kanne', variant: 'Blau', sku: 'KANNE-B', quantity: 1, price: '30.99' },
      ],
      shipping: {
        carrier: 'DHL',
        tracking_number: '00340434161094042557',
        tracking_url:
          'https://www.dhl.de/de/privatkunden/pakete-empfangen/verfolgen.html?piececode=00340434161094042557',
      },
    },
  })
  assert.equal((raw as { id: string }).id, order)
  assert.deepEqual(event.customer, {
    external_id: '115310627314723954',
    ...erika,
    locale: 'de',
    tags: ['Stammkunde', 'newsletter'],
  })
  assert.equal(event.occurred_at, '2026-01-31T09:30:00.877Z')
})

test("the id of a Shopify event is the event's with its topic, else the webhook's, else the body's", () => {
  const body = sampleOf('orders/paid')
  const { headers } = shopifyWebhook('orders/paid', 's', body)
  const { 'x-shopify-event-id': _, ...withoutEvent } = headers
  const { 'x-shopify-webhook-id': __, ...withoutBoth } = withoutEvent
  const id = (headers: Record<string, string>) =>
    readShopify({ headers, payload: readPayload(Buffer.from(body)), digest: () => digest }).event_id

  assert.deepEqual([headers, withoutEvent, withoutBoth].map(id), [
    `orders/paid:${headers['x-shopify-event-id']}`,
    `orders/paid:${headers['x-shopify-webhook-id']}`,
    `orders/paid:${digest}`,
  ])
  assert.equal(id({ ...headers, 'x-shopify-event-id': 'x'.repeat(300) }), `orders/paid:${digest}`)
  assert.equal(id({ ...headers, 'x-shopify-event-id': '', 'x-shopify-webhook-id': ' ' }), `orders/paid:${digest}`)
})

test('carts and checkouts of Shopify have items, and open checkouts a link; completed ones are ignored', () => {
  const checkout = shopify('checkouts/create', sampleOf('checkouts/create'))
  const completed = shopify(
    'checkouts/update',
    sampleOf('checkouts/update').replace('"completed_at": null', '"completed_at": "2026-01-31T10:31:00+01:00"'),
  )
  const cart = shopify('carts/update', sampleOf('carts/update'))

  assert.deepEqual(checkout.data['checkout'], {
    id: '123123123',
    currency: 'EUR',
    total: '29.00',
    url: 'https://shop.example.com/548380009/checkouts/123123123/recover?key=beispiel',
    items: [{ id: '632910392', name: 'Tasse', variant: 'Blau', sku: 'TASSE-B', quantity: 2, price: '14.50' }],
  })
  assert.equal(checkout.customer.phone, '+49301234567')
  assert.deepEqual([completed.type, completed.unmapped], ['shopify.checkouts/update', true])
  assert.equal((cart.data['cart'] as { id: string }).id, 'eeafa272cebfd4b22385bc4b645e762c')
  assert.deepEqual(cart.customer, {})
})

test('consent to text messages is marketing consent for the event; a no to e-mails counts for the event, an unsubscription for good', () => {
  const marketing = (topic: string, change: (body: string) => string = (body) => body) => {
    const { consent, consent_this_event_only } = shopify(topic, change(sampleOf(topic)))
    return [consent.marketing, consent_this_event_only ?? false]
  }
  const sms = (state: string) => (body: string) => body.replace('"state": "not_subscribed"', `"state": "${state}"`)

  assert.deepEqual(shopify('orders/create', sampleOf('orders/create')).consent, {
    transactional: null,
    marketing: null,
  })
  assert.deepEqual(
    marketing('orders/create', (body) =>
      body.replace('"buyer_accepts_marketing": true', '"buyer_accepts_marketing": false'),
    ),
    [false, true],
  )
  assert.deepEqual(marketing('orders/create', sms('subscribed')), [true, true])
  assert.deepEqual(marketing('orders/create', sms('unsubscribed')), [false, false])
  assert.deepEqual(marketing('orders/create', sms('pending')), [null, false])
  assert.deepEqual(
    [marketing('checkouts/create'), marketing('checkouts/update')],
    [
      [false, true],
      [true, true],
    ],
  )
  assert.deepEqual(
    [marketing('customers/create'), marketing('customers/update')],
    [
      [true, true],
      [false, false],
    ],
  )
  assert.deepEqual(marketing('customers_marketing_consent/update'), [false, false])
})

test('of a redaction only the customer is kept', () => {
  const event = shopify('customers/redact', sampleOf('customers/redact'))

  assert.deepEqual([event.customer, event.data], [{}, {}])
  assert.deepEqual(event.redaction, {
    external_id: '115310627314723954',
    phone: '+49301234567',
    email: 'erika@example.com',
    order_ids: [order],
  })
})

test("a carrier's status becomes a status of the order only if there is an equivalent", () => {
  const type = (status: string) =>
    shopify('fulfillment_events/create', sampleOf('fulfillment_events/create').replace('"delivered"', `"${status}"`))
      .type

  assert.deepEqual(['in_transit', 'out_for_delivery', 'label_printed', 'failure'].map(type), [
    'order.shipped',
    'order.out_for_delivery',
    'shopify.fulfillment_events/create',
    'shopify.fulfillment_events/create',
  ])
  assert.equal(shopify('fulfillments/update', sampleOf('fulfillments/create')).unmapped, true)
})

test('each known topic of WooCommerce becomes its event, a changed order by its status', () => {
  const read = (file: string) => {
    const { type, order_id, unmapped } = woocommerce(file.split('-')[0]!, readSample(`woocommerce/${file}`))
    return [file, type, order_id, unmapped ?? false]
  }
  const files = readdirSync(join(import.meta.dirname, 'woocommerce/samples')).map((file) => file.replace('.json', ''))

  assert.deepEqual(files.toSorted().map(read), [
    ['action.woocommerce_add_to_cart', 'woocommerce.action.woocommerce_add_to_cart', null, true],
    ['customer.created', 'customer.created', null, false],
    ['customer.deleted', 'woocommerce.customer.deleted', null, true],
    ['customer.updated', 'customer.updated', null, false],
    ['order.created', 'order.created', '727', false],
    ['order.deleted', 'woocommerce.order.deleted', null, true],
    ['order.restored', 'woocommerce.order.restored', null, true],
    ['order.updated-cancelled', 'order.cancelled', '727', false],
    ['order.updated-checkout-draft', 'checkout.started', null, false],
    ['order.updated-completed', 'order.completed', '727', false],
    ['order.updated-failed', 'order.payment_failed', '727', false],
    ['order.updated-on-hold', 'order.on_hold', '727', false],
    ['order.updated-pending', 'woocommerce.order.updated', null, true],
    ['order.updated-processing', 'order.paid', '727', false],
    ['order.updated-refunded', 'order.refunded', '727', false],
    ['product.updated', 'woocommerce.product.updated', null, true],
  ])
})

test('an order of WooCommerce has normalized data, with its phone number read by the billing country', () => {
  const event = woocommerce('order.updated', readSample('woocommerce/order.updated-completed'))
  const { raw: _, ...data } = event.data

  assert.deepEqual(data, {
    order: {
      id: '727',
      number: '727',
      status: 'completed',
      currency: 'BRL',
      total: '29.35',
      url: 'https://loja.example.com/checkout/order-pay/727/?pay_for_order=true&key=wc_order_58d2d042d1d',
      items: [
        { id: '93', name: 'Camiseta', variant: null, sku: 'CAM-1', quantity: 2, price: '3' },
        { id: '22', name: 'Boné - Azul', variant: null, sku: 'BON-A', quantity: 1, price: '12.5' },
      ],
      shipping: {
        carrier: 'Correios',
        tracking_number: 'AA123456785BR',
        tracking_url: 'https://rastreamento.correios.com.br/app/index.php?objeto=AA123456785BR',
      },
    },
  })
  assert.deepEqual(event.customer, {
    phone: '+5511987654321',
    email: 'joao@example.com',
    first_name: 'João',
    last_name: 'Silva',
  })
  assert.deepEqual(
    [event.occurred_at, event.event_id],
    ['2026-01-31T09:40:00.000Z', 'order.updated:727:2026-01-31T09:40:00.000Z:completed'],
  )
})

test('the id of a WooCommerce event has topic, resource, modification and status, never the delivery', () => {
  assert.equal(woocommerce('customer.deleted', '{"id":25}').event_id, 'customer.deleted:25')
  assert.equal(
    woocommerce('action.woocommerce_add_to_cart', '{"action":"woocommerce_add_to_cart","arg":"d2"}').event_id,
    `action.woocommerce_add_to_cart:${digest}`,
  )
})

test('the ping of WooCommerce is recognized by its format, and other unsigned webhooks are not pings', () => {
  assert.equal(isPing({ 'content-type': 'application/x-www-form-urlencoded' }, Buffer.from('webhook_id=123')), true)
  assert.equal(isPing({ 'x-wc-webhook-topic': 'order.created' }, Buffer.from('webhook_id=123')), false)
  assert.equal(isPing({}, Buffer.from('webhook_id=123&x=1')), false)
  assert.equal(isPing({}, Buffer.from('{"webhook_id":123}')), false)
})

test('a payload without a required field is refused with the name of the field', () => {
  const refused = (read: () => unknown): string | undefined => {
    try {
      read()
    } catch (error) {
      if (error instanceof Problem) return `${error.code} ${error.param}`
      throw error
    }
    return undefined
  }
  const forbidden =
    '{"code":"woocommerce_rest_cannot_view","message":"Sorry, you cannot view this resource.","data":{"status":401}}'

  assert.equal(
    refused(() => shopify('orders/paid', '{"name":"#1"}')),
    'parameter_missing id',
  )
  assert.equal(
    refused(() => shopify('refunds/create', '{"id":1}')),
    'parameter_missing order_id',
  )
  assert.equal(
    refused(() => readShopify({ headers: {}, payload: { id: 1 }, digest: () => digest })),
    'parameter_missing X-Shopify-Topic',
  )
  assert.equal(
    refused(() => shopify('no topic\u00e4', '{"id":1}')),
    'parameter_invalid X-Shopify-Topic',
  )
  assert.equal(
    refused(() => woocommerce('order.updated', forbidden)),
    'parameter_missing id',
  )
  assert.equal(
    refused(() => readPayload(Buffer.from('[]'))),
    'parameter_invalid undefined',
  )
  assert.equal(
    refused(() => readPayload(Buffer.from('{"id":1'))),
    'invalid_json undefined',
  )
  assert.equal(
    refused(() => readPayload(Buffer.from([0x7b, 0xff, 0x7d]))),
    'invalid_json undefined',
  )
  assert.equal(
    refused(() => readPayload(Buffer.alloc(0))),
    'invalid_json undefined',
  )
})

test('any payload is read into storable values or refused with a sentence', () => {
  const topics = [
    'orders/paid',
    'fulfillments/create',
    'checkouts/update',
    'carts/create',
    'customers/update',
    'customers/redact',
  ]
  const anything = fc.jsonValue({ maxDepth: 3 })
  const fields = [
    'id',
    'customer',
    'billing_address',
    'billing',
    'line_items',
    'fulfillments',
    'phone',
    'meta_data',
    'name',
    'status',
    'order_id',
    'created_at',
  ]

  fc.assert(
    fc.property(fc.constantFrom(...topics), fc.dictionary(fc.constantFrom(...fields), anything), (topic, payload) => {
      const body = JSON.stringify(payload)
      for (const read of [
        () => shopify(topic, body),
        () => woocommerce('order.created', body),
        () => woocommerce('customer.updated', body),
      ]) {
        try {
          const event = read()
          assert.ok(event.event_id.length <= 255 && event.type.length <= 150)
          assert.ok(typeof event.customer.phone !== 'string' || /^\+[1-9]\d{6,14}$/.test(event.customer.phone))
          assert.ok(!JSON.stringify(event).includes('\\u0000'))
        } catch (error) {
          assert.ok(error instanceof Problem, String(error))
        }
      }
    }),
    { numRuns: effort(100, 1000) },
  )
})

test('values that cannot be stored are repaired, because the shop cannot change them', () => {
  const payload = readPayload(
    Buffer.from(
      `{"id":820982911946154508,"n":"a\\u0000b","half":"\\ud800","deep":${'['.repeat(60)}${']'.repeat(60)},"text":"820982911946154508123"}`,
    ),
  )

  assert.deepEqual(
    { ...payload, deep: undefined },
    { id: '820982911946154508', n: 'a\uFFFDb', half: '\uFFFD', deep: undefined, text: '820982911946154508123' },
  )
  assert.ok(JSON.stringify(payload['deep']).includes('null'))
})

test('a truncated text does not end with half a character', () => {
  const { data } = shopify('orders/paid', JSON.stringify({ id: 1, order_status_url: `${'x'.repeat(2047)}\u{1f600}` }))

  assert.equal((data['order'] as { url: string }).url, `${'x'.repeat(2047)}\uFFFD`)
})
