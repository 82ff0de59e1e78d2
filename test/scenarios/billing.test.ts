/** Billing through the API: charges, refusals, refunds and reports. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWorld, type TestAccount, type World } from '../support/world.ts'

const dayMs = 24 * 3600_000
const price = 7500
const delivered = '+19995550006'
const refused = '+19995550001'
const failsLater = '+19995550002'

test('a message that the account cannot pay for is 402, and nothing is created', async (t) => {
  const { world, account, send } = await openShop(t)

  const answer = await send(delivered)

  assert.equal(answer.status, 402)
  assert.deepEqual([answer.body.error.type, answer.body.error.code], ['billing_error', 'insufficient_balance'])
  assert.deepEqual((await account.api.get('/v1/messages')).body.data, [])
  assert.deepEqual((await account.api.get('/v1/balance_transactions')).body.data, [])
  assert.deepEqual((await account.api.get('/v1/usage')).body.data, [])
  assert.equal(await world.tick('dispatch'), 0)
  await world.invariants()
})

test('an accepted message is charged; a failed one is refunded once, before message.failed is recorded', async (t) => {
  const { world, account, send, wallet, events } = await openShop(t, 3 * price)

  const [good, bad, late] = [await send(delivered), await send(refused), await send(failsLater)]
  assert.deepEqual(
    [good, bad, late].map((answer) => answer.status),
    [202, 202, 202],
  )
  assert.deepEqual(good.body.billing, {
    source: 'wallet',
    amount_micros: price,
    package_grant_id: null,
    refunded: false,
  })
  assert.equal(await wallet(), 0)
  await deliver(world)

  assert.equal(await wallet(), 2 * price)
  for (const [answer, status, was_refunded] of [
    [good, 'delivered', false],
    [bad, 'failed', true],
    [late, 'failed', true],
  ] as const) {
    const message = (await account.api.get(`/v1/messages/${answer.body.id}`)).body
    assert.deepEqual([message.status, message.billing.refunded], [status, was_refunded])
    const entries = (await account.api.get(`/v1/balance_transactions?message_id=${message.id}`)).body.data
    assert.deepEqual(
      entries.map((one: { type: string }) => one.type),
      was_refunded ? ['message_refund', 'message_charge'] : ['message_charge'],
    )
  }
  const failures = (await events()).filter((event) => event.type === 'message.failed')
  assert.deepEqual(
    failures.map((event) => event.object.billing.refunded),
    [true, true],
  )
  await world.invariants()
})

test('cancelled and expired messages are refunded', async (t) => {
  const { world, account, send, wallet } = await openShop(t, 2 * price)
  const later = await send(delivered, { send_at: world.clock.iso(3600_000) })
  const hasty = await send(delivered, { send_at: world.clock.iso(7200_000), expires_in_seconds: 10 })
  assert.deepEqual([later.status, hasty.status, await wallet()], [202, 202, 0])

  assert.equal((await account.api.post(`/v1/messages/${later.body.id}/cancel`)).status, 200)
  assert.equal((await account.api.post(`/v1/messages/${later.body.id}/cancel`)).status, 409)
  assert.equal(await wallet(), price)
  await world.clock.advance(3 * 3600_000)
  await deliver(world)

  const expired = (await account.api.get(`/v1/messages/${hasty.body.id}`)).body
  assert.deepEqual([expired.status, expired.error.code, expired.billing.refunded], ['failed', 'expired', true])
  assert.equal(await wallet(), 2 * price)
  await world.invariants()
})

test('credits are used before money, from the package that expires first, each for its channel types', async (t) => {
  const { world, account, send } = await openShop(t, 2 * price)
  const grant = async (name: string, credits: number, expires_in_ms: number | null, channel_types: string[] = []) =>
    (
      await world.services.billing.grantPackage(world.pool, {
        account_id: account.id,
        credits,
        channel_types,
        name,
        expires_at: expires_in_ms === null ? null : world.clock.iso(expires_in_ms),
      })
    ).id
  const never = await grant('never', 1, null)
  const late = await grant('late', 1, 20 * dayMs)
  const soon = await grant('soon', 2, 10 * dayMs)
  const other = await grant('other', 5, dayMs, ['whatsapp'])

  const paid = []
  for (let sent = 0; sent < 6; sent++) paid.push((await send(delivered)).body.billing)

  assert.deepEqual(
    paid.map((one) => one.package_grant_id),
    [soon, soon, late, never, null, null],
  )
  assert.deepEqual(paid.map((one) => [one.source, one.amount_micros]).slice(3, 5), [
    ['package', 0],
    ['wallet', price],
  ])
  const { body: balance } = await account.api.get('/v1/balance')
  assert.deepEqual(
    [balance.object, balance.currency, balance.wallet_micros, balance.credits_remaining],
    ['balance', 'USD', 0, 5],
  )
  assert.deepEqual(balance.packages.map((one: { id: string; status: string }) => [one.id, one.status]).slice(0, 1), [
    [other, 'active'],
  ])
  assert.equal((await send(delivered)).status, 402)
  await world.invariants()
})

test('items of a batch are charged in order: a cheap one can be accepted after an expensive one was refused', async (t) => {
  const { world, account, channel } = await openShop(t, price + 10)
  const telegram = await connect(account, 'telegram', 'shop_bot')
  await world.services.billing.prices.setPrice(world.pool, account.id, 'telegram', 10)
  const to = (id: string, recipient: string) => ({ channel: id, to: recipient, type: 'text', text: { body: 'Hi' } })
  const messages = [to(channel, delivered), to(channel, delivered), to(telegram, '4711'), to(telegram, '4712')]

  const { status, body } = await account.api.post('/v1/messages/batch', { messages }, { 'idempotency-key': 'batch-1' })
  const replay = await account.api.post('/v1/messages/batch', { messages }, { 'idempotency-key': 'batch-1' })

  assert.equal(status, 207)
  assert.deepEqual(
    body.data.map((one: { status: number }) => one.status),
    [202, 402, 202, 402],
  )
  assert.deepEqual([body.accepted, body.rejected], [2, 2])
  assert.deepEqual([replay.status, replay.headers['idempotent-replayed']], [207, 'true'])
  assert.equal((await account.api.get('/v1/balance')).body.wallet_micros, 0)
  await world.invariants()
})

test('a price of 0 needs no funds, uses no credits and has no transaction, but counts in usage', async (t) => {
  const { world, account } = await openShop(t)
  const telegram = await connect(account, 'telegram', 'shop_bot')
  await world.services.billing.grantPackage(world.pool, {
    account_id: account.id,
    credits: 1,
    channel_types: [],
    expires_at: null,
    name: '',
  })

  const answer = await account.api.post('/v1/messages', {
    channel: telegram,
    to: '4711',
    type: 'text',
    text: { body: 'Hi' },
  })

  assert.equal(answer.status, 202)
  assert.deepEqual(answer.body.billing, { source: 'wallet', amount_micros: 0, package_grant_id: null, refunded: false })
  assert.equal((await account.api.get('/v1/balance')).body.credits_remaining, 1)
  assert.deepEqual((await account.api.get('/v1/balance_transactions?type=message_charge')).body.data, [])
  const [usage] = (await account.api.get('/v1/usage?group_by=channel')).body.data
  assert.deepEqual(
    [usage.channel_type, usage.channel_id, usage.messages, usage.wallet_micros, usage.package_credits],
    ['telegram', telegram, 1, 0, 0],
  )
})

test('two hundred concurrent messages with money for 120 are accepted exactly 120 times', async (t) => {
  const { world, account, send, wallet } = await openShop(t, 120 * price)

  const answers = await Promise.all(Array.from({ length: 200 }, () => send(delivered)))

  assert.deepEqual(
    [202, 402].map((status) => answers.filter((answer) => answer.status === status).length),
    [120, 80],
  )
  assert.equal(await wallet(), 0)
  const [usage] = (await account.api.get('/v1/usage')).body.data
  assert.deepEqual([usage.messages, usage.wallet_micros], [120, 120 * price])
  await world.invariants()
})

test('concurrent messages and batches never take a wallet below zero, and failed ones are refunded', async (t) => {
  const { world, account, channel, send, wallet } = await openShop(t, 100 * price)
  const item = (to: string) => ({ channel, to, type: 'text', text: { body: 'Hi' } })
  await world.services.billing.grantPackage(world.pool, {
    account_id: account.id,
    credits: 20,
    channel_types: [],
    expires_at: null,
    name: '',
  })

  const batches = Array.from({ length: 6 }, () =>
    account.api.post('/v1/messages/batch', {
      messages: Array.from({ length: 20 }, (_, at) => item(at % 2 === 0 ? delivered : refused)),
    }),
  )
  const singles = Array.from({ length: 40 }, () => send(refused))
  const accepted =
    (await Promise.all(batches)).reduce((sum, answer) => sum + answer.body.accepted, 0) +
    (await Promise.all(singles)).filter((answer) => answer.status === 202).length
  assert.equal(accepted, 120)
  assert.equal(await wallet(), 0)
  await deliver(world)

  const { body } = await account.api.get('/v1/balance')
  const failed = await failures(account)
  assert.equal(body.wallet_micros / price + body.credits_remaining, failed)
  await world.invariants()
})

test('billing records balance.low, package.exhausted and package.expiring', async (t) => {
  const { world, account, send, events } = await openShop(t, 1_000_000 + price)
  const { billing } = world.services
  const { id } = await billing.grantPackage(world.pool, {
    account_id: account.id,
    credits: 1,
    channel_types: [],
    expires_at: null,
    name: 'One',
  })
  const waning = await billing.grantPackage(world.pool, {
    account_id: account.id,
    credits: 1,
    channel_types: ['whatsapp'],
    expires_at: world.clock.iso(7 * dayMs),
    name: 'Waning',
  })
  const ofMoney = async () =>
    (await events()).filter((event) => !event.type.startsWith('message.') && !event.type.startsWith('channel.'))

  await world.periodicJobs()
  assert.deepEqual(
    (await ofMoney()).map((event) => [event.type, event.object.id, event.object.credits_remaining]),
    [['package.expiring', waning.id, 1]],
  )
  await send(delivered)
  assert.deepEqual(
    (await ofMoney()).slice(1).map((event) => [event.type, event.object_id, event.object.status]),
    [['package.exhausted', id, 'exhausted']],
  )
  await send(delivered)
  await send(delivered)
  assert.equal((await ofMoney()).length, 2, 'credits remain')
  await world.clock.advance(7 * dayMs)
  await world.periodicJobs()

  const [low, ...more] = (await ofMoney()).slice(2)
  assert.deepEqual(more, [])
  assert.deepEqual(
    [low?.type, low?.object.object, low?.object.wallet_micros, low?.object.credits_remaining],
    ['balance.low', 'balance', 1_000_000 - price, 0],
  )
  await send(delivered)
  assert.equal((await ofMoney()).length, 3, 'at most once in 24 hours')
})

test('a request repeated with its key is charged once', async (t) => {
  const { send, wallet } = await openShop(t, 3 * price)

  const answers = await Promise.all([1, 2, 3].map(() => send(delivered, {}, { 'idempotency-key': 'order-7' })))
  const replay = await send(delivered, {}, { 'idempotency-key': 'order-7' })

  assert.ok(answers.every((answer) => answer.status === 202 || answer.body.error.code === 'idempotency_key_in_use'))
  assert.deepEqual([replay.status, replay.headers['idempotent-replayed']], [202, 'true'])
  assert.equal(await wallet(), 2 * price)
})

test('test mode answers in the same format at no cost and counts its messages', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'test', credit_micros: 1_000_000 })
  const sent = await api.post('/v1/messages', {
    channel: 'ch_test_sms',
    to: '+15005550001',
    type: 'text',
    text: { body: 'Hi' },
  })
  await deliver(world)

  assert.deepEqual(sent.body.billing, { source: 'wallet', amount_micros: 0, package_grant_id: null, refunded: false })
  assert.equal((await api.get(`/v1/messages/${sent.body.id}`)).body.billing.refunded, true)
  assert.deepEqual((await api.get('/v1/balance')).body, {
    object: 'balance',
    mode: 'test',
    currency: 'USD',
    wallet_micros: 0,
    packages: [],
    credits_remaining: 0,
  })
  const prices = (await api.get('/v1/prices')).body
  assert.deepEqual(
    prices.data.map((one: Record<string, unknown>) => [
      one['object'],
      one['channel_type'],
      one['unit'],
      one['amount_micros'],
      one['currency'],
    ]),
    [
      ['price', 'sms', 'message', 0, 'USD'],
      ['price', 'telegram', 'message', 0, 'USD'],
      ['price', 'whatsapp', 'message', 0, 'USD'],
    ],
  )
  const today = world.clock.iso().slice(0, 10)
  assert.deepEqual((await api.get('/v1/usage')).body, {
    object: 'list',
    data: [
      {
        object: 'usage_record',
        period_start: `${today}T00:00:00.000Z`,
        period_end: new Date(Date.parse(today) + dayMs).toISOString(),
        channel_type: null,
        channel_id: null,
        messages: 1,
        package_credits: 0,
        wallet_micros: 0,
        refunded_credits: 0,
        refunded_micros: 0,
        currency: 'USD',
      },
    ],
    has_more: false,
    next_cursor: null,
  })
  assert.deepEqual((await api.get('/v1/balance_transactions')).body, {
    object: 'list',
    data: [],
    has_more: false,
    next_cursor: null,
  })
})

test('a live account sees its own prices, and its transactions in pages', async (t) => {
  const { world, account, send } = await openShop(t, 10 * price)
  await world.services.billing.prices.setPrice(world.pool, account.id, 'whatsapp', 4000)
  await world.clock.advance(5000)
  await send(delivered)
  await send(delivered)

  const prices = (await account.api.get('/v1/prices')).body.data
  assert.deepEqual(
    prices.map((one: { channel_type: string; amount_micros: number }) => [one.channel_type, one.amount_micros]),
    [
      ['sms', price],
      ['telegram', 0],
      ['whatsapp', 4000],
    ],
  )
  const first = (await account.api.get('/v1/balance_transactions?limit=2')).body
  assert.deepEqual(
    first.data.map((one: Record<string, unknown>) => [
      one['object'],
      one['type'],
      one['amount_micros'],
      one['credits'],
      one['balance_after_micros'],
    ]),
    [
      ['balance_transaction', 'message_charge', -price, 0, 8 * price],
      ['balance_transaction', 'message_charge', -price, 0, 9 * price],
    ],
  )
  assert.deepEqual([first.has_more, first.next_cursor], [true, first.data[1].id])
  const second = (await account.api.get(`/v1/balance_transactions?limit=2&starting_after=${first.next_cursor}`)).body
  assert.deepEqual(
    [second.data.map((one: { type: string }) => one.type), second.has_more, second.next_cursor],
    [['top_up'], false, null],
  )
})

test('invalid billing requests name the invalid field', async (t) => {
  const { world, account } = await openShop(t)
  const cases: readonly [path: string, param: string][] = [
    ['/v1/balance?mode=test', 'mode'],
    ['/v1/prices?channel_type=sms', 'channel_type'],
    ['/v1/prices?starting_after=x', 'starting_after'],
    ['/v1/prices?limit=0', 'limit'],
    ['/v1/usage?from=yesterday', 'from'],
    ['/v1/usage?from=2026-02-30', 'from'],
    ['/v1/usage?to=', 'to'],
    ['/v1/usage?from=2026-01-02&to=2026-01-01', 'from'],
    ['/v1/usage?from=2025-01-01&to=2026-01-02', 'from'],
    ['/v1/usage?group_by=week', 'group_by'],
    ['/v1/usage?starting_after=txn_1', 'starting_after'],
    ['/v1/usage?limit=101', 'limit'],
    ['/v1/usage?group=day', 'group'],
    ['/v1/balance_transactions?type=gift', 'type'],
    ['/v1/balance_transactions?starting_after=txn_nope', 'starting_after'],
    ['/v1/balance_transactions?created_after=soon', 'created_after'],
    ['/v1/balance_transactions?limit=1000', 'limit'],
  ]
  for (const [path, param] of cases) {
    const { status, body } = await account.api.get(path)
    assert.deepEqual([status, body.error?.code, body.error?.param], [400, 'parameter_invalid', param], path)
  }
  assert.deepEqual((await account.api.get('/v1/balance_transactions?message_id=nothing')).body.data, [])
  assert.equal((await account.api.get('/v1/usage?from=2025-01-01&to=2026-01-01')).status, 200)

  const { api } = await world.account({ mode: 'live', scopes: ['messages:read'] })
  for (const path of ['/v1/balance', '/v1/prices', '/v1/usage', '/v1/balance_transactions'])
    assert.equal((await api.get(path)).body.error?.code, 'scope_missing', path)
})

test('an account cannot see the money of another account', async (t) => {
  const { world, account } = await openShop(t, 10 * price)
  const { api } = await world.account({ mode: 'live' })
  const [top_up] = (await account.api.get('/v1/balance_transactions')).body.data

  assert.equal((await api.get('/v1/balance')).body.wallet_micros, 0)
  assert.deepEqual((await api.get('/v1/balance_transactions')).body.data, [])
  assert.equal((await api.get(`/v1/balance_transactions?starting_after=${top_up.id}`)).status, 400)
})

interface EmittedEvent {
  readonly type: string
  readonly object_id: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly object: any
}

async function openShop(t: Parameters<typeof startWorld>[0], credit_micros?: number) {
  const world = await startWorld(t)
  const account = await world.account({ mode: 'live', ...(credit_micros === undefined ? {} : { credit_micros }) })
  const channel = await connect(account, 'sms', '+15550100')
  const send = (to: string, more: object = {}, headers: Record<string, string> = {}) =>
    account.api.post('/v1/messages', { channel, to, type: 'text', text: { body: 'Hi' }, ...more }, headers)
  const wallet = async (): Promise<number> => (await account.api.get('/v1/balance')).body.wallet_micros
  const events = async () =>
    await world.pool<EmittedEvent[]>`select type, object_id, object::json as object from events order by position, id`
  return { world, account, channel, send, wallet, events }
}

async function connect(account: TestAccount, type: string, identifier: string): Promise<string> {
  const { status, body } = await account.api.post('/v1/channels', {
    type,
    provider: 'simulator',
    name: 'Shop',
    identifier,
    credentials: {},
    settings: { max_messages_per_second: 1000 },
  })
  assert.equal(status, 201, JSON.stringify(body))
  return body.id
}

async function deliver(world: World): Promise<void> {
  for (let round = 0; round < 5; round++) {
    await world.settle()
    await world.clock.advance(1000)
  }
  await world.settle()
}

async function failures(account: TestAccount): Promise<number> {
  let [count, after] = [0, '']
  for (;;) {
    const { body } = await account.api.get(`/v1/messages?status=failed&limit=100${after}`)
    count += body.data.length
    if (body.next_cursor === null) return count
    after = `&starting_after=${body.next_cursor}`
  }
}
