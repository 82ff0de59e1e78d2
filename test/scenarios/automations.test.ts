/** Automations: create, change, delete, validation (behaviour: integrations 1.4, 1.5, 5.1, 5.2, 5.5, 5.7). */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Answered, Api } from '../support/api.ts'
import { liveSms } from '../support/campaigns.ts'
import { startWorld } from '../support/world.ts'

const text = (body: unknown) => ({ message: { type: 'text', text: { body } } })
const rule = (field: unknown, operator: unknown, value?: unknown) => ({
  match: 'all',
  conditions: [{ field, operator, ...(value === undefined ? {} : { value }) }],
})

const refusalOf = ({ status, body }: Answered): unknown[] => [
  status,
  body.error?.code,
  ...(body.error?.details ?? [{ param: body.error?.param, code: '' }]).map(
    ({ param, code }: { param: string; code: string }) => `${param} ${code}`.trim(),
  ),
]

const newSource = async (api: Api, external_id = 'shop') =>
  (await api.post('/v1/integration_sources', { platform: 'custom', external_id })).body.id as string

async function startShop(t: TestContext) {
  const world = await startWorld(t, { settings: { rate_limit_default: 10_000 } })
  const account = await world.account()
  const { api } = account
  const source = await newSource(api)
  const shipped = {
    name: 'On its way',
    source_id: source,
    event_type: 'order.shipped',
    channel_id: 'ch_test_sms',
    ...text('Your order is on its way.'),
  }
  const save = async (more: object = {}) => await api.post('/v1/automations', { ...shipped, ...more })
  const readSource = async (id = source) => (await api.get(`/v1/integration_sources/${id}`)).body
  return { world, account, api, source, shipped, save, readSource }
}

test('an automation is stored as given, with defaults for omitted fields', async (t) => {
  const { world, api, source, save } = await startShop(t)

  const small = await save({ name: ' On its way ' })
  const whole = await save({
    name: 'Thanks',
    event_type: 'custom.loyalty-tier',
    status: 'paused',
    conditions: rule('data.order.total', 'greater_than', 50),
    delay_seconds: 2_592_000,
    cancel_on: ['order.cancelled', 'custom.x', 'order.cancelled'],
    channel_id: 'ch_test_whatsapp',
    category: 'marketing',
    message: {
      type: 'text',
      text: { body: 'Hi {{first_name}}, {{data.order.items[0].name}} for {{customer.first_name}}' },
      image: {},
    },
    merge_fallbacks: { first_name: 'you', 'data.order.items[0].name': 'it' },
  })
  const read = await api.get(`/v1/automations/${whole.body.id}`)
  const at = world.clock.iso()

  assert.deepEqual(
    [small.status, small.body],
    [
      201,
      {
        id: small.body.id,
        object: 'automation',
        mode: 'test',
        name: 'On its way',
        source_id: source,
        event_type: 'order.shipped',
        status: 'active',
        conditions: null,
        delay_seconds: 0,
        cancel_on: [],
        channel_id: 'ch_test_sms',
        category: 'transactional',
        message: { type: 'text', text: { body: 'Your order is on its way.' } },
        merge_fallbacks: {},
        created_at: at,
        updated_at: at,
      },
    ],
  )
  assert.match(small.body.id, /^aut_/)
  assert.deepEqual(
    [whole.status, whole.body.cancel_on, whole.body.conditions, whole.body.delay_seconds],
    [201, ['order.cancelled', 'custom.x'], rule('data.order.total', 'greater_than', 50), 2_592_000],
  )
  assert.deepEqual(whole.body.message, {
    type: 'text',
    text: { body: 'Hi {{first_name}}, {{data.order.items[0].name}} for {{customer.first_name}}' },
  })
  assert.deepEqual([read.status, read.body], [200, whole.body])
})

test('the reference example creates an automation', async (t) => {
  const { world, api, source } = await startShop(t)
  const { paths } = (await world.api().get('/docs/openapi.json')).body

  const saved = await api.post('/v1/automations', {
    ...paths['/v1/automations'].post.requestBody.content['application/json'].example,
    source_id: source,
  })

  assert.equal(saved.status, 201, JSON.stringify(saved.body))
})

test('ignored fields of an automation and its message are named', async (t) => {
  const { api, save } = await startShop(t)
  const message = { type: 'text', text: { body: 'x' }, image: {}, reference: 'r', merge_tags: 1 }

  const saved = await save({ message, channel: 'ch_test_sms' })
  const changed = await api.patch(`/v1/automations/${saved.body.id}`, { message })

  assert.deepEqual(
    [saved.status, saved.headers['service-ignored-fields']],
    [201, 'channel, message.image, message.reference, message.merge_tags'],
  )
  assert.deepEqual(
    [changed.status, changed.headers['service-ignored-fields']],
    [200, 'message.image, message.reference, message.merge_tags'],
  )
})

