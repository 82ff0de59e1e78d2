import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { startWorld, type World } from '../support/world.ts'

const text = (channel: string, to = '+15005550006', more: object = {}) => ({
  channel,
  to,
  type: 'text',
  text: { body: 'Hi' },
  ...more,
})

async function liveWorld(t: TestContext, credit_micros = 1_000_000_000, settings: object = {}) {
  const world = await startWorld(t)
  const account = await world.account({ mode: 'live', credit_micros })
  const channel = await account.api.post('/v1/channels', {
    type: 'sms',
    provider: 'simulator',
    name: 'Alerts',
    identifier: '+4915100000001',
    credentials: {},
    settings: { max_messages_per_second: 10_000, ...settings },
  })
  assert.equal(channel.status, 201)
  return { world, account, api: account.api, channel: channel.body.id as string }
}

const wait = async (world: World, ms: number) => {
  await world.clock.advance(ms)
  await world.settle()
}

test('a message with send_at is charged at acceptance, waits for its time, and cannot be scheduled beyond 35 days', async (t) => {
  const { world, api, channel } = await liveWorld(t)
  const at = (ms: number) => new Date(world.clock.now() + ms).toISOString()

  const sent = await api.post('/v1/messages', text(channel, '+4915112345678', { send_at: at(3600_000) }))
  const tooFar = await api.post('/v1/messages', text(channel, '+4915112345678', { send_at: at(36 * 24 * 3600_000) }))
  await wait(world, 3599_000)
  const before = await api.get(`/v1/messages/${sent.body.id}`)
  const balance = await api.get('/v1/balance')
  await wait(world, 2000)
  await wait(world, 1000)

  assert.equal(sent.body.status, 'queued')
  assert.equal(sent.body.billing.amount_micros, 7500)
  assert.equal(tooFar.body.error.param, 'send_at')
  assert.equal(before.body.status, 'queued')
  assert.equal(balance.body.wallet_micros, 1_000_000_000 - 7500)
  assert.equal((await api.get(`/v1/messages/${sent.body.id}`)).body.status, 'delivered')
  await world.invariants()
})

test('a channel never exceeds its rate in any second', async (t) => {
  const { world, api, channel } = await liveWorld(t, 1_000_000_000, { max_messages_per_second: 2 })
  const sent = async () => (await api.get('/v1/messages?status=delivered')).body.data.length

  const batch = await api.post('/v1/messages/batch', {
    messages: Array.from({ length: 9 }, (_, i) => text(channel, `+491511234567${i}`)),
  })
  const counts = [0]
  for (let tenth = 0; tenth <= 45; tenth++) {
    await world.settle()
    counts.push(await sent())
    await world.clock.advance(100)
  }

  assert.equal(batch.body.accepted, 9)
  assert.equal(Math.max(...counts.slice(10).map((count, tenth) => count - counts[tenth]!)), 2)
  assert.deepEqual([counts[1], counts.at(-1)], [1, 9])
  await world.invariants()
})

test('a message whose send_at is long past is sent at once', async (t) => {
  const { world, api, channel } = await liveWorld(t)

  const sent = await api.post(
    '/v1/messages',
    text(channel, '+4915112345678', { send_at: new Date(world.clock.now() - 48 * 3600_000).toISOString() }),
  )
  await world.settle()

  assert.equal(sent.status, 202)
  assert.equal((await api.get(`/v1/messages/${sent.body.id}`)).body.status, 'delivered')
})

test('a queued message can be cancelled once, with a refund', async (t) => {
  const { world, api, channel } = await liveWorld(t)
  const sent = await api.post(
    '/v1/messages',
    text(channel, '+4915112345678', { send_at: new Date(world.clock.now() + 60_000).toISOString() }),
  )

  const cancelled = await api.post(`/v1/messages/${sent.body.id}/cancel`)
  const again = await api.post(`/v1/messages/${sent.body.id}/cancel`)
  await wait(world, 120_000)

  assert.equal(cancelled.status, 200)
  assert.equal(cancelled.body.status, 'failed')
  // without a provider, `provider_code` is an empty string and not null (behaviour: messages 1.3)
  assert.deepEqual([cancelled.body.error.code, cancelled.body.error.provider_code], ['cancelled', ''])
  for (const path of [`/v1/messages/${sent.body.id}/events`, '/v1/events?type=message.failed']) {
    const [last] = (await api.get(path)).body.data
    assert.deepEqual((last.data?.object ?? last).error, cancelled.body.error, path)
  }
  assert.equal(cancelled.body.billing.refunded, true)
  assert.equal(again.status, 409)
  assert.equal(again.body.error.code, 'message_state_invalid')
  assert.equal((await api.get('/v1/balance')).body.wallet_micros, 1_000_000_000)
  await world.invariants()
})

