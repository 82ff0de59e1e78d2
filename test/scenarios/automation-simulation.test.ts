/** Simulations of automations (behaviour: integrations 5.8, 5.9). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startWorld } from '../support/world.ts'

const phone = '+4915112345678'
const hour = 3600

async function startShop(t: TestContext) {
  const world = await startWorld(t, { settings: { rate_limit_default: 10_000 } })
  const { api } = await world.account()
  const source = (await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'shop' })).body
    .id as string
  const make = async (more: object = {}): Promise<string> => {
    const message = {
      type: 'text',
      text: { body: 'Hello {{first_name}}, order {{data.order.number}}: {{data.order.items.name}}' },
    }
    const made = await api.post('/v1/automations', {
      name: 'A',
      source_id: source,
      event_type: 'order.paid',
      channel_id: 'ch_test_sms',
      message,
      ...more,
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    return made.body.id
  }
  const simulate = async (id: string, body: object) => (await api.post(`/v1/automations/${id}/simulate`, body)).body
  let n = 0
  const report = async (event: object) => {
    const reported = await api.post('/v1/automation_events', { source, event_id: `e${++n}`, ...event })
    assert.equal(reported.status, 202, JSON.stringify(reported.body))
    return reported.body
  }
  return { world, api, source, make, simulate, report }
}

const paid = (more: object = {}) => ({
  type: 'order.paid',
  customer: { phone, first_name: 'Ada' },
  data: { order: { number: 1001, total: '59.99', items: [{ name: 'Mug' }, { name: 'Cup' }] } },
  ...more,
})
const over = (value: number) => ({
  match: 'all',
  conditions: [{ field: 'data.order.total', operator: 'greater_than', value }],
})

test('a simulation shows each condition, the message, and its time', async (t) => {
  const { world, make, simulate } = await startShop(t)
  const conditions = {
    match: 'any',
    conditions: [
      ...over(50).conditions,
      { match: 'all', conditions: [{ field: 'customer.tags', operator: 'contains', value: 'vip' }] },
    ],
  }
  const id = await make({ conditions, delay_seconds: hour, cancel_on: ['order.cancelled'] })

  assert.deepEqual(await simulate(id, { event: paid() }), {
    object: 'automation_simulation',
    status: 'scheduled',
    reason: null,
    conditions: [
      { field: 'data.order.total', met: true },
      { field: 'customer.tags', met: false },
    ],
    scheduled_for: new Date(world.clock.now() + hour * 1000).toISOString(),
    message: { type: 'text', text: { body: 'Hello Ada, order 1001: Mug, Cup' } },
    cancel_on: ['order.cancelled'],
  })
  assert.deepEqual(await simulate(id, { event: paid({ data: { order: { total: '49.99' } } }) }), {
    object: 'automation_simulation',
    status: 'skipped',
    reason: 'condition_not_met',
    conditions: [
      { field: 'data.order.total', met: false },
      { field: 'customer.tags', met: false },
    ],
    scheduled_for: null,
    message: null,
    cancel_on: ['order.cancelled'],
  })
})

test('a run does what its simulation showed', async (t) => {
  const { world, api, source, make, simulate, report } = await startShop(t)
  const consent = (status: object) => async () => await api.post('/v1/contacts/upsert', { phone, consent: status })
  const known = async () =>
    await api.post('/v1/contacts/upsert', { phone, first_name: 'Augusta', attributes: { city: 'Graz' } })
  const settings = (given: object) => async () =>
    await api.patch(`/v1/integration_sources/${source}`, { settings: given })
  const named = (body: string, merge_fallbacks = {}) => ({ message: { type: 'text', text: { body } }, merge_fallbacks })
  const cases: {
    shown: string
    automation?: object
    event?: object
    before?: () => Promise<unknown>
    outcome: string
  }[] = [
    { shown: 'a new customer', outcome: 'scheduled' },
    {
      shown: 'a recipient of the sandbox who has opted out',
      event: { customer: { phone: '+15005550004' } },
      outcome: 'skipped unsubscribed',
    },
    { shown: 'a delay', automation: { delay_seconds: 60 }, outcome: 'scheduled' },
    { shown: 'no phone', event: { customer: { email: 'ada@example.com' } }, outcome: 'skipped no_identifier' },
    { shown: 'a phone that cannot be read', event: { customer: { phone: '0151' } }, outcome: 'skipped no_identifier' },
    {
      shown: 'another channel than the customer has',
      automation: { channel_id: 'ch_test_telegram' },
      outcome: 'skipped no_identifier',
    },
    { shown: 'a condition', automation: { conditions: over(60) }, outcome: 'skipped condition_not_met' },
    { shown: 'no to orders', event: { consent: { transactional: false } }, outcome: 'skipped consent_missing' },
    {
      shown: 'no to advertising',
      automation: { category: 'marketing' },
      event: { consent: { marketing: false } },
      outcome: 'skipped consent_missing',
    },
    { shown: 'nothing filled in', automation: named('{{data.order.note}}'), outcome: 'failed parameter_invalid' },
    {
      shown: 'a fallback',
      automation: named('{{data.order.note}}', { 'data.order.note': 'none' }),
      outcome: 'scheduled',
    },
    {
      shown: 'a text that becomes too long',
      automation: named('{{data.long}}'),
      event: { data: { long: 'x'.repeat(1601) } },
      outcome: 'failed parameter_invalid',
    },
    {
      shown: 'a recipient of the sandbox who is refused',
      event: { customer: { phone: '+15005550003' } },
      outcome: 'failed policy_violation',
    },
    {
      shown: 'a contact',
      before: known,
      automation: named('{{first_name}} {{last_name}} of {{customer.locale}}', { 'customer.locale': '?' }),
      event: { customer: { phone: '+49 151 12345678', last_name: 'King' } },
      outcome: 'scheduled',
    },
    {
      shown: 'a contact that is not synchronised',
      before: settings({ contact_sync: false }),
      automation: named('{{first_name}}'),
      outcome: 'scheduled',
    },
    {
      shown: 'explicit consent that is missing',
      before: settings({ consent_mode: 'explicit' }),
      outcome: 'skipped consent_missing',
    },
    { shown: 'explicit consent that is given', event: { consent: { transactional: true } }, outcome: 'scheduled' },
    {
      shown: 'marketing stopped',
      before: consent({ whatsapp: { marketing: 'opted_out' } }),
      automation: { category: 'marketing', channel_id: 'ch_test_whatsapp' },
      event: { consent: { transactional: true, marketing: true } },
      outcome: 'skipped unsubscribed',
    },
    {
      shown: 'opted out',
      before: consent({ sms: 'opted_out' }),
      event: { consent: { transactional: true } },
      outcome: 'skipped unsubscribed',
    },
  ]

  for (const { shown, automation, event, before, outcome } of cases) {
    const id = await make(automation)
    await before?.()
    const simulated = await simulate(id, { event: paid(event) })
    const { id: receipt, runs } = await report(paid(event))
    const again = await simulate(id, { automation_event_id: receipt })
    const run = runs.find(({ automation_id }: { automation_id: string }) => automation_id === id)
    await world.clock.advance(60_000)
    await world.settle()
    const after = (await api.get(`/v1/automation_runs/${run.id}`)).body
    const message = after.message_id === null ? null : (await api.get(`/v1/messages/${after.message_id}`)).body

    assert.equal([simulated.status, simulated.reason].filter(Boolean).join(' '), outcome, shown)
    assert.deepEqual(again, simulated, shown)
    assert.deepEqual(
      [after.status, after.reason],
      [simulated.status === 'scheduled' ? 'sent' : simulated.status, simulated.reason],
      shown,
    )
    assert.equal(simulated.scheduled_for, simulated.status === 'skipped' ? null : run.scheduled_for, shown)
    assert.deepEqual(simulated.message, message === null ? null : { type: message.type, ...message.content }, shown)
    await api.delete(`/v1/automations/${id}`)
  }
})

test('a simulation stores and sends nothing, and needs only read permission', async (t) => {
  const { world, api, make, simulate } = await startShop(t)
  const id = await make()
  const { key } = await world.services.accounts.createKey({
    account_id: (await api.get('/v1/me')).body.id,
    mode: 'test',
    scopes: ['integrations:read'],
  })
  // the request log is written a second later
  const tables = (
    await world.pool<
      { name: string }[]
    >`select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and relname !~ '^request_log' order by 1`
  ).map(({ name }) => name)
  const counts = async () => {
    const found: Record<string, number> = {}
    for (const name of tables)
      found[name] = (
        await world.pool<{ count: number }[]>`select count(*)::int as count from ${world.pool(name)}`
      )[0]!.count
    return found
  }
  const before = await counts()

  const read = await world.api(key).post(`/v1/automations/${id}/simulate`, {
    event: paid({ customer: { phone, tags: ['new'], attributes: { city: 'Graz' } }, consent: { marketing: true } }),
  })
  await simulate(id, { event: paid({ consent: { marketing: false } }) })
  await world.settle()

  assert.deepEqual([read.status, read.body.status], [200, 'scheduled'])
  assert.deepEqual(await counts(), before)
})

test('an event of another type or source does not match, and an unknown receipt is 404', async (t) => {
  const { api, make, simulate, report } = await startShop(t)
  const id = await make({ conditions: over(50), cancel_on: ['order.cancelled'] })
  const other = (await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'other' })).body.id
  const elsewhere = await report(paid({ source: other }))
  const shipped = await report(paid({ type: 'order.shipped' }))
  const no = {
    object: 'automation_simulation',
    status: 'skipped',
    reason: 'no_automation',
    conditions: [],
    scheduled_for: null,
    message: null,
    cancel_on: ['order.cancelled'],
  }

  assert.deepEqual(await simulate(id, { automation_event_id: elsewhere.id }), no)
  assert.deepEqual(await simulate(id, { automation_event_id: shipped.id }), no)
  assert.deepEqual(await simulate(id, { event: paid({ type: 'custom.other' }) }), no)
  for (const automation_event_id of ['aev_01kg9p6je0e6z9vsnhtbf6d24v', 'evt_1', '']) {
    const { error } = await simulate(id, { automation_event_id })
    assert.deepEqual([error.code, error.param], ['resource_missing', 'automation_event_id'], automation_event_id)
  }
  assert.equal(
    (await api.post('/v1/automations/aut_01kg9p6je0e6z9vsnhtbf6d24v/simulate', { event: paid() })).status,
    404,
  )
})

test('a simulation takes exactly one event, and reports invalid fields by path', async (t) => {
  const { make, simulate } = await startShop(t)
  const id = await make()
  const refused = async (body: object) => {
    const { error } = await simulate(id, body)
    return [
      error?.code,
      ...(error?.details ?? []).map(({ param, code }: { param: string; code: string }) => `${param} ${code}`),
    ]
  }

  assert.deepEqual(await refused({}), ['parameter_missing', 'event missing_field'])
  assert.deepEqual(await refused({ event: null }), ['parameter_missing', 'event missing_field'])
  assert.deepEqual(await refused({ event: paid(), automation_event_id: 'aev_1' }), [
    'parameter_invalid',
    'automation_event_id invalid_value',
  ])
  assert.deepEqual(await refused({ event: {} }), ['parameter_missing', 'event.type missing_field'])
  assert.deepEqual(await refused({ event: paid({ type: 'order.bought' }) }), [
    'parameter_invalid',
    'event.type invalid_value',
  ])
  assert.deepEqual(await refused({ event: paid({ data: [], customer: { phone: 1 } }) }), [
    'parameter_invalid',
    'event.customer.phone invalid_type',
    'event.data invalid_type',
  ])
})

test('a simulation accepts the same events as reporting, and names ignored fields', async (t) => {
  const { api, make } = await startShop(t)
  const id = await make()
  const simulate = (event: object) => api.post(`/v1/automations/${id}/simulate`, { event })

  const ignored = await simulate(paid({ source: 'src_1', consents: {}, event_id: 'x' }))
  const long = await simulate(paid({ event_id: 'x'.repeat(256) }))
  const large = await simulate(paid({ data: { text: 'x'.repeat(256 * 1024) } }))

  assert.deepEqual([ignored.status, ignored.headers['service-ignored-fields']], [200, 'event.source, event.consents'])
  assert.deepEqual([long.status, long.body.error.param], [400, 'event.event_id'])
  assert.deepEqual([large.status, large.body.error.code], [413, 'payload_too_large'])
})

test('paused automations, disabled sources and unconnected channels can be simulated', async (t) => {
  const { api, source, make, simulate } = await startShop(t)
  const id = await make({ status: 'paused' })

  const paused = await simulate(id, { event: paid() })
  await api.patch(`/v1/integration_sources/${source}`, { status: 'disabled' })
  const disabled = await simulate(id, { event: paid() })
  const down = await simulate(id, { event: paid({ customer: { phone: '+15005550013' } }) })

  assert.deepEqual([paused.status, disabled.status], ['scheduled', 'scheduled'])
  assert.deepEqual(
    [down.status, down.reason, down.message?.text.body],
    ['scheduled', 'channel_not_connected', 'Hello , order 1001: Mug, Cup'],
  )
})