test('every field of an automation is validated and reported by path', async (t) => {
  const { save } = await startShop(t)
  const invalid = (more: object, ...failures: string[]): [object, unknown[]] => [
    more,
    [400, 'parameter_invalid', ...failures],
  ]
  const missing = (more: object, ...failures: string[]): [object, unknown[]] => [
    more,
    [400, 'parameter_missing', ...failures],
  ]
  const refused: [object, unknown[]][] = [
    missing(
      { name: undefined, source_id: undefined, event_type: undefined, channel_id: undefined, message: undefined },
      'name missing_field',
      'source_id missing_field',
      'event_type missing_field',
      'channel_id missing_field',
      'message missing_field',
    ),
    invalid({ name: ' ' }, 'name too_short'),
    invalid({ name: '😀'.repeat(121) }, 'name too_long'),
    [{ source_id: 'src_1' }, [404, 'resource_missing', 'source_id']],
    [{ source_id: 'ch_test_sms' }, [404, 'resource_missing', 'source_id']],
    [{ channel_id: 'ch_nobodys' }, [404, 'resource_missing', 'channel_id']],
    ...['order.bought', 'Order.paid', 'custom.', 'custom.a b', 'shopify.orders/create', '*', 'constructor'].map(
      (event_type) => invalid({ event_type }, 'event_type invalid_value'),
    ),
    invalid({ cancel_on: ['order.paid', 'paid'] }, 'cancel_on[1] invalid_value'),
    invalid({ cancel_on: Array(21).fill('order.paid') }, 'cancel_on too_many'),
    invalid({ status: 'draft' }, 'status invalid_value'),
    invalid({ category: 'other' }, 'category invalid_value'),
    invalid({ delay_seconds: -1 }, 'delay_seconds invalid_value'),
    invalid({ delay_seconds: 2_592_001 }, 'delay_seconds invalid_value'),
    invalid({ delay_seconds: 1.5 }, 'delay_seconds invalid_type'),
    invalid({ conditions: [] }, 'conditions invalid_type'),
    missing({ conditions: {} }, 'conditions.match missing_field', 'conditions.conditions missing_field'),
    ...[
      'first_name',
      'data',
      'data.',
      'data.a..b',
      'data.a[x]',
      'customer',
      'customer.tag',
      'customer.attributes',
      'tags',
      '__proto__',
    ].map((field) => invalid({ conditions: rule(field, 'exists') }, 'conditions.conditions[0].field invalid_value')),
    invalid({ conditions: rule('data.total', 'greater_than', '50') }, 'conditions.conditions[0].value invalid_type'),
    invalid(
      { conditions: rule('customer.email', 'greater_than', 50) },
      'conditions.conditions[0].operator invalid_value',
    ),
    invalid({ conditions: rule('data.total', 'equals', 'x'.repeat(20_000)) }, 'conditions too_long'),
    [{ message: { type: 'button', button: {} } }, [400, 'unsupported_message_type', 'message.type']],
    missing({ message: { type: 'text' } }, 'message.text missing_field'),
    invalid(text(`${'x'.repeat(1600)}{{data.a}}`), 'message.text.body too_long'),
    invalid(
      text('{{name}}{{data}}{{data.}}{{customer.age}}{{attributes.city}}'),
      ...Array<string>(5).fill('message.text.body unknown_merge_tag'),
    ),
    invalid({ merge_fallbacks: { 'data.a': 1 } }, 'merge_fallbacks["data.a"] invalid_type'),
    invalid({ merge_fallbacks: { 'event.a': 'x' } }, 'merge_fallbacks["event.a"] unknown_merge_tag'),
  ]

  for (const [more, expected] of refused)
    assert.deepEqual(refusalOf(await save(more)), expected, JSON.stringify(more).slice(0, 200))
})

test('all failures of an automation are reported at once', async (t) => {
  const { save } = await startShop(t)

  const refused = await save({
    name: ' ',
    event_type: 'order.bought',
    cancel_on: ['x'],
    conditions: rule('data.', 'exists'),
    ...text('{{name}}'),
  })
  const byShape = await save({ name: ' ', delay_seconds: -1, conditions: rule('data.', 'exists') })

  const wrong = [
    'name too_short',
    'event_type invalid_value',
    'cancel_on[0] invalid_value',
    'conditions.conditions[0].field invalid_value',
  ]
  assert.deepEqual(refusalOf(refused), [400, 'parameter_invalid', ...wrong, 'message.text.body unknown_merge_tag'])
  assert.deepEqual(refusalOf(byShape).map(String).toSorted(), [
    '400',
    'conditions.conditions[0].field invalid_value',
    'delay_seconds invalid_value',
    'name too_short',
    'parameter_invalid',
  ])
})