test('a message that is not sent in time expires and is refunded', async (t) => {
  const { world, api, channel } = await liveWorld(t)

  const sent = await api.post('/v1/messages', text(channel, '+19995550024', { expires_in_seconds: 30 }))
  for (let i = 0; i < 12; i++) await wait(world, 5000)

  const message = await api.get(`/v1/messages/${sent.body.id}`)
  const attempts = await api.get(`/v1/messages/${sent.body.id}/attempts`)
  assert.equal(message.body.status, 'failed')
  assert.equal(message.body.error.code, 'expired')
  assert.equal(message.body.billing.refunded, true)
  assert.ok(attempts.body.data.length > 1)
  assert.equal(attempts.body.data[0].outcome, 'throttled')
  await world.invariants()
})

test('the attempts of a message are listed in one page', async (t) => {
  const { world, api, channel } = await liveWorld(t)
  const sent = await api.post('/v1/messages', text(channel, '+19995550024'))
  for (let i = 0; i < 25; i++) await wait(world, 3600_000)

  const all = await api.get(`/v1/messages/${sent.body.id}/attempts`)
  const some = await api.get(`/v1/messages/${sent.body.id}/attempts?limit=3`)

  assert.ok(all.body.data.length > 20, `${all.body.data.length} attempts`)
  assert.deepEqual([all.body.data.at(-1).number, all.body.has_more, some.body.data.length], [1, false, 3])
})

test('messages that expire behind a slow channel expire on time and use none of its rate', async (t) => {
  const { world, api, channel } = await liveWorld(t, 1_000_000_000, { max_messages_per_second: 1 })
  const late = {
    messages: Array.from({ length: 100 }, () => text(channel, '+4915112345678', { expires_in_seconds: 10 })),
  }
  const count = async (status: string) =>
    (await api.get(`/v1/messages?limit=100&status=${status}&to=%2B4915112345678`)).body.data.length

  await api.post('/v1/messages/batch', late)
  const patient = await api.post('/v1/messages', text(channel, '+4915112345679'))
  for (let second = 1; second <= 12; second++) await wait(world, 1000)

  assert.deepEqual([await count('delivered'), await count('failed')], [9, 91])
  assert.equal((await api.get(`/v1/messages/${patient.body.id}`)).body.status, 'delivered')
  await world.invariants()
})

for (const [name, digits] of [
  ['throttles', '0021'],
  ['cannot be reached', '0022'],
  ['does not answer', '0023'],
] as const) {
  test(`a message is retried when its provider ${name}, and remains in sending meanwhile`, async (t) => {
    const { world, api, channel } = await liveWorld(t)

    const sent = await api.post('/v1/messages', text(channel, `+1999555${digits}`))
    await world.settle()
    const meanwhile = await api.get(`/v1/messages/${sent.body.id}`)
    for (let i = 0; i < 15; i++) await wait(world, 3000)

    assert.equal(meanwhile.body.status, 'sending')
    assert.equal((await api.get(`/v1/messages/${sent.body.id}`)).body.status, 'delivered')
    await world.invariants()
  })
}

test('concurrent sends never spend more than the wallet holds', async (t) => {
  const { world, api, channel } = await liveWorld(t, 120 * 7500)

  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      api.post(
        '/v1/messages',
        text(channel, `+49151123${10_000 + i}`),
        i % 2 === 0 ? { 'idempotency-key': `k${i}` } : {},
      ),
    ),
  )

  const statuses = answers.map((answer) => answer.status)
  assert.equal(statuses.filter((status) => status === 202).length, 120)
  assert.equal(statuses.filter((status) => status === 402).length, 80)
  assert.equal((await api.get('/v1/balance')).body.wallet_micros, 0)
  await world.settle()
  await world.invariants()
})

test('items of a batch are charged one by one, in order', async (t) => {
  const { world, account, api, channel } = await liveWorld(t, 8000)
  const whatsapp = (
    await api.post('/v1/channels', {
      type: 'whatsapp',
      provider: 'simulator',
      name: 'WA',
      identifier: '+4915100000002',
      credentials: {},
    })
  ).body.id
  const template = {
    channel: whatsapp,
    to: '+4915112345678',
    type: 'template',
    template: { name: 'hello', language: { code: 'en' } },
  }

  const batch = await api.post('/v1/messages/batch', {
    messages: [template, text(channel, '+4915112345678'), { ...template, to: '+4915112345679' }],
  })

  assert.deepEqual(
    batch.body.data.map((item: { status: number }) => item.status),
    [202, 402, 402],
  )
  assert.equal(account.mode, 'live')
  await world.invariants()
})

test('free-form outside the service window is refused on live whatsapp, and a template is accepted', async (t) => {
  const { api } = await liveWorld(t)
  const whatsapp = (
    await api.post('/v1/channels', {
      type: 'whatsapp',
      provider: 'simulator',
      name: 'WA',
      identifier: '+4915100000002',
      credentials: {},
    })
  ).body.id

  const refused = await api.post('/v1/messages', text(whatsapp, '+4915112345678'))
  const template = await api.post('/v1/messages', {
    channel: whatsapp,
    to: '+4915112345678',
    type: 'template',
    template: { name: 'hello', language: { code: 'en' } },
  })

  assert.equal(refused.status, 422)
  assert.equal(refused.body.error.code, 'policy_violation')
  assert.equal(template.status, 202)
})

