import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { hmacHex } from '../../src/lib/hmac.ts'
import { holdOpen } from '../support/open-transactions.ts'
import { startWorld, type World } from '../support/world.ts'

/** The wait of an item after its first look-up. */
const waitMs = 200

async function connected(world: World, type: 'sms' | 'whatsapp') {
  const { id: account_id, api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const credentials = { callback_secret: 's3cret' }
  const { body: channel } = await api.post('/v1/channels', {
    type,
    provider: 'simulator',
    name: 'Alerts',
    identifier: '+4915100000001',
    credentials,
  })
  const callBack = (said: object | string, secret = 's3cret') => {
    const body = typeof said === 'string' ? said : JSON.stringify(said)
    return world.api().post(`/hooks/channels/${channel.id}`, body, { 'x-simulator-signature': hmacHex(secret, body) })
  }
  return { account_id, api, channel, callBack }
}

test('a signed callback is accepted, stored until its message is known, and applied in any order and number', async (t) => {
  const world = await startWorld(t)
  const { api, channel, callBack } = await connected(world, 'sms')
  const sent = await api.post('/v1/messages', {
    channel: channel.id,
    to: '+19995550005',
    type: 'text',
    text: { body: 'Hi' },
  })
  const receipt = (move: string) => ({ kind: 'receipt', provider_id: `simulator-${sent.body.id}`, move })
  const inbound = {
    kind: 'inbound',
    provider_id: 'in-1',
    from: '+4915112345678',
    profile_name: 'Ada',
    type: 'text',
    content: { body: 'Hello' },
    reply_to: null,
  }

  const early = await callBack({ reports: [receipt('open'), inbound] })
  await world.tick('callbacks')
  const forged = await callBack({ reports: [receipt('fail')] }, 'wrong')
  const unknown = await world.api().post('/hooks/channels/ch_00000000000000000000000000', '{}')
  await world.settle()
  const again = await callBack({ reports: [receipt('deliver'), receipt('open'), receipt('fail'), inbound] })
  await world.clock.advance(5000)
  await world.settle()

  assert.equal(early.status, 200)
  assert.equal(again.status, 200)
  assert.deepEqual([forged.status, forged.body.error.code], [401, 'hook_token_invalid'])
  assert.equal(unknown.status, 404)
  const message = await api.get(`/v1/messages/${sent.body.id}`)
  assert.equal(message.body.status, 'read')
  assert.equal(message.body.delivered_at, message.body.read_at)
  assert.equal((await api.get('/v1/messages?direction=inbound')).body.data.length, 1)
  await world.invariants()
})

test('a callback may be larger than a request, up to three megabytes', async (t) => {
  const world = await startWorld(t)
  const { api, callBack } = await connected(world, 'sms')
  const inbound = {
    kind: 'inbound',
    provider_id: 'in-1',
    from: '+4915112345678',
    profile_name: null,
    type: 'text',
    content: { body: 'Hello' },
    reply_to: null,
  }
  const ofSize = (bytes: number) => {
    const said = { reports: [inbound], padding: '' }
    return JSON.stringify({ ...said, padding: 'x'.repeat(bytes - JSON.stringify(said).length) })
  }

  const answers = [await callBack(ofSize(3 * 1024 * 1024)), await callBack(ofSize(3 * 1024 * 1024 + 1))]
  await world.settle()

  assert.deepEqual(
    answers.map(({ status, body }) => [status, body?.error?.code]),
    [
      [200, undefined],
      [413, 'payload_too_large'],
    ],
  )
  assert.equal((await api.get('/v1/messages?direction=inbound')).body.data.length, 1)
})

test('a callback is stored byte for byte, compressed if large, with its encoding', async (t) => {
  const world = await startWorld(t)
  const { callBack } = await connected(world, 'sms')
  const [small, large] = [
    '{"reports": [],  "a": "ä"}',
    JSON.stringify({ reports: [], padding: 'Zürich '.repeat(40_000) }),
  ]

  for (const body of [small, large]) await callBack(body)

  const kept = await world.pool<
    { body: Buffer; encoding: string | null }[]
  >`select body, encoding from provider_callbacks order by id`
  assert.deepEqual(
    kept.map(({ body, encoding }) => [
      encoding,
      (encoding === 'gzip' ? gunzipSync(body) : Buffer.from(body)).toString('utf8'),
    ]),
    [
      [null, small],
      ['gzip', large],
    ],
  )
  assert.ok(kept[1]!.body.length < large.length / 10)
})

test('a receipt of a known provider id is stored without other names of its message', async (t) => {
  const world = await startWorld(t)
  const { api, channel, callBack } = await connected(world, 'sms')
  const sent = await api.post('/v1/messages', {
    channel: channel.id,
    to: '+19995550005',
    type: 'text',
    text: { body: 'Hi' },
  })
  await world.settle()
  const receipt = {
    kind: 'receipt',
    message_id: sent.body.id,
    part: { number: 1, total: 2 },
    also_known_as: ['x'],
    move: 'deliver',
  }

  await callBack({
    reports: [
      { ...receipt, provider_id: `simulator-${sent.body.id}` },
      { ...receipt, provider_id: 'another' },
    ],
  })
  const kept = await world.pool<{ item: object }[]>`select item from callback_items order by id`
  await world.settle()

  assert.deepEqual(
    kept.map(({ item }) => Object.keys(item).includes('message_id')),
    [false, true],
  )
  assert.equal((await api.get(`/v1/messages/${sent.body.id}`)).body.status, 'delivered')
})

test('a message is readable whatever a provider reports about its failure', async (t) => {
  const world = await startWorld(t)
  const { api, channel, callBack } = await connected(world, 'sms')
  const said = [{ code: 5 }, {}, 'gone', null, { code: 'expired', message: 'Too late', provider_code: 131 }]

  const shown = []
  for (const error of said) {
    const sent = await api.post('/v1/messages', {
      channel: channel.id,
      to: '+19995550005',
      type: 'text',
      text: { body: 'Hi' },
    })
    await world.settle()
    await callBack({ reports: [{ kind: 'receipt', provider_id: `simulator-${sent.body.id}`, move: 'fail', error }] })
    await world.settle()
    const { body: message } = await api.get(`/v1/messages/${sent.body.id}`)
    shown.push([message.status, message.error.code, message.error.provider_code])
  }

  assert.deepEqual(shown, [...Array(4).fill(['failed', 'provider_error', '']), ['failed', 'expired', '131']])
  assert.equal((await api.get('/v1/messages')).status, 200)
})

test('invalid provider content is stored as far as possible and blocks nothing', async (t) => {
  const world = await startWorld(t)
  const { api, callBack: tellAll } = await connected(world, 'whatsapp')
  const deep = '['.repeat(6000) + ']'.repeat(6000)
  const callBack = (fields: string) => tellAll(`{"reports":[{"kind":"inbound","from":"+4915112345678",${fields}}]}`)

  const answers = [
    await callBack(
      '"provider_id":"in-1","profile_name":"A\\u0000da","type":"text","content":{"body":"half \\ud83d, none \\u0000"},"reply_to":null',
    ),
    await callBack(
      `"provider_id":"in-2","profile_name":null,"type":"text","content":{"body":"deep","more":${deep}},"reply_to":null`,
    ),
    await callBack('"provider_id":"in-3","type":"text","content":{"body":"without a name"}'),
    await callBack('"provider_id":"in-4","profile_name":null,"type":"hologram","content":{"body":"?"},"reply_to":null'),
    await callBack('"provider_id":"in-5","profile_name":null,"type":"text","content":null,"reply_to":null'),
    await callBack('"provider_id":"in-6","profile_name":null,"type":"text","content":{"body":"last"},"reply_to":null'),
  ]
  await world.settle()

  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200, 200],
  )
  const messages = (await api.get('/v1/messages?direction=inbound')).body.data.toReversed()
  assert.deepEqual(
    messages.map((message: { content: unknown }) => JSON.stringify(message.content).replaceAll(/\[+null\]+/g, '[…]')),
    [
      '{"text":{"body":"half \uFFFD, none \uFFFD"}}',
      '{"text":{"body":"deep","more":[…]}}',
      '{"text":{"body":"without a name"}}',
      '{"unsupported":{"provider_type":"hologram"}}',
      '{"unsupported":{"provider_type":"text"}}',
      '{"text":{"body":"last"}}',
    ],
  )
  await world.invariants()
})

