/** Webhooks of shops and sites: authentication, refusals, and each event stored once (behaviour: integrations 4.1, 4.2, 4.3, 4.5, 4.6, 4.7, 4.8). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answered } from '../support/api.ts'
import { automationOf, happened } from '../support/automations.ts'
import {
  customWebhook,
  readSample,
  shopifyWebhook,
  wooCommerceWebhook,
  type ShopWebhook,
} from '../support/shop-webhooks.ts'
import { startWorld, type TestAccount, type World } from '../support/world.ts'

interface Source {
  readonly id: string
  readonly secret: string
  readonly platform: string
}

async function sourceOf({ api }: TestAccount, platform: string, secret = 'shpss_0123456789abcdef'): Promise<Source> {
  const { id } = (await api.post('/v1/integration_sources', { platform, external_id: `${platform}.example.com` })).body
  await api.patch(`/v1/integration_sources/${id}`, { signing_secret: secret })
  return { id, secret, platform }
}

const deliver = (
  world: World,
  source: Source,
  { headers, body }: ShopWebhook,
  platform = source.platform,
): Promise<Answered> => world.api().send('POST', `/v1/ingest/${platform}/${source.id}`, headers, body)

const shopify = (
  world: World,
  source: Source,
  topic: string,
  event_id: string,
  body = readSample(`shopify/${topic.replace('/', '-')}`),
) => deliver(world, source, shopifyWebhook(topic, source.secret, body, { event_id }))

const unixSeconds = (world: World) => Math.floor(world.clock.now() / 1000)
const refusal = ({ status, body }: Answered) =>
  [status, body.error?.code, body.error?.param].filter((part) => part !== undefined)

test('a Shopify webhook is stored before it is acknowledged, and a repetition is a duplicate', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const source = await sourceOf(account, 'shopify')

  const first = await shopify(world, source, 'orders/paid', 'e-1')
  const again = await shopify(world, source, 'orders/paid', 'e-1')
  const stored = await account.api.get(`/v1/automation_events/${first.body.id}`)

  assert.equal(first.status, 200)
  assert.deepEqual(
    [
      first.body.object,
      first.body.origin,
      first.body.type,
      first.body.event_id,
      first.body.status,
      first.body.reason,
      first.body.source_id,
    ],
    ['automation_event', 'native_webhook', 'order.paid', 'orders/paid:e-1', 'ignored', 'no_automation', source.id],
  )
  const { raw, ...data } = stored.body.data
  assert.deepEqual([data.order.number, data.order.total, raw.id], ['#1001', '59.99', '820982911946154508'])
  assert.deepEqual({ ...stored.body, data }, first.body)
  assert.deepEqual([again.status, again.body.id, again.body.status], [200, first.body.id, 'duplicate'])
  assert.equal((await account.api.get('/v1/automation_events')).body.data.length, 1)
})

test("an order's status counts once, whichever topic reports it, also with concurrent topics", async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const source = await sourceOf(account, 'shopify')

  const shipped = await Promise.all(
    ['orders/fulfilled', 'orders/partially_fulfilled', 'fulfillments/create'].map((topic, n) =>
      shopify(world, source, topic, `e-${n}`),
    ),
  )
  const delivered = await shopify(world, source, 'fulfillment_events/create', 'e-9')
  const statuses = shipped.map(({ body }) => String(body.status))

  assert.deepEqual(statuses.toSorted(), ['duplicate', 'duplicate', 'ignored'])
  assert.equal(new Set(shipped.map(({ body }) => body.id)).size, 1)
  assert.deepEqual([delivered.body.type, delivered.body.status], ['order.delivered', 'ignored'])
})

test("WooCommerce's ping is answered without effect, and an order is reported by its status", async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const source = await sourceOf(account, 'woocommerce', 'geheim & s&uuml;&szlig;')
  const woo = (file: string) => {
    const body = readSample(`woocommerce/${file}`)
    return deliver(world, source, wooCommerceWebhook(file.split('-')[0]!, source.secret, body))
  }

  const ping = await deliver(world, source, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'webhook_id=7',
  })
  const answers = []
  for (const file of [
    'order.created',
    'order.updated-processing',
    'order.updated-completed',
    'order.updated-pending',
    'customer.created',
  ])
    answers.push(await woo(file))

  assert.deepEqual([ping.status, ping.body], [200, { ping: true }])
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.type, body.status, body.reason]),
    [
      [200, 'order.created', 'ignored', 'no_automation'],
      [200, 'order.paid', 'ignored', 'no_automation'],
      [200, 'order.completed', 'ignored', 'no_automation'],
      [200, 'woocommerce.order.updated', 'ignored', 'unmapped_topic'],
      [200, 'customer.created', 'ignored', 'no_automation'],
    ],
  )
  assert.equal((await account.api.get('/v1/automation_events')).body.data.length, 5)
})

test('an order with two statuses within a second is reported with both', async (t) => {
  const world = await startWorld(t)
  const source = await sourceOf(await world.account(), 'woocommerce')
  const at = (file: string) =>
    readSample(`woocommerce/${file}`).replace(
      /"date_modified_gmt": "[^"]*"/,
      '"date_modified_gmt": "2026-01-31T09:31:00"',
    )
  const send = async (file: string) =>
    (await deliver(world, source, wooCommerceWebhook('order.updated', source.secret, at(file)))).body

  const [pending, processing, again] = [
    await send('order.updated-pending'),
    await send('order.updated-processing'),
    await send('order.updated-processing'),
  ]

  assert.deepEqual([pending.reason, processing.type, processing.status], ['unmapped_topic', 'order.paid', 'ignored'])
  assert.deepEqual([again.id, again.status], [processing.id, 'duplicate'])
})

test('every kind of invalid webhook has its answer, in the order of the checks, and none is stored', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const source = await sourceOf(account, 'shopify')
  const good = shopifyWebhook('orders/paid', source.secret, readSample('shopify/orders-paid'))
  const signed = (body: string, topic = 'orders/paid') => shopifyWebhook(topic, source.secret, body)
  const { 'x-shopify-hmac-sha256': _, ...unsigned } = good.headers
  const { 'x-shopify-topic': __, ...topicless } = good.headers
  const huge = ' '.repeat(256 * 1024 + 1)
  const answer = async (webhook: ShopWebhook, platform?: string, to = source) =>
    refusal(await deliver(world, to, webhook, platform))

  assert.deepEqual(await answer({ headers: unsigned, body: huge }, 'woocommerce'), [404, 'resource_missing'])
  assert.deepEqual(
    await answer({ headers: unsigned, body: huge }, 'shopify', { ...source, id: 'src_01kg9p6je0e6z9vsnhtbf6d24v' }),
    [404, 'resource_missing'],
  )
  assert.deepEqual(await answer({ headers: unsigned, body: huge }, 'shopify', { ...source, id: account.id }), [
    404,
    'resource_missing',
  ])
  assert.deepEqual(await answer({ headers: unsigned, body: huge }), [413, 'payload_too_large'])
  assert.deepEqual(await answer({ headers: unsigned, body: '{' }), [401, 'webhook_signature_invalid'])
  assert.deepEqual(await answer(shopifyWebhook('orders/paid', 'another secret', '{')), [
    401,
    'webhook_signature_invalid',
  ])
  assert.deepEqual(await answer({ ...good, body: good.body.slice(0, -10) }), [401, 'webhook_signature_invalid'])
  assert.deepEqual(await answer({ ...good, body: `${good.body} ` }), [401, 'webhook_signature_invalid'])
  assert.deepEqual(await answer({ headers: {}, body: 'webhook_id=7' }), [401, 'webhook_signature_invalid'])
  assert.deepEqual(await answer(signed(good.body.slice(0, -10))), [400, 'invalid_json'])
  assert.deepEqual(await answer(signed('')), [400, 'invalid_json'])
  assert.deepEqual(await answer(signed('null')), [400, 'parameter_invalid'])
  assert.deepEqual(await answer(signed('{"nonsense":true}')), [400, 'parameter_missing', 'id'])
  assert.deepEqual(await answer({ headers: topicless, body: good.body }), [400, 'parameter_missing', 'X-Shopify-Topic'])
  await account.api.patch(`/v1/integration_sources/${source.id}`, { status: 'disabled' })
  assert.deepEqual(await answer({ headers: unsigned, body: huge }), [403, 'source_disabled'])
  assert.deepEqual((await account.api.get('/v1/automation_events')).body.data, [])
})

test('a new secret, a disabled or deleted source, and a suspended account take effect at once', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const source = await sourceOf(account, 'shopify')
  const send = async (secret: string, event_id: string) => {
    const { status, body } = await shopify(world, { ...source, secret }, 'products/update', event_id)
    return status === 200 ? 200 : body.error.code
  }

  const before = await send(source.secret, '1')
  const { signing_secret } = (await account.api.post(`/v1/integration_sources/${source.id}/roll_key`)).body
  const rolled = [await send(source.secret, '2'), await send(signing_secret, '3')]
  await world.services.accounts.suspend(account.id)
  const suspended = await send(signing_secret, '4')
  await world.services.accounts.reinstate(account.id)
  const reinstated = await send(signing_secret, '5')
  await account.api.delete(`/v1/integration_sources/${source.id}`)

  assert.deepEqual(
    [before, ...rolled, suspended, reinstated],
    [200, 'webhook_signature_invalid', 200, 'account_suspended', 200],
  )
  assert.equal(await send(signing_secret, '6'), 'resource_missing')
})

test('any platform may report in our own format through custom, signed with its own time', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const source = await sourceOf(account, 'magento', 'whsec_of-the-module')
  const event = {
    type: 'form.submitted',
    event_id: 'f-1',
    customer: { phone: '+4915112345678' },
    data: { form: { name: 'Contact' } },
  }
  const send = (body: unknown, platform = 'magento', at = unixSeconds(world)) =>
    deliver(world, source, customWebhook(source.secret, at, JSON.stringify(body)), platform)

  const own = await send(event)
  const replayed = await send(event, 'custom')
  const stale = await send({ ...event, event_id: 'f-2' }, 'magento', unixSeconds(world) - 301)
  const wrong = await send({ type: 'order.exploded', event_id: 'f-3' })
  const mistyped = await send({ type: 7, customer: [] })
  const shouted = await deliver(
    world,
    source,
    customWebhook(source.secret, unixSeconds(world), JSON.stringify({ ...event, event_id: 'f-4' })),
    'MAGENTO',
  )

  assert.deepEqual(
    [own.status, own.body.type, own.body.event_id, own.body.data],
    [200, 'form.submitted', 'f-1', event.data],
  )
  assert.deepEqual([replayed.status, replayed.body.id, replayed.body.status], [200, own.body.id, 'duplicate'])
  assert.deepEqual(refusal(stale), [401, 'webhook_signature_invalid'])
  assert.deepEqual(refusal(wrong), [400, 'parameter_invalid', 'type'])
  assert.deepEqual(mistyped.body.error.details.map(({ param }: { param: string }) => param).toSorted(), [
    'customer',
    'event_id',
    'type',
  ])
  assert.equal(shouted.status, 200)
})

test("a redaction deletes the customer's contacts and clears the source's receipts of that customer only", async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const source = await sourceOf(account, 'shopify')
  const order = await shopify(world, source, 'orders/create', '1')
  const cart = await shopify(world, source, 'carts/update', '2')
  const customer = (
    await account.api.post('/v1/contacts/upsert', { phone: '+49301234567', email: 'Erika@example.com' })
  ).body
  const other = (await account.api.post('/v1/contacts', { phone: '+4915112345678' })).body
  const automation = await automationOf(account, source.id)
  const [waiting, others] = await happened(world.platform, account, automation, [
    { to: '+49301234567', customer: { external_id: '115310627314723954' }, delay_ms: 3600_000 },
    { to: '+4915112345678', customer: { external_id: '7' }, delay_ms: 3600_000 },
  ])

  const requested = await shopify(world, source, 'customers/data_request', '5')
  const updated = await shopify(world, source, 'orders/updated', '6')
  const foreign = await shopify(world, source, 'products/update', '7')
  const form = {
    type: 'form.submitted',
    event_id: 'f',
    customer: { phone: '+49 30 123-45 67' },
    data: { form: 'Contact' },
  }
  const written = await deliver(
    world,
    source,
    customWebhook(source.secret, unixSeconds(world), JSON.stringify(form)),
    'custom',
  )
  const redacted = await shopify(world, source, 'customers/redact', '3')
  const again = await shopify(world, source, 'customers/redact', '4')
  await world.periodicJobs()
  const receipt = (id: string) => account.api.get(`/v1/automation_events/${id}`)

  assert.deepEqual(
    [redacted.status, redacted.body.type, redacted.body.status, redacted.body.data],
    [200, 'shopify.customers/redact', 'ignored', {}],
  )
  assert.equal(again.status, 200)
  const run = async (id: string) => (await account.api.get(`/v1/automation_runs/${id}`)).body
  assert.deepEqual(
    [(await run(waiting!)).status, (await run(waiting!)).reason, (await run(others!)).status],
    ['skipped', 'contact_deleted', 'scheduled'],
  )
  const [kept] = await world.pool<
    { to: string | null; data: string }[]
  >`select "to", (select data::text from automation_events e where e.id = automation_event_id) as data
    from automation_runs where id = ${waiting!}`
  assert.deepEqual(kept, { to: null, data: '{}' })
  assert.deepEqual(
    [(await receipt(order.body.id)).body.data, (await receipt(order.body.id)).body.type],
    [{}, 'order.created'],
  )
  for (const { body } of [requested, updated, written])
    assert.deepEqual([(await receipt(body.id)).body.data, (await receipt(body.id)).body.type], [{}, body.type])
  assert.equal((await receipt(foreign.body.id)).body.data.raw.title, 'Tasse')
  assert.equal((await receipt(cart.body.id)).body.data.cart.items.length, 1)
  assert.equal((await account.api.get(`/v1/contacts/${customer.id}`)).status, 404)
  assert.equal((await account.api.get(`/v1/contacts/${other.id}`)).status, 200)
  await world.invariants()
})

test('an unticked box for e-mails does not withdraw consent, an unsubscription does', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const source = await sourceOf(account, 'shopify')
  const { id } = (
    await account.api.post('/v1/contacts', { phone: '+49301234567', consent: { whatsapp: { marketing: 'opted_in' } } })
  ).body
  const order = readSample('shopify/orders-create')
  const marketing = async () => (await account.api.get(`/v1/contacts/${id}`)).body.consent.whatsapp?.marketing

  await shopify(
    world,
    source,
    'orders/create',
    '1',
    order.replace('"buyer_accepts_marketing": true', '"buyer_accepts_marketing": false'),
  )
  const unticked = await marketing()
  await shopify(
    world,
    source,
    'orders/paid',
    '2',
    order.replace('"state": "not_subscribed"', '"state": "unsubscribed"'),
  )

  assert.deepEqual([unticked, await marketing()], ['opted_in', 'opted_out'])
})

test('a parcel is reported for the buyer of the order with that consent, also if the order had no recipient', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const source = await sourceOf(account, 'shopify')
  await automationOf(account, source.id, { event_type: 'order.created' })
  await automationOf(account, source.id, { event_type: 'order.shipped', category: 'marketing' })
  const order = readSample('shopify/orders-create').replaceAll(/"phone": "[^"]*"/g, '"phone": null')

  const created = await shopify(
    world,
    source,
    'orders/create',
    '1',
    order.replace('"buyer_accepts_marketing": true', '"buyer_accepts_marketing": false'),
  )
  const shipped = await shopify(world, source, 'fulfillments/create', '2')

  assert.deepEqual(
    [created.body.type, created.body.status, created.body.reason],
    ['order.created', 'skipped', 'no_identifier'],
  )
  assert.deepEqual(
    [shipped.body.type, shipped.body.status, shipped.body.reason],
    ['order.shipped', 'skipped', 'consent_missing'],
  )
})

test('a parcel without a customer does not reveal the buyer beside a topic that names them', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const source = await sourceOf(account, 'shopify')
  for (const event_type of ['order.shipped', 'order.delivered']) await automationOf(account, source.id, { event_type })
  const parcel = readSample('shopify/fulfillments-create').replaceAll(/"phone": "[^"]*"/g, '"phone": null')

  const nobody = await shopify(world, source, 'fulfillments/create', '1', parcel)
  const shipped = await shopify(world, source, 'orders/fulfilled', '2')
  const delivered = await shopify(world, source, 'fulfillment_events/create', '3')

  assert.deepEqual([nobody.body.status, nobody.body.reason], ['skipped', 'no_identifier'])
  assert.deepEqual([shipped.body.type, shipped.body.status], ['order.shipped', 'accepted'])
  assert.deepEqual([delivered.body.type, delivered.body.status], ['order.delivered', 'accepted'])
})

test('a thousand concurrent webhooks, a tenth of them repeated, store each event once', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const source = await sourceOf(account, 'custom', 'whsec_of-the-site')
  const types = [
    'order.created',
    'order.paid',
    'order.shipped',
    'cart.abandoned',
    'form.submitted',
    'booking.reminder',
    'custom.points_earned',
  ]
  const events = Array.from({ length: 900 }, (_, n) => ({
    type: types[n % types.length],
    event_id: `wp-${n}`,
    occurred_at: world.clock.iso(),
    customer: {
      external_id: String(n),
      phone: `+49151${String(10_000_000 + n)}`,
      email: `c${n}@example.com`,
      first_name: 'Zoë',
      tags: ['web'],
    },
    consent: { transactional: true, marketing: n % 3 === 0 },
    data: {
      order: {
        id: String(n),
        number: `#${n}`,
        currency: 'EUR',
        total: '59.99',
        items: [{ name: 'Tasse ☕', quantity: 2, price: '14.50' }],
      },
    },
  }))
  const shown = [...events, ...events.filter((_, n) => n % 9 === 0)]
  const send = (event: object) =>
    deliver(world, source, customWebhook(source.secret, unixSeconds(world), JSON.stringify(event)))

  const answers: Answered[] = []
  for (let at = 0; at < shown.length; at += 200)
    answers.push(...(await Promise.all(shown.slice(at, at + 200).map(send))))
  const [kept] = await world.pool<
    { count: number }[]
  >`select count(distinct event_id)::int as count from automation_events where source_id = ${source.id}`

  assert.deepEqual([answers.length, answers.filter(({ status }) => status !== 200).length], [1000, 0])
  assert.equal(answers.filter(({ body }) => body.status === 'duplicate').length, 100)
  assert.equal(kept!.count, 900)
  await world.invariants()
})
