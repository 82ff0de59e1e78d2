/** Automations on reported events: recipients, times, and reasons to skip (behaviour: integrations 3.6, 3.11, 3.12, 3.13). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { tenantOf } from '../../src/api/caller.ts'
import { startProcess } from '../support/process.ts'
import { startWorld } from '../support/world.ts'

const phone = '+15005550006'
const [smsChannel, whatsappChannel, telegramChannel] = ['ch_test_sms', 'ch_test_whatsapp', 'ch_test_telegram']

interface Run {
  readonly id: string
  readonly automation_id: string
  readonly status: string
  readonly reason: string | null
  readonly scheduled_for: string
  readonly message_id: string | null
}

interface Receipt {
  readonly id: string
  readonly status: string
  readonly reason: string | null
  readonly contact_id: string | null
  readonly created_at: string
  readonly runs: readonly Run[]
}

async function shopWorld(t: TestContext) {
  const world = await startWorld(t, { settings: { rate_limit_default: 10_000 } })
  const account = await world.account()
  const { api } = account
  const source = (await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'shop' })).body
  let n = 0
  const report = async (type: string, event: object = {}): Promise<Receipt> => {
    const answer = await api.post('/v1/automation_events', {
      source: source.id,
      type,
      event_id: `e${++n}`,
      customer: { phone },
      ...event,
    })
    assert.equal(answer.status, 202, JSON.stringify(answer.body))
    return answer.body
  }
  const automation = async (event_type: string, more: object = {}): Promise<string> => {
    const message = { type: 'text', text: { body: `About ${event_type}` } }
    const answer = await api.post('/v1/automations', {
      source_id: source.id,
      name: event_type,
      event_type,
      channel_id: smsChannel,
      message,
      ...more,
    })
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body.id
  }
  const receipt = async ({ id }: Pick<Receipt, 'id'>): Promise<Receipt> =>
    (await api.get(`/v1/automation_events/${id}`)).body
  const settings = (of: object) => api.patch(`/v1/integration_sources/${source.id}`, { settings: of })
  const messages = async () => (await api.get('/v1/messages?limit=100')).body.data
  return { world, account, api, source, report, automation, receipt, settings, messages }
}

const outcomes = ({ runs }: Receipt) => runs.map(({ status, reason }) => [status, reason])

test('each active automation of the type and source runs once, at once or after its delay', async (t) => {
  const { world, api, report, automation, receipt, messages } = await shopWorld(t)
  const other = (await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'other' })).body
  const atOnce = await automation('order.shipped')
  const later = await automation('order.shipped', { delay_seconds: 3600 })
  await automation('order.shipped', { status: 'paused' })
  await automation('order.paid')
  await automation('order.shipped', { source_id: other.id })

  const answered = await report('order.shipped')
  await world.settle()
  const soon = await receipt(answered)
  await world.clock.advance(3600_000)
  await world.settle()
  const then = await receipt(answered)

  assert.deepEqual([answered.status, answered.reason], ['accepted', null])
  assert.deepEqual(
    answered.runs.map(({ automation_id, status, scheduled_for, message_id, reason }) => [
      automation_id,
      status,
      scheduled_for,
      message_id,
      reason,
    ]),
    [
      [atOnce, 'scheduled', answered.created_at, null, null],
      [later, 'scheduled', new Date(Date.parse(answered.created_at) + 3600_000).toISOString(), null, null],
    ],
  )
  assert.deepEqual(
    soon.runs.map(({ status }) => status),
    ['sent', 'scheduled'],
  )
  assert.deepEqual([then.status, ...then.runs.map(({ status }) => status)], ['accepted', 'sent', 'sent'])
  assert.deepEqual(
    (await messages()).map(({ id, origin, contact_id }: Record<string, unknown>) => [id, origin, contact_id]),
    [
      [then.runs[1]!.message_id, { type: 'automation', id: later }, answered.contact_id],
      [then.runs[0]!.message_id, { type: 'automation', id: atOnce }, answered.contact_id],
    ],
  )
  await world.invariants()
})

test('an automation whose conditions are not met is skipped, and the receipt with it where no other runs', async (t) => {
  const { report, automation } = await shopWorld(t)
  const over = (value: number) => ({
    conditions: { match: 'all', conditions: [{ field: 'data.order.total', operator: 'greater_than', value }] },
  })
  await automation('order.paid', over(50))
  await automation('order.paid', over(100))

  const both = await report('order.paid', { data: { order: { total: '199.00' } } })
  const one = await report('order.paid', { data: { order: { total: '59.99' } } })
  const none = await report('order.paid', { data: {} })

  assert.deepEqual(
    [both.status, one.status, one.reason, none.status, none.reason],
    ['accepted', 'accepted', null, 'skipped', 'condition_not_met'],
  )
  assert.deepEqual(outcomes(one), [
    ['scheduled', null],
    ['skipped', 'condition_not_met'],
  ])
})

test('implied consent and marketing apply unless the event says no, and explicit consent needs a yes', async (t) => {
  const { report, automation, settings } = await shopWorld(t)
  await automation('order.paid')
  await automation('cart.abandoned', { category: 'marketing' })
  const seen: Record<string, unknown[]> = {}
  for (const consent_mode of ['implied', 'explicit']) {
    await settings({ consent_mode })
    for (const agreed of [true, null, false]) {
      const transactional = await report('order.paid', { consent: { transactional: agreed, marketing: false } })
      const marketing = await report('cart.abandoned', { consent: { transactional: false, marketing: agreed } })
      seen[`${consent_mode} ${agreed}`] = [
        transactional.reason ?? transactional.status,
        marketing.reason ?? marketing.status,
      ]
    }
  }

  assert.deepEqual(seen, {
    'implied true': ['accepted', 'accepted'],
    'implied null': ['accepted', 'accepted'],
    'implied false': ['consent_missing', 'consent_missing'],
    'explicit true': ['accepted', 'accepted'],
    'explicit null': ['consent_missing', 'accepted'],
    'explicit false': ['consent_missing', 'consent_missing'],
  })
})

test('a customer who is unreachable, opted out or blocked gets no message of any automation', async (t) => {
  const { world, api, report, automation, settings } = await shopWorld(t)
  await automation('order.paid')
  await automation('order.shipped', { channel_id: telegramChannel })
  const [stopped, blocked, known, stranger] = ['+4915100000001', '+4915100000002', '+4915100000003', '+4915100000004']
  await api.post('/v1/contacts', { phone: stopped, consent: { sms: 'opted_out' } })
  await api.post('/v1/contacts', { phone: blocked, blocked: true })
  await api.post('/v1/contacts', { phone: known, identifiers: { telegram: '4711' } })
  await settings({ contact_sync: false })
  await api.post('/v1/test/inbound_messages', { channel: smsChannel, from: stranger, text: { body: 'STOP' } })
  await api.delete(
    `/v1/contacts/${(await api.get(`/v1/contacts?phone=${encodeURIComponent(stranger)}`)).body.data[0].id}`,
  )
  const of = async (type: string, customer: object) => {
    const { status, reason, runs } = await report(type, { customer })
    return [status, reason, runs.length]
  }

  assert.deepEqual(await of('order.paid', { phone: stopped }), ['skipped', 'unsubscribed', 1])
  assert.deepEqual(await of('order.paid', { phone: blocked }), ['skipped', 'unsubscribed', 1])
  assert.deepEqual(await of('order.paid', { phone: stranger }), ['skipped', 'unsubscribed', 1])
  assert.deepEqual(await of('order.paid', { email: 'ada@example.com' }), ['skipped', 'no_identifier', 1])
  assert.deepEqual(await of('order.paid', { phone: '0151 2345678' }), ['skipped', 'no_identifier', 1])
  assert.deepEqual(await of('order.shipped', { phone: known }), ['accepted', null, 1])
  assert.deepEqual(await of('order.shipped', { phone: stopped }), ['skipped', 'no_identifier', 1])
  assert.deepEqual(await of('order.paid', { phone: known }), ['accepted', null, 1])
  await world.settle()
  assert.deepEqual(
    (await api.get('/v1/messages?direction=outbound')).body.data
      .map(({ to, origin }: { to: string; origin: { type: string } }) => [to, origin.type])
      .slice(0, 2),
    [
      [known, 'automation'],
      ['4711', 'automation'],
    ],
  )
})

test('a customer who stopped marketing still gets other messages', async (t) => {
  const { api, report, automation } = await shopWorld(t)
  await automation('cart.abandoned', { channel_id: whatsappChannel, category: 'marketing' })
  await automation('order.paid', { channel_id: whatsappChannel })
  await api.post('/v1/contacts', { phone, consent: { whatsapp: { status: 'opted_in', marketing: 'opted_out' } } })

  const marketing = await report('cart.abandoned', { consent: { marketing: true } })
  const transactional = await report('order.paid')

  assert.deepEqual([marketing.status, marketing.reason, transactional.status], ['skipped', 'unsubscribed', 'accepted'])
})

test('a later event of the same customer cancels waiting runs, by any shared identifier', async (t) => {
  const { world, report, automation, receipt, messages } = await shopWorld(t)
  await automation('cart.abandoned', { delay_seconds: 3600, cancel_on: ['order.created', 'order.paid'] })
  const customers = {
    a: { phone, email: 'Ada@example.com' },
    b: { phone: '+15005550007', external_id: '5' },
    c: { phone: '+15005550008' },
  }
  const carts = [
    await report('cart.abandoned', { customer: customers.a }),
    await report('cart.abandoned', { customer: customers.b }),
    await report('cart.abandoned', { customer: customers.c }),
  ]

  await report('order.created', { customer: { email: 'ada@EXAMPLE.com' } })
  await report('order.paid', { customer: { external_id: '5' } })
  await report('order.shipped', { customer: customers.c })
  await report('order.created', { customer: { email: 'somebody@example.com' } })

  assert.deepEqual((await Promise.all(carts.map(receipt))).map(outcomes), [
    [['cancelled', 'cancel_on']],
    [['cancelled', 'cancel_on']],
    [['scheduled', null]],
  ])
  await world.clock.advance(3600_000)
  await world.settle()
  assert.deepEqual(
    (await messages()).map(({ to }: { to: string }) => to),
    [customers.c.phone],
  )
})

test('a new event of a cart restarts the delay, and the newest one counts', async (t) => {
  const { world, report, automation, receipt, messages } = await shopWorld(t)
  const filled = { match: 'all', conditions: [{ field: 'data.cart.items_count', operator: 'greater_than', value: 0 }] }
  await automation('cart.updated', {
    delay_seconds: 3600,
    conditions: filled,
    message: { type: 'text', text: { body: 'In your cart: {{data.cart.items_count}}' } },
  })
  await automation('order.paid', { delay_seconds: 3600 })
  const cart = (items_count: number, more: object = {}) =>
    report('cart.updated', { data: { cart: { items_count } }, ...more })
  await report('order.paid')
  await report('order.paid')

  const first = await cart(1)
  await world.clock.advance(3000_000)
  const second = await cart(2)
  const emptied = [
    await cart(3, { customer: { phone: '+15005550007' } }),
    await cart(0, { customer: { phone: '+15005550007' } }),
  ]
  await world.clock.advance(3000_000)
  await world.settle()
  const before = (await messages()).length
  await world.clock.advance(600_000)
  await world.settle()

  assert.deepEqual(outcomes(await receipt(first)), [['cancelled', 'restarted']])
  assert.equal(second.runs[0]!.scheduled_for, new Date(Date.parse(second.created_at) + 3600_000).toISOString())
  assert.deepEqual((await Promise.all(emptied.map(receipt))).map(outcomes), [
    [['cancelled', 'restarted']],
    [['skipped', 'condition_not_met']],
  ])
  assert.deepEqual(
    [before, (await messages()).map(({ content }: { content: { text: { body: string } } }) => content.text.body)],
    [2, ['In your cart: 2', 'About order.paid', 'About order.paid']],
  )
})

test("a later refusal of consent cancels a cart's waiting run, and an event without a phone does not", async (t) => {
  const { report, automation, receipt } = await shopWorld(t)
  await automation('checkout.started', { delay_seconds: 1000 })
  const [refusing, nameless] = [{ phone }, { phone: '+4915100000001', external_id: '7' }]

  const first = await report('checkout.started', { customer: refusing })
  const no = await report('checkout.started', { customer: refusing, consent: { transactional: false } })
  const kept = await report('checkout.started', { customer: nameless })
  const without = await report('checkout.started', { customer: { external_id: '7' } })

  assert.deepEqual([outcomes(await receipt(first)), no.reason], [[['cancelled', 'restarted']], 'consent_missing'])
  assert.deepEqual([outcomes(await receipt(kept)), without.reason], [[['scheduled', null]], 'no_identifier'])
})

test('blank or invalid identifiers, and the id of another source, do not match customers', async (t) => {
  const { api, report, automation, receipt } = await shopWorld(t)
  await automation('checkout.started', { delay_seconds: 1000, cancel_on: ['order.created'] })
  const other = (await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'other' })).body.id

  const waiting = await report('checkout.started', { customer: { phone, email: ' ', external_id: ' ' } })
  const guest = await report('checkout.started', {
    customer: { phone: '+4915100000001', email: 'guest', external_id: '7' },
  })
  await report('order.created', { customer: { email: ' ', external_id: ' ' } })
  await report('order.created', { customer: { email: 'guest' } })
  await report('order.created', { source: other, customer: { external_id: '7' } })
  const before = [outcomes(await receipt(waiting)), outcomes(await receipt(guest))]
  await report('order.created', { customer: { external_id: ' 7 ' } })

  assert.deepEqual(before, [[['scheduled', null]], [['scheduled', null]]])
  assert.deepEqual(outcomes(await receipt(guest)), [['cancelled', 'cancel_on']])
})

test('a cart reported to two processes at once waits once, and concurrent orders cancel it', async (t) => {
  const { world, account, api, source, automation } = await shopWorld(t)
  await automation('checkout.started', { delay_seconds: 60, cancel_on: ['order.created'] })
  const sibling = (await startProcess(t, world, 'sibling')).api(account.key)
  const customers = Array.from({ length: 20 }, (_, n) => ({ phone: `+4915100000${100 + n}` }))
  let events = 0
  const tell = (by: typeof api, type: string, customer: object) =>
    by.post('/v1/automation_events', { source: source.id, type, event_id: `e${++events}`, customer })
  const waiting = async () =>
    (
      await world.pool<
        { count: number }[]
      >`select count(*)::int as count from automation_runs where status = 'scheduled' group by customer_keys`
    ).map(({ count }) => count)

  for (const customer of customers) {
    await tell(api, 'customer.updated', customer)
    await Promise.all([tell(api, 'checkout.started', customer), tell(sibling, 'checkout.started', customer)])
  }
  const once = await waiting()
  await Promise.all(
    customers.map((customer) =>
      Promise.all([tell(api, 'order.created', customer), tell(sibling, 'order.created', customer)]),
    ),
  )

  assert.deepEqual([once, await waiting()], [Array(20).fill(1), []])
})

test('concurrent events apply in order: an order cancels the cart before it, not the one after it', async (t) => {
  const { world, account, api, source, automation } = await shopWorld(t)
  await automation('checkout.started', { delay_seconds: 60, cancel_on: ['order.created'] })
  const { events } = world.services.automations
  const shown = (type: string, event_id: string) =>
    events.accept({
      source: { ...tenantOf({ account_id: account.id, mode: 'test' }), id: source.id },
      origin: 'api',
      type,
      event_id,
      occurred_at: world.clock.iso(),
      customer: { phone },
      consent: { transactional: null, marketing: null },
      data: {},
    })

  const answers = await Promise.all([
    shown('checkout.started', '1'),
    shown('order.created', '2'),
    shown('checkout.started', '3'),
    shown('checkout.started', '4'),
  ])

  const read = await Promise.all(
    answers.map(async ({ receipt: { id } }) => (await api.get(`/v1/automation_events/${id}`)).body),
  )
  assert.deepEqual(read.map(outcomes), [
    [['cancelled', 'cancel_on']],
    [],
    [['cancelled', 'restarted']],
    [['scheduled', null]],
  ])
})

test('events repeated while processes die have one receipt each, and run once', async (t) => {
  const { world, account, source, automation, api } = await shopWorld(t)
  await automation('order.paid')
  const names = ['one', 'two', 'three']
  const processes = await Promise.all(names.map((name) => startProcess(t, world, name)))
  const events = Array.from({ length: 60 }, (_, n) => ({
    source: source.id,
    type: 'order.paid',
    event_id: `o${n}`,
    customer: { phone: `+491510000010${n % 5}` },
  }))
  const tell = (by: { post: typeof api.post }) =>
    events.map((event) => by.post('/v1/automation_events', event).catch(() => undefined))

  const first = processes.flatMap((one) => tell(one.api(account.key)))
  await Promise.race(first)
  await Promise.all([processes[0]!.kill(), processes[1]!.kill()])
  await Promise.all(first)
  const last = await Promise.all(tell(api))
  await world.settle()

  const statuses = new Set(last.map((answer) => answer!.status))
  assert.ok([...statuses].every((status) => status === 200 || status === 202))
  const [counted] = await world.pool<{ receipts: number; runs: number; messages: number }[]>`
    select (select count(*)::int from automation_events) as receipts, (select count(distinct automation_event_id)::int from automation_runs where status = 'sent') as runs,
      (select count(*)::int from messages where origin_type = 'automation') as messages`
  assert.deepEqual(counted, { receipts: 60, runs: 60, messages: 60 })
  await world.invariants()
})

test('while two processes accept events, no run of a disabled source or paused automation waits', async (t) => {
  const { world, account, api, source, automation } = await shopWorld(t)
  const sibling = await startProcess(t, world, 'sibling')
  const id = await automation('order.paid', { delay_seconds: 60 })
  let [shown, stopped] = [0, false]
  /** Reports until nothing more happens, and five times after that. */
  const reportOn = async (by: Pick<typeof api, 'post'>, name: string): Promise<string[]> => {
    const answers: string[] = []
    for (let n = 0; n < 500 && answers.slice(-5).filter((answer) => answer !== 'accepted').length < 5; n++) {
      const customer = { phone: `+491510000010${n % 5}` }
      const { status, body } = await by.post('/v1/automation_events', {
        source: source.id,
        type: 'order.paid',
        event_id: `${name}${n}`,
        customer,
      })
      answers.push(body.status ?? String(status))
      shown += 1
      if (shown === 20 && !stopped) {
        stopped = true
        await stop()
      }
    }
    return answers
  }
  let stop = async () => assert.equal((await api.patch(`/v1/automations/${id}`, { status: 'paused' })).status, 200)
  const bothReport = async (round: string) =>
    (
      await Promise.all(
        [api, sibling.api(account.key)].flatMap((by, n) => ['a', 'b'].map((of) => reportOn(by, `${round}${n}${of}`))),
      )
    ).flat()
  const waiting = async () => (await world.pool`select 1 from automation_runs where status = 'scheduled'`).length

  const paused = await bothReport('paused')
  const afterPause = await waiting()
  assert.equal((await api.patch(`/v1/automations/${id}`, { status: 'active' })).status, 200)
  ;[shown, stopped] = [0, false]
  stop = async () =>
    assert.equal((await api.patch(`/v1/integration_sources/${source.id}`, { status: 'disabled' })).status, 200)
  const disabled = await bothReport('disabled')

  assert.deepEqual([...new Set(paused)].toSorted(), ['accepted', 'ignored'])
  assert.deepEqual([...new Set(disabled)].toSorted(), ['403', 'accepted'])
  assert.deepEqual([afterPause, await waiting()], [0, 0])
})