test('an item that cannot be applied blocks no other and is abandoned after a week', async (t) => {
  const world = await startWorld(t)
  const { account_id, api, channel } = await connected(world, 'sms')
  const odd = ['null', '{"kind":"inbound"}', '{"kind":"receipt","provider_id":"simulator-x","move":"vanish"}']
  const at = world.clock.iso()
  for (const [n, report] of odd.entries())
    await world.pool`
      insert into callback_items (id, account_id, mode, channel_id, provider_id, item, next_run_at, created_at)
      values (${`odd_${n}`}, ${account_id}, 'live', ${channel.id}, null, ${report}::text::json, ${at}, ${at})`
  const sent = await api.post('/v1/messages', {
    channel: channel.id,
    to: '+4915112345678',
    type: 'text',
    text: { body: 'Hi' },
  })

  await world.settle()
  const status = (await api.get(`/v1/messages/${sent.body.id}`)).body.status
  const kept = (await world.pool`select id from callback_items where next_run_at > ${world.clock.iso()}`).length
  await world.clock.advance(8 * 24 * 3600_000)
  await world.settle()

  assert.equal(status, 'delivered')
  assert.ok(kept > 0)
  assert.equal((await world.pool`select id from callback_items`).length, 0)
  await world.invariants()
})

test('a clock that jumps ahead abandons no waiting item and retries none more often (behaviour: operating 3.5)', async (t) => {
  const world = await startWorld(t)
  const { account_id, channel, callBack } = await connected(world, 'sms')
  const at = world.clock.iso()
  await world.pool`
    insert into callback_items (id, account_id, mode, channel_id, provider_id, item, next_run_at, created_at)
    values ('odd', ${account_id}, 'live', ${channel.id}, null, '{"kind":"inbound"}', ${at}, ${at})`
  await callBack({ reports: [{ kind: 'receipt', provider_id: 'nobody’s', move: 'deliver' }] })
  await world.settle()
  const kept = async () =>
    (
      await world.pool`select (item->>'kind') || ' ' || (next_run_at > ${world.clock.iso(waitMs)}) as kept from callback_items order by 1`
    ).map((row) => row['kept'])

  world.clock.jump(30 * 24 * 3600_000)
  await world.settle()
  const jumped = await kept()
  await world.clock.advance(8 * 24 * 3600_000)
  await world.settle()

  assert.deepEqual(jumped, ['delivery_receipt true', 'inbound true'])
  assert.deepEqual(await kept(), [])
})