test('the service window is open until 24 hours after the last inbound message, to the millisecond', async (t) => {
  const { world, api } = await liveWorld(t)
  const creation = {
    type: 'whatsapp',
    provider: 'simulator',
    name: 'WA',
    identifier: '+4915100000002',
    credentials: { callback_secret: 'secret' },
  }
  const whatsapp = (await api.post('/v1/channels', creation)).body.id
  const callback = JSON.stringify({
    reports: [{ kind: 'inbound', provider_id: 'in-1', from: '+4915112345678', type: 'text', content: { body: 'Hi' } }],
  })
  const signature = createHmac('sha256', 'secret').update(callback).digest('hex')
  const taken = await api.send('POST', `/hooks/channels/${whatsapp}`, { 'x-simulator-signature': signature }, callback)
  await world.settle()
  const send = async (more: object = {}, headers: Record<string, string> = {}) =>
    (await api.post('/v1/messages', text(whatsapp, '+4915112345678', more), headers)).status

  await world.clock.advance(24 * 3600_000)
  const last = [await send(), await send({}, { 'idempotency-key': 'a' })]
  await world.clock.advance(1)
  const late = [await send(), await send({}, { 'idempotency-key': 'b' })]

  assert.equal(taken.status, 200)
  assert.deepEqual(
    [last, late],
    [
      [202, 202],
      [422, 422],
    ],
  )
})

test('an opt-out cancels waiting messages and refuses new ones', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const planned = await api.post(
    '/v1/messages',
    text('ch_test_sms', '+4915112345678', { send_at: new Date(world.clock.now() + 60_000).toISOString() }),
  )

  const stop = await api.post('/v1/test/inbound_messages', {
    channel: 'ch_test_sms',
    from: '+4915112345678',
    text: { body: ' stop ' },
  })
  const refused = await api.post('/v1/messages', text('ch_test_sms', '+4915112345678'))
  const other = await api.post('/v1/messages', text('ch_test_whatsapp', '+4915112345678'))
  await world.settle()
  const outbound = await api.get('/v1/messages?direction=outbound&channel=ch_test_sms&to=%2B4915112345678')

  assert.equal(stop.status, 201)
  assert.equal(stop.body.status, 'received')
  assert.equal(refused.body.error.code, 'recipient_blocked')
  assert.equal(other.status, 202)
  assert.equal((await api.get(`/v1/messages/${planned.body.id}`)).body.error.code, 'recipient_blocked')
  assert.deepEqual(outbound.body.data.map((message: { status: string }) => message.status).toSorted(), [
    'delivered',
    'failed',
  ])
  await world.invariants()
})

test('a message that the database rejects is refused alone', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  await world.pool`alter table messages add constraint poison check (reference is distinct from 'poison')`
  const poison = text('ch_test_sms', '+15005550006', { reference: 'poison' })

  const [alone, batch, keyed, good] = await Promise.all([
    api.post('/v1/messages', poison),
    api.post('/v1/messages/batch', { messages: [text('ch_test_sms'), poison, text('ch_test_sms')] }),
    api.post('/v1/messages/batch', { messages: [poison, text('ch_test_sms')] }, { 'idempotency-key': 'b' }),
    api.post('/v1/messages', text('ch_test_sms')),
  ])

  assert.equal(alone.status, 400)
  assert.deepEqual(
    batch.body.data.map((item: { status: number }) => item.status),
    [202, 400, 202],
  )
  assert.deepEqual(
    keyed.body.data.map((item: { status: number }) => item.status),
    [400, 202],
  )
  assert.equal(good.status, 202)
  await world.settle()
  await world.invariants()
})

test('a message of a dead process is rescued and sent', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const sent = await api.post(
    '/v1/messages',
    text('ch_test_sms', '+15005550006', { send_at: new Date(world.clock.now() + 1000).toISOString() }),
  )
  await world.pool`update dispatch_jobs set process_id = 'dead', next_run_at = ${new Date(world.clock.now() + 60_000).toISOString()}`

  await wait(world, 2000)

  assert.equal((await api.get(`/v1/messages/${sent.body.id}`)).body.status, 'delivered')
  await world.invariants()
})

test('an SMS text shows its segments and encoding in both directions', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const shown = []

  for (const body of ['Hi', 'x'.repeat(161), 'Grüße 👋', '[€]'.repeat(40)]) {
    const out = (await api.post('/v1/messages', text('ch_test_sms', undefined, { text: { body } }))).body
    const back = (
      await api.post('/v1/test/inbound_messages', { channel: 'ch_test_sms', from: '+4915112345678', text: { body } })
    ).body
    const kept = (await api.get(`/v1/messages/${back.id}`)).body
    shown.push([out, back, kept].map(({ segments, encoding }) => `${segments} ${encoding}`))
  }
  const elsewhere = (
    await api.post('/v1/test/inbound_messages', {
      channel: 'ch_test_whatsapp',
      from: '+4915112345678',
      text: { body: 'Hi' },
    })
  ).body

  const each = (words: string) => [words, words, words]
  assert.deepEqual(shown, [each('1 gsm7'), each('2 gsm7'), each('1 ucs2'), each('2 gsm7')])
  assert.deepEqual([elsewhere.segments, elsewhere.encoding], [null, null])
})
