/** SMS through Vonage, with a simulator. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { simulateVonage, type VonageOptions, type VonageSimulator } from '../support/simulators/vonage.ts'
import { startWorld } from '../support/world.ts'

const account = { api_key: 'abcd1234', api_secret: 'S3cretS3cret' }
const channelOf = (credentials: object) => ({
  type: 'sms',
  provider: 'vonage',
  name: 'Alerts',
  identifier: '+4915100000001',
  credentials,
})

async function withVonage(t: TestContext, options: Partial<VonageOptions> = {}) {
  const base_url = 'https://messages.example.com'
  let real = base_url
  const sim = await simulateVonage(t, { ...account, reach: (url) => url.replace(base_url, real), ...options })
  const world = await startWorld(t, { settings: { base_url, provider_urls: { POSTHORN_VONAGE_URL: sim.url } } })
  real = world.base_url
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  return { world, api, sim }
}

const text = (channel: string, body = 'Your parcel is here.', to = '+4915112345678') => ({
  channel,
  to,
  type: 'text',
  text: { body },
})

async function sentMessage(
  { world, api, sim }: Awaited<ReturnType<typeof withVonage>>,
  channel: string,
  body?: string,
) {
  const { body: sent } = await api.post('/v1/messages', text(channel, body))
  await world.settle()
  return {
    id: sent.id as string,
    atVonage: sim.messages.at(-1)!,
    look: async () => (await api.get(`/v1/messages/${sent.id}`)).body,
  }
}

test('a text is sent through Vonage, its receipt marks it delivered, and the reply arrives', async (t) => {
  const parts = await withVonage(t, { signature_secret: 'sign-sign-sign' })
  const { world, api, sim } = parts
  const { status, body: channel } = await api.post(
    '/v1/channels',
    channelOf({ ...account, signature_secret: 'sign-sign-sign' }),
  )
  const { atVonage, look } = await sentMessage(parts, channel.id)

  const before = (await look()).status
  const reported = [
    await sim.report(atVonage, { status: 'accepted' }),
    await sim.report(atVonage, { status: 'delivered' }),
    await sim.report(atVonage, { status: 'delivered' }),
  ]
  const answer = { msisdn: '4915112345678', to: '4915100000001', messageId: '1A01', text: 'Thanks & bye' }
  reported.push(await sim.receive(channel.webhook_url, answer), await sim.receive(channel.webhook_url, answer))
  await world.settle()

  assert.equal(status, 201)
  assert.deepEqual([before, (await look()).status], ['sent', 'delivered'])
  assert.deepEqual(
    reported.map((response) => response.status),
    [200, 200, 200, 200, 200],
  )
  const { data } = (await api.get('/v1/messages?direction=inbound')).body
  assert.deepEqual(
    data.map((message: { from: string; content: unknown }) => [message.from, message.content]),
    [['+4915112345678', { text: { body: 'Thanks & bye' } }]],
  )
  assert.equal((await api.get('/v1/events?type=channel.connected')).body.data.length, 1)
  await world.invariants()
})

test('unsigned callbacks are verified by the token in their address, which is shown once', async (t) => {
  const parts = await withVonage(t, { form: 'GET' })
  const { world, api, sim } = parts
  const { body: channel } = await api.post('/v1/channels', channelOf(account))
  const { atVonage, look } = await sentMessage(parts, channel.id)
  const inbound = { msisdn: '4915112345678', to: '4915100000001', messageId: '1A01', text: 'Hello' }

  const bare = await sim.receive(channel.webhook_url, inbound)
  const twice = await sim.receive(`${channel.webhook_url}?token=wrong&token=${channel.verify_token}`, inbound)
  const known = await sim.receive(`${channel.webhook_url}?token=${channel.verify_token}`, inbound)
  const receipt = await sim.report(atVonage, { status: 'delivered' })
  await world.settle()

  assert.match(channel.verify_token, /^[A-Za-z0-9_-]{32}$/)
  assert.deepEqual([bare.status, twice.status, known.status, receipt.status], [401, 401, 200, 200])
  assert.equal((await look()).status, 'delivered')
  assert.equal((await api.get('/v1/messages?direction=inbound')).body.data.length, 1)
  assert.equal('verify_token' in (await api.get(`/v1/channels/${channel.id}`)).body, false)
})

test('a long text is delivered when each part is, and failed when one is', async (t) => {
  const parts = await withVonage(t)
  const { world, api, sim } = parts
  const { body: channel } = await api.post('/v1/channels', channelOf(account))
  const one = await sentMessage(parts, channel.id, 'x'.repeat(300))
  const other = await sentMessage(parts, channel.id, 'y'.repeat(300))

  await sim.report(one.atVonage, { status: 'delivered' }, 0)
  await world.settle()
  const half = (await one.look()).status
  await sim.report(one.atVonage, { status: 'delivered' }, 1)
  await sim.report(other.atVonage, { status: 'failed', 'err-code': '6' }, 1)
  await world.settle()

  assert.deepEqual([half, (await one.look()).status, (await other.look()).status], ['sent', 'delivered', 'failed'])
  assert.deepEqual((await other.look()).error, {
    code: 'policy_violation',
    message: 'The carrier classified the message as spam.',
    provider_code: 'failed:6',
  })
})

test('a throttled text is repeated after the time that Vonage names, and a refused one fails and is refunded', async (t) => {
  const { world, api, sim } = await withVonage(t)
  const { body: channel } = await api.post('/v1/channels', channelOf(account))
  const throttled = {
    messages: [{ status: '1', 'error-text': 'Throughput Rate Exceeded - please wait [ 2000 ] and retry' }],
  }
  sim.answerNext({ body: throttled })
  sim.refuse('+4915112340007', { status: '7', 'error-text': 'Number barred.' })

  const later = await api.post('/v1/messages', text(channel.id))
  const barred = await api.post('/v1/messages', text(channel.id, 'Hi', '+4915112340007'))
  await world.settle()
  const early = sim.messages.length
  await world.clock.advance(5000)
  await world.settle()
  // the channel is slower after a pause
  await world.clock.advance(1000)
  await world.settle()

  assert.deepEqual([early, sim.messages.length], [0, 1])
  assert.equal((await api.get(`/v1/messages/${later.body.id}`)).body.status, 'sent')
  const failed = (await api.get(`/v1/messages/${barred.body.id}`)).body
  assert.deepEqual(
    [failed.status, failed.error.code, failed.error.provider_code, failed.billing.refunded],
    ['failed', 'recipient_blocked', '7', true],
  )
  await world.invariants()
})

test('wrong credentials do not connect, and revoked credentials disconnect the channel', async (t) => {
  const { world, api, sim } = await withVonage(t)

  const wrong = await api.post('/v1/channels', channelOf({ ...account, api_secret: 'guessed' }))
  const { body: channel } = await api.post('/v1/channels', channelOf(account))
  sim.changeSecret('another')
  const { body: sent } = await api.post('/v1/messages', text(channel.id))
  await world.settle()

  assert.deepEqual([wrong.status, wrong.body.error.code], [422, 'upstream_rejected'])
  assert.ok(!JSON.stringify(wrong.body).includes('guessed'))
  assert.equal((await api.get(`/v1/messages/${sent.id}`)).body.error.code, 'channel_not_connected')
  assert.equal((await api.get(`/v1/channels/${channel.id}`)).body.connection_status, 'disconnected')
})

test('a generated verify token is shown in the answer and its replays, and stored encrypted', async (t) => {
  const { world, api } = await withVonage(t)
  const key = { 'idempotency-key': 'connect-1' }

  const created = await api.post('/v1/channels', channelOf(account), key)
  const replayed = await api.post('/v1/channels', channelOf(account), key)
  const others = [
    await api.get(`/v1/channels/${created.body.id}`),
    await api.post(`/v1/channels/${created.body.id}/reconnect`),
    await api.get('/v1/events'),
  ]
  const stored = await world.pool`select row_to_json(k)::text as key from idempotency_keys k`

  const { verify_token } = created.body
  assert.match(verify_token, /^[\w-]{32}$/)
  assert.deepEqual([replayed.status, replayed.body.verify_token], [201, verify_token])
  assert.equal(JSON.stringify([others.map(({ body }) => body), stored]).includes(verify_token), false)
  assert.equal(stored.length, 1)
})

test('a send attempt whose answer is lost is resolved by its receipt, and not repeated', async (t) => {
  const { world, api, sim } = await withVonage(t)
  const { body: channel } = await api.post('/v1/channels', channelOf(account))
  sim.answerNext('lost')

  const { body: sent } = await api.post('/v1/messages', text(channel.id))
  await world.tick('dispatch')
  await world.settle()
  await tellAndWait(sim, world)

  assert.equal((await api.get(`/v1/messages/${sent.id}`)).body.status, 'delivered')
  assert.equal(sim.messages.length, 1)
})

async function tellAndWait(sim: VonageSimulator, world: Awaited<ReturnType<typeof startWorld>>): Promise<void> {
  await sim.report(sim.messages[0]!, { status: 'delivered' })
  await world.settle()
  await world.clock.advance(60_000)
  await world.settle()
}