test('items of one channel are applied at once, however many unknown receipts another channel has', async (t) => {
  const world = await startWorld(t)
  const flooded = await connected(world, 'whatsapp')
  const { api, channel, callBack } = await connected(world, 'sms')
  const sent = await api.post('/v1/messages', {
    channel: channel.id,
    to: '+19995550005',
    type: 'text',
    text: { body: 'Hi' },
  })
  await world.settle()
  const at = world.clock.iso()
  await world.pool`
    insert into callback_items (id, account_id, mode, channel_id, provider_id, item, next_run_at, created_at)
    select 'flood_' || n, ${flooded.account_id}, 'live', ${flooded.channel.id}, 'x' || n,
      json_build_object('kind', 'delivery_receipt', 'provider_id', 'x' || n, 'transition', 'deliver'), ${at}, ${at}
    from generate_series(1, 5000) n`
  await world.clock.advance(1)
  await callBack({
    reports: ['deliver', 'open'].map((move) => ({ kind: 'receipt', provider_id: `simulator-${sent.body.id}`, move })),
  })

  await world.tick('callbacks')

  assert.equal((await api.get(`/v1/messages/${sent.body.id}`)).body.status, 'read')
  await world.invariants()
})

test('a receipt of an unknown message is retried ever more rarely and abandoned after a week', async (t) => {
  const world = await startWorld(t)
  const { callBack } = await connected(world, 'sms')
  await callBack({ reports: [{ kind: 'receipt', provider_id: 'nobody’s', move: 'deliver' }] })
  const began_ms = world.clock.now()

  let looks = 0
  for (let kept = true; kept && looks < 50; looks++) {
    await world.tick('callbacks')
    const [row] = await world.pool<
      { wait_ms: number }[]
    >`select (extract(epoch from next_run_at - ${world.clock.iso()}::timestamptz) * 1000)::float8 as wait_ms from callback_items`
    kept = row !== undefined
    await world.clock.advance(Math.ceil(row?.wait_ms ?? 0))
  }

  const days = (world.clock.now() - began_ms) / (24 * 3600_000)
  assert.ok(looks <= 30, `it was looked at ${looks} times`)
  assert.ok(days >= 7 && days < 7.01, `it was kept for ${days} days`)
  assert.equal((await world.pool`select from provider_callbacks`).length, 1)
})

