/** SMS through Twilio, with a simulator. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { simulateTwilio } from '../support/simulators/twilio.ts'
import { startWorld } from '../support/world.ts'

const base_url = 'https://messages.example.com'
const account_sid = 'AC0123456789abcdef0123456789abcdef'
const auth_token = 'f00dfeedf00dfeedf00dfeedf00dfeed'
const identifier = '+14155550100'
const person = '+14155550123'

async function twilioWorld(t: TestContext) {
  let real = base_url
  let now = () => Date.parse('2026-01-31T09:30:00.000Z')
  const sim = await simulateTwilio(t, {
    account_sid,
    auth_token,
    numbers: [identifier],
    now: () => now(),
    reach: (url) => url.replace(base_url, real),
  })
  const world = await startWorld(t, { settings: { base_url, provider_urls: { POSTHORN_TWILIO_URL: sim.url } } })
  real = world.base_url
  now = () => world.clock.now()
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const connect = (more: object = {}) =>
    api.post('/v1/channels', {
      type: 'sms',
      provider: 'twilio',
      name: 'Orders',
      identifier,
      credentials: { account_sid, auth_token },
      ...more,
    })
  return {
    world,
    sim,
    api,
    connect,
    read: async (id: string) => (await api.get(`/v1/messages/${id}`)).body,
    received: async () => (await api.get('/v1/messages?direction=inbound')).body.data,
    eventsOf: async (id: string) =>
      (await api.get(`/v1/events?object_id=${id}&order=asc`)).body.data.map((event: { type: string }) => event.type),
  }
}

async function connected(t: TestContext, more: object = {}) {
  const parts = await twilioWorld(t)
  const { body: channel, status } = await parts.connect(more)
  assert.equal(status, 201)
  const send = (given: object = {}) =>
    parts.api.post('/v1/messages', { channel: channel.id, to: person, type: 'text', text: { body: 'Hi' }, ...given })
  const hand = async (given: object = {}) => {
    const { body } = await send(given)
    await parts.world.settle()
    return body.id as string
  }
  return { ...parts, channel, send, hand }
}

test('a channel connects with valid Twilio credentials, and shows none of them', async (t) => {
  const { api, connect } = await twilioWorld(t)

  const wrong = await connect({ credentials: { account_sid, auth_token: 'wrong' } })
  const foreign = await connect({ identifier: '+14155550999' })
  const malformed = await connect({ credentials: { account_sid: 'AC1/../x', auth_token } })
  const right = await connect()
  const again = await connect()

  assert.deepEqual(
    [wrong, foreign, malformed, right, again].map(({ status, body }) => [status, body.error?.code, body.error?.param]),
    [
      [422, 'upstream_rejected', undefined],
      [422, 'upstream_rejected', undefined],
      [400, 'parameter_invalid', 'credentials.account_sid'],
      [201, undefined, undefined],
      [409, 'channel_identifier_taken', 'identifier'],
    ],
  )
  assert.deepEqual(
    [right.body.provider, right.body.capabilities, right.body.webhook_url],
    ['twilio', ['text'], `${base_url}/hooks/channels/${right.body.id}`],
  )
  assert.ok(!JSON.stringify((await api.get(`/v1/channels/${right.body.id}`)).body).includes(auth_token))
})

test('a text is sent, delivered and read by callbacks in any order and number', async (t) => {
  const { world, sim, hand, read, eventsOf } = await connected(t)
  const [orderly, disorderly] = [await hand(), await hand()]

  const sent = await read(orderly)
  const answers = []
  for (const status of ['queued', 'sent', 'delivered', 'delivered', 'read'])
    answers.push(await sim.report(sim.messages[0]!, status))
  for (const status of ['delivered', 'sent', 'undelivered']) answers.push(await sim.report(sim.messages[1]!, status))
  await world.settle()

  assert.equal(sent.status, 'sent')
  assert.deepEqual([(await read(orderly)).status, (await read(disorderly)).status], ['read', 'delivered'])
  assert.deepEqual(await eventsOf(orderly), ['message.sent', 'message.delivered', 'message.read'])
  for (const answer of answers)
    assert.deepEqual(
      [answer.status, answer.headers.get('content-type'), (await answer.text()).endsWith('<Response/>')],
      [200, 'text/xml; charset=utf-8', true],
    )
  await world.invariants()
})

test("refused and undelivered messages fail with Twilio's reason and are refunded", async (t) => {
  const { world, sim, api, send, hand, read } = await connected(t)
  sim.refuse('+14155550002', 21610)

  const blocked = await hand({ to: '+14155550002' })
  const again = await send({ to: '+14155550002' })
  const unreachable = await hand()
  await sim.report(sim.messages[0]!, 'undelivered', { ErrorCode: '30003' })
  await world.settle()

  const shown = [await read(blocked), await read(unreachable)].map(({ status, error, billing }) => [
    status,
    error.code,
    error.provider_code,
    billing.refunded,
  ])
  assert.deepEqual(shown, [
    ['failed', 'recipient_blocked', '21610', true],
    ['failed', 'provider_error', '30003', true],
  ])
  assert.deepEqual(
    [again.status, again.body.error.code],
    [422, 'recipient_blocked'],
    'Twilio says that the recipient has written STOP',
  )
  assert.equal((await api.get('/v1/balance')).body.wallet_micros, 1_000_000)
  await world.invariants()
})

test('throttled messages are sent later, and revoked credentials disconnect the channel until they are valid again', async (t) => {
  const { world, sim, api, channel, hand, read } = await connected(t)
  sim.answerNext({ status: 429, body: { code: 20429 }, headers: { 'retry-after': '5' } })
  const throttled = await hand()
  const waiting = await read(throttled)
  await world.clock.advance(5000)
  await world.settle()
  // the channel is slower after a pause
  await world.clock.advance(1000)

  sim.account.auth_token = 'changed'
  const lost = await hand()
  const disconnected = (await api.get(`/v1/channels/${channel.id}`)).body.connection_status
  sim.account.auth_token = auth_token
  await world.clock.advance(60_000)
  await world.settle()

  assert.deepEqual([waiting.status, (await read(throttled)).status], ['sending', 'sent'])
  assert.deepEqual([(await read(lost)).error.code, disconnected], ['channel_not_connected', 'disconnected'])
  assert.equal((await api.get(`/v1/channels/${channel.id}`)).body.connection_status, 'connected')
  await world.invariants()
})

test('a message whose send attempt had no answer is found by its receipt or a status query, and sent once', async (t) => {
  const { world, sim, hand, read } = await connected(t)

  sim.answerNext('lost')
  const reported = await hand({ text: { body: 'Told' } })
  await sim.report(sim.messages[0]!, 'delivered')
  await world.settle()
  const delivered = (await read(reported)).status
  sim.answerNext('lost')
  const asked = await hand({ text: { body: 'Asked' } })
  sim.answerNext('reset')
  const never = await hand({ text: { body: 'Never taken' } })
  const before = [(await read(asked)).status, (await read(never)).status]
  await world.clock.advance(30_000)
  await world.settle()
  await sim.report(sim.messages[1]!, 'delivered')
  await world.settle()

  assert.deepEqual([delivered, before], ['delivered', ['sending', 'sending']])
  assert.deepEqual([(await read(asked)).status, (await read(never)).status], ['delivered', 'sent'])
  assert.deepEqual(
    sim.messages.map(({ form }) => form.get('Body')),
    ['Told', 'Asked', 'Never taken'],
  )
  await world.invariants()
})

test('of two identical messages, the lost one is sent and the accepted one is not mistaken for it', async (t) => {
  const { world, sim, hand, read } = await connected(t)
  sim.answerNext('reset')
  const first = await hand()
  await world.clock.advance(10_000)
  const second = await hand()
  await world.clock.advance(20_000)
  await world.settle()
  const texts = sim.messages.length
  for (const message of sim.messages) await sim.report(message, 'delivered')
  await world.settle()

  assert.deepEqual([texts, (await read(first)).status, (await read(second)).status], [2, 'delivered', 'delivered'])
  await world.invariants()
})

test('two identical messages without answers that both arrived are each found once, and not sent again', async (t) => {
  const { world, sim, hand, read } = await connected(t)
  sim.answerNext('lost', 'lost')
  const ids = [await hand(), await hand()]
  for (let asked = 0; asked < 4; asked++) {
    await world.clock.advance(30_000)
    await world.settle()
  }
  for (const message of sim.messages) await sim.report(message, 'delivered')
  await world.settle()

  assert.equal(sim.messages.length, 2)
  for (const id of ids) assert.equal((await read(id)).status, 'delivered')
  await world.invariants()
})

test('inbound messages are stored once, with their files, and STOP and START apply', async (t) => {
  const { world, sim, api, channel, send, received } = await connected(t)
  const say = (fields: Record<string, string>) =>
    sim.receive(channel.webhook_url, { From: person, To: identifier, ...fields })
  const sid = (n: number) => `SM${String(n).padStart(32, '0')}`

  await say({ MessageSid: sid(101), Body: 'Grüße & 100% ☕' })
  await say({ MessageSid: sid(101), Body: 'Grüße & 100% ☕' })
  await say({
    MessageSid: sid(102),
    Body: 'The leak',
    NumMedia: '1',
    MediaUrl0: sim.file('ME1', Buffer.from('x'), 'image/jpeg'),
    MediaContentType0: 'image/jpeg',
  })
  await say({ MessageSid: sid(103), Body: 'Another number', To: '+14155550999' })
  await world.settle()
  const [files, text, ...more] = await received()
  await say({ MessageSid: sid(104), Body: ' Stop ', OptOutType: 'STOP' })
  await world.settle()
  const stopped = await send()
  await say({ MessageSid: sid(105), Body: 'START', OptOutType: 'START' })
  await world.settle()
  const started = await send()

  assert.deepEqual(
    [text.content, text.from, text.to, more],
    [{ text: { body: 'Grüße & 100% ☕' } }, person, identifier, []],
  )
  assert.deepEqual(
    [files.type, files.content.attachments[0].type, files.content.attachments[0].caption],
    ['attachments', 'image', 'The leak'],
  )
  assert.deepEqual([stopped.status, stopped.body.error.code, started.status], [422, 'recipient_blocked', 202])
  assert.equal((await api.get('/v1/events?type=message.received')).body.data.length, 4)
  await world.invariants()
})

test("Twilio's own opt-out keywords count as STOP, and a replayed START does not undo a later STOP", async (t) => {
  const { world, sim, channel, hand, send } = await connected(t)
  const sid = (n: number) => `SM${String(n).padStart(32, '0')}`
  const say = async (n: number, Body: string, OptOutType: string) => {
    await sim.receive(channel.webhook_url, { From: person, To: identifier, MessageSid: sid(n), Body, OptOutType })
    await world.settle()
    return (await send()).status
  }

  const answers = [
    await say(101, 'halt', 'STOP'),
    await say(102, 'START', 'START'),
    await say(103, 'STOP', 'STOP'),
    await say(102, 'START', 'START'),
  ]
  await hand({ to: '+14155550002' })
  await sim.report(sim.messages.at(-1)!, 'failed', { ErrorCode: '21610' })
  await world.settle()
  const other = await send({ to: '+14155550002' })

  assert.deepEqual(answers, [422, 202, 422, 422])
  assert.equal(other.status, 422)
  await world.invariants()
})

test('forged and malformed callbacks change nothing', async (t) => {
  const { world, sim, channel, hand, read, received } = await connected(t)
  const id = await hand()
  const delivered = { AccountSid: account_sid, MessageSid: sim.messages[0]!.sid, MessageStatus: 'delivered' }
  const inbound = {
    AccountSid: account_sid,
    MessageSid: `SM${'9'.repeat(32)}`,
    SmsStatus: 'received',
    From: person,
    To: identifier,
    Body: 'Hi',
  }

  const forged = await sim.post(channel.webhook_url, delivered, 'another token')
  const foreign = await sim.post(channel.webhook_url, {
    ...delivered,
    AccountSid: 'ACffffffffffffffffffffffffffffffff',
  })
  const odd = [
    await sim.post(channel.webhook_url, { nonsense: '1' }),
    await sim.post(channel.webhook_url, { ...inbound, From: '' }),
  ]
  await world.settle()

  assert.deepEqual(
    [forged.status, ((await forged.json()) as { error: { code: string } }).error.code],
    [401, 'hook_token_invalid'],
  )
  assert.deepEqual([foreign.status, ...odd.map(({ status }) => status)], [200, 200, 200])
  assert.deepEqual([(await read(id)).status, await received()], ['sent', []])
  await world.invariants()
})

test('the last of several STOP and START messages applies, even in a burst', async (t) => {
  const { world, sim, channel, send } = await connected(t)
  let reported = 100
  const say = (Body: string, OptOutType: string) =>
    sim.receive(channel.webhook_url, {
      From: person,
      To: identifier,
      MessageSid: `SM${String(++reported).padStart(32, '0')}`,
      Body,
      OptOutType,
    })
  const statuses = []

  for (const words of [
    ['halt', 'START'],
    ['STOP', 'START'],
    ['halt', 'START', 'halt'],
    ['START', 'STOP', 'START'],
  ]) {
    for (const word of words) await say(word, word === 'START' ? 'START' : 'STOP')
    await world.settle()
    statuses.push((await send()).status)
  }

  assert.deepEqual(statuses, [202, 202, 422, 202])
  await world.invariants()
})