test('automations are listed newest first by source, event type and status, and the cursor of a deleted one works', async (t) => {
  const { api, source, save } = await startShop(t)
  const other = await newSource(api, 'other')
  const made: Record<string, string> = {}
  made['paid'] = (await save({ event_type: 'order.paid' })).body.id
  made['paused'] = (await save({ event_type: 'order.paid', status: 'paused' })).body.id
  made['other'] = (await save({ source_id: other })).body.id
  made['shipped'] = (await save()).body.id
  const listed = async (query: string) => {
    const { body } = await api.get(`/v1/automations?${query}`)
    return body.data.map(({ id }: { id: string }) => Object.keys(made).find((name) => made[name] === id))
  }

  assert.deepEqual(await listed(''), ['shipped', 'other', 'paused', 'paid'])
  assert.deepEqual(await listed(`source=${source}`), ['shipped', 'paused', 'paid'])
  assert.deepEqual(await listed('event_type=order.paid'), ['paused', 'paid'])
  assert.deepEqual(await listed('event_type=order.paid&status=active'), ['paid'])
  assert.deepEqual(await listed('source=src_nobodys'), [])
  const first = await api.get('/v1/automations?limit=2')
  assert.equal((await api.delete(`/v1/automations/${first.body.next_cursor}`)).status, 200)
  assert.deepEqual(await listed(`starting_after=${first.body.next_cursor}`), ['paused', 'paid'])
  assert.deepEqual(refusalOf(await api.get('/v1/automations?starting_after=aut_1')), [
    400,
    'parameter_invalid',
    'starting_after invalid_value',
  ])
  assert.deepEqual(refusalOf(await api.get('/v1/automations?status=on')).slice(0, 2), [400, 'parameter_invalid'])
})

test('a change replaces the given fields, and re-checks only what depends on them', async (t) => {
  const { world, api, save } = await startShop(t)
  const { id } = (
    await save({
      conditions: rule('data.a', 'exists'),
      cancel_on: ['order.cancelled'],
      delay_seconds: 60,
      merge_fallbacks: { 'data.a': 'x' },
    })
  ).body
  const path = `/v1/automations/${id}`
  await world.clock.advance(1000)

  const cleared = await api.patch(path, {
    name: ' Sent ',
    conditions: null,
    cancel_on: null,
    merge_fallbacks: null,
    delay_seconds: 0,
  })
  const same = await api.patch(path, { name: 'Sent' })
  const ignored = await api.patch(path, { source_id: 'src_1', name: 'Sent' })

  assert.deepEqual(
    [
      cleared.status,
      cleared.body.name,
      cleared.body.conditions,
      cleared.body.cancel_on,
      cleared.body.merge_fallbacks,
      cleared.body.delay_seconds,
    ],
    [200, 'Sent', null, [], {}, 0],
  )
  assert.equal(cleared.body.updated_at, world.clock.iso())
  assert.deepEqual(same.body, cleared.body)
  assert.deepEqual([ignored.status, ignored.headers['service-ignored-fields']], [200, 'source_id'])
  assert.deepEqual(refusalOf(await api.patch(path, { ...text('{{name}}'), event_type: 'x', conditions: {} })), [
    400,
    'parameter_invalid',
    'event_type invalid_value',
    'conditions.match missing_field',
    'conditions.conditions missing_field',
    'message.text.body unknown_merge_tag',
  ])
  assert.deepEqual(refusalOf(await api.patch(path, { channel_id: 'ch_nobodys' })), [
    404,
    'resource_missing',
    'channel_id',
  ])
  assert.equal((await api.get(path)).body.name, 'Sent')
})

test('concurrent changes of one automation are all applied', async (t) => {
  const { api, save } = await startShop(t)
  const { id } = (await save()).body

  const answers = await Promise.all(
    [{ name: 'New' }, { delay_seconds: 9 }, { category: 'marketing' }, text('New')].map((body) =>
      api.patch(`/v1/automations/${id}`, body),
    ),
  )
  const { body } = await api.get(`/v1/automations/${id}`)

  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  )
  assert.deepEqual(
    [body.name, body.delay_seconds, body.category, body.message.text.body],
    ['New', 9, 'marketing', 'New'],
  )
})