test('receipts of one message in one batch are applied in order, and none after a failure', async (t) => {
  const world = await startWorld(t)
  const { api, channel, callBack } = await connected(world, 'sms')
  const shown = []

  for (const moves of [
    ['fail', 'deliver', 'open'],
    ['deliver', 'fail', 'open'],
  ]) {
    const sent = await api.post('/v1/messages', {
      channel: channel.id,
      to: '+19995550005',
      type: 'text',
      text: { body: 'Hi' },
    })
    await world.settle()
    await callBack({
      reports: moves.map((move) => ({ kind: 'receipt', provider_id: `simulator-${sent.body.id}`, move })),
    })
    await world.settle()
    const { status, billing, delivered_at } = (await api.get(`/v1/messages/${sent.body.id}`)).body
    shown.push([status, billing.refunded, delivered_at !== null])
  }

  assert.deepEqual(shown, [
    ['failed', true, false],
    ['read', false, true],
  ])
  await world.invariants()
})

test('a receipt does not overtake an earlier one of its message that another process has locked', async (t) => {
  const world = await startWorld(t)
  const { api, channel, callBack } = await connected(world, 'sms')
  const sent = await api.post('/v1/messages', {
    channel: channel.id,
    to: '+19995550005',
    type: 'text',
    text: { body: 'Hi' },
  })
  await world.settle()
  await callBack({
    reports: ['deliver', 'open'].map((move) => ({ kind: 'receipt', provider_id: `simulator-${sent.body.id}`, move })),
  })
  const status = async () => (await api.get(`/v1/messages/${sent.body.id}`)).body.status

  const meanwhile = await holdOpen(world.pool, async (other) => {
    await other`select from callback_items order by next_run_at, id limit 1 for update`
    await world.tick('callbacks')
    return await status()
  })
  await world.settle()

  const types = (await api.get(`/v1/events?object_id=${sent.body.id}&order=asc`)).body.data.map(
    (event: { type: string }) => event.type,
  )
  assert.deepEqual([meanwhile, await status()], ['sent', 'read'])
  assert.deepEqual(types, ['message.sent', 'message.delivered', 'message.read'])
  await world.invariants()
})

async function recipient(world: World) {
  const { api, channel, callBack } = await connected(world, 'sms')
  const from = '+4915112345678'
  let said = 0
  return {
    say: async (...words: string[]) => {
      const reports = words.map((body) => ({
        kind: 'inbound',
        provider_id: `in-${++said}`,
        from,
        profile_name: null,
        type: 'text',
        content: { body },
        reply_to: null,
      }))
      await callBack({ reports })
    },
    mayBeWrittenTo: async () =>
      (await api.post('/v1/messages', { channel: channel.id, to: from, type: 'text', text: { body: 'Hi' } })).status ===
      202,
  }
}

test('a STOP does not overtake an earlier START of its sender that another process has locked', async (t) => {
  const world = await startWorld(t)
  const { say, mayBeWrittenTo } = await recipient(world)
  await say('STOP')
  await world.settle()
  await say('START', 'STOP')

  await holdOpen(world.pool, async (other) => {
    await other`select from callback_items order by next_run_at, id limit 1 for update`
    await world.tick('callbacks')
  })
  await world.settle()

  assert.equal(await mayBeWrittenTo(), false)
  await world.invariants()
})

test('a STOP waits for an earlier START of its sender that cannot be applied yet, but not for ever', async (t) => {
  const world = await startWorld(t)
  const [one, other] = [await recipient(world), await recipient(world)]
  await world.pool.unsafe(`create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$`)
  const refuse = () =>
    world.pool.unsafe(
      `create trigger refuse before insert on messages for each row when (new.content::text like '%"START"%') execute function refuse()`,
    )

  await refuse()
  await one.say('START', 'STOP')
  await world.tick('callbacks')
  await world.pool.unsafe('drop trigger refuse on messages')
  await world.clock.advance(1000)
  await world.settle()
  await refuse()
  await other.say('START', 'STOP')
  await world.settle()

  assert.deepEqual([await one.mayBeWrittenTo(), await other.mayBeWrittenTo()], [false, false])
  await world.invariants()
})