test('the event types of a source follow its automations, and only their changes raise its version', async (t) => {
  const { api, save, readSource } = await startShop(t)
  const shown = async () => {
    const { enabled_events, event_settings, config_version } = await readSource()
    return [config_version, enabled_events, event_settings]
  }
  const delay = (delay_seconds: number) => ({ delay_seconds })

  assert.deepEqual(await shown(), [1, [], {}])
  const { id } = (await save({ delay_seconds: 60 })).body
  assert.deepEqual(await shown(), [2, ['order.shipped'], { 'order.shipped': delay(60) }])
  const shorter = (await save({ delay_seconds: 30 })).body.id
  assert.deepEqual(await shown(), [3, ['order.shipped'], { 'order.shipped': delay(30) }])
  await save({ delay_seconds: 90 })
  await save({ event_type: 'order.paid', status: 'paused' })
  await api.patch(`/v1/automations/${id}`, { name: 'Renamed', ...text('Other') })
  assert.deepEqual(await shown(), [3, ['order.shipped'], { 'order.shipped': delay(30) }])
  await api.patch(`/v1/automations/${id}`, { event_type: 'order.delivered' })
  assert.deepEqual(await shown(), [
    4,
    ['order.delivered', 'order.shipped'],
    { 'order.delivered': delay(60), 'order.shipped': delay(30) },
  ])
  await api.patch(`/v1/automations/${id}`, { status: 'paused' })
  assert.deepEqual(await shown(), [5, ['order.shipped'], { 'order.shipped': delay(30) }])
  await api.delete(`/v1/automations/${shorter}`)
  assert.deepEqual(await shown(), [6, ['order.shipped'], { 'order.shipped': delay(90) }])
})

test('a source has at most a hundred automations, also when they are created concurrently', async (t) => {
  const { api, save, readSource } = await startShop(t)
  for (let n = 0; n < 97; n++) assert.equal((await save({ status: 'paused' })).status, 201)

  const answers = await Promise.all(Array.from({ length: 6 }, () => save()))

  const refused = answers.filter(({ status }) => status !== 201)

  assert.equal(refused.length, 3)
  assert.ok(refused.every(({ status, body }) => status === 400 && body.error.code === 'automation_limit_reached'))
  assert.deepEqual(
    [(await save({ source_id: await newSource(api, 'other') })).status, (await readSource()).enabled_events],
    [201, ['order.shipped']],
  )
})

test('deleted automations and those of a deleted source no longer exist', async (t) => {
  const { api, source, save } = await startShop(t)
  const [first, second] = [(await save()).body.id, (await save()).body.id]

  const deleted = await api.delete(`/v1/automations/${first}`)
  assert.deepEqual([deleted.status, deleted.body], [200, { id: first, object: 'automation', deleted: true }])
  assert.equal((await api.delete(`/v1/automations/${first}`)).status, 404)
  assert.equal((await api.patch(`/v1/automations/${first}`, { name: 'x' })).status, 404)
  await api.delete(`/v1/integration_sources/${source}`)

  assert.equal((await api.get(`/v1/automations/${second}`)).status, 404)
  assert.deepEqual((await api.get('/v1/automations')).body.data, [])
  assert.deepEqual(refusalOf(await save()), [404, 'resource_missing', 'source_id'])
})

test('a creation repeated with its Idempotency-Key makes one automation', async (t) => {
  const { api, shipped } = await startShop(t)
  const keyed = () => api.post('/v1/automations', shipped, { 'idempotency-key': 'once' })

  const [first, again] = [await keyed(), await keyed()]

  assert.deepEqual([again.status, again.body, again.headers['idempotent-replayed']], [201, first.body, 'true'])
  assert.equal((await api.get('/v1/automations')).body.data.length, 1)
})

test('deleting a channel pauses its automations, which need another channel to be activated', async (t) => {
  const { api, channel } = await liveSms(t)
  const source = await newSource(api)
  const saved = await api.post('/v1/automations', {
    name: 'A',
    source_id: source,
    event_type: 'order.paid',
    channel_id: channel,
    ...text('Thanks'),
  })
  const path = `/v1/automations/${saved.body.id}`

  assert.equal((await api.delete(`/v1/channels/${channel}`)).status, 200)
  const paused = await api.get(path)
  const { enabled_events, config_version } = (await api.get(`/v1/integration_sources/${source}`)).body
  const renamed = await api.patch(path, { name: 'B' })
  const active = await api.patch(path, { status: 'active' })

  assert.equal(saved.status, 201)
  assert.deepEqual([paused.body.status, enabled_events, config_version], ['paused', [], 3])
  assert.deepEqual([renamed.status, renamed.body.name, renamed.body.status], [200, 'B', 'paused'])
  assert.deepEqual(refusalOf(active), [404, 'resource_missing', 'channel_id'])
})
