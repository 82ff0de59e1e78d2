/** SMS through Infobip, with a simulator. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { infobipStatuses, simulateInfobip } from '../support/simulators/infobip.ts'
import { startWorld } from '../support/world.ts'

const api_key = '0123456789abcdef-0123'
const base_url = 'https://messages.example.com'

async function withInfobip(t: TestContext) {
  let real = base_url
  const sim = await simulateInfobip(t, { api_key, reach: (url) => url.replace(base_url, real) })
  const world = await startWorld(t, { settings: { base_url, webhook_allowed_hosts: [new URL(sim.url).host] } })
  real = world.base_url
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const channelOf = (more: object = {}) => ({
    type: 'sms',
    provider: 'infobip',
    name: 'Alerts',
    identifier: '+4915100000001',
    credentials: { base_url: sim.url, api_key, ...more },
  })
  const send = async (channel: string, to = '+4915112345678') =>
    (await api.post('/v1/messages', { channel, to, type: 'text', text: { body: 'Your parcel is here.' } })).body as {
      id: string
    }
  const look = async ({ id }: { id: string }) => (await api.get(`/v1/messages/${id}`)).body
  return { world, api, sim, channelOf, send, look }
}

test('a text is sent through Infobip, its report marks it delivered, and the reply arrives', async (t) => {
  const { world, api, sim, channelOf, send, look } = await withInfobip(t)
  const { status, body: channel } = await api.post('/v1/channels', channelOf())
  const sent = await send(channel.id)
  await world.settle()

  const before = (await look(sent)).status
  const inbound = {
    messageId: '8177',
    from: '4915112345678',
    to: '4915100000001',
    text: 'Thanks',
    receivedAt: '2026-01-31T09:31:00.000+0000',
  }
  const forwarded = `${channel.webhook_url}?token=${channel.verify_token}`
  const reported = [
    await sim.report(sim.messages[0]!, infobipStatuses.delivered),
    await sim.report(sim.messages[0]!, infobipStatuses.delivered),
    await sim.receive(forwarded, inbound, { ...inbound, messageId: '8178', text: 'Again' }),
    await sim.receive(forwarded, inbound),
  ]
  const forged = [
    await sim.receive(channel.webhook_url, inbound),
    await sim.receive(`${channel.webhook_url}?token=guessed`, inbound),
  ]
  await world.settle()

  assert.equal(status, 201)
  assert.deepEqual([before, (await look(sent)).status], ['sent', 'delivered'])
  assert.deepEqual(
    [...reported, ...forged].map((response) => response.status),
    [200, 200, 200, 200, 401, 401],
  )
  const { data } = (await api.get('/v1/messages?direction=inbound')).body
  assert.deepEqual(
    data.map((message: { content: { text: { body: string } } }) => message.content.text.body).toSorted(),
    ['Again', 'Thanks'],
  )
  await world.invariants()
})

test("a rejected text fails with Infobip's reason and is refunded, and a throttled one is sent later", async (t) => {
  const { world, api, sim, channelOf, send, look } = await withInfobip(t)
  const { body: channel } = await api.post('/v1/channels', channelOf())
  sim.reject('+4915112340014', 14, 'REJECTED_DESTINATION_BLOCKLISTED')
  sim.answerNext({
    status: 429,
    headers: { 'retry-after': '2' },
    body: { errorCode: 'E429', description: 'Too many requests sent.' },
  })

  const later = await send(channel.id)
  await world.settle()
  const rejected = await send(channel.id, '+4915112340014')
  await world.settle()
  const early = sim.messages.length
  await world.clock.advance(10_000)
  await world.settle()

  assert.deepEqual([early, sim.messages.length, (await look(later)).status], [0, 1, 'sent'])
  const { status, error, billing } = await look(rejected)
  assert.deepEqual(
    [status, error.code, error.provider_code, billing.refunded],
    ['failed', 'recipient_blocked', 'REJECTED_DESTINATION_BLOCKLISTED', true],
  )
  await world.invariants()
})

test('wrong keys and addresses do not connect, and a revoked key disconnects the channel', async (t) => {
  const { world, api, sim, channelOf, send, look } = await withInfobip(t)

  const wrong = await api.post('/v1/channels', channelOf({ api_key: 'a-key-of-no-use' }))
  const inside = await api.post('/v1/channels', channelOf({ base_url: 'https://169.254.169.254' }))
  const { body: channel } = await api.post('/v1/channels', channelOf())
  sim.changeKey('another')
  const sent = await send(channel.id)
  await world.settle()

  assert.deepEqual([wrong.status, wrong.body.error.code], [422, 'upstream_rejected'])
  assert.deepEqual([inside.status, inside.body.error.param], [400, 'credentials.base_url'])
  assert.ok(!JSON.stringify(wrong.body).includes('a-key-of-no-use'))
  assert.equal((await look(sent)).error.code, 'channel_not_connected')
  assert.equal((await api.get(`/v1/channels/${channel.id}`)).body.connection_status, 'disconnected')
})

test('a text whose answer was lost is sent once', async (t) => {
  const { world, api, sim, channelOf, send, look } = await withInfobip(t)
  const { body: channel } = await api.post('/v1/channels', channelOf())
  sim.answerNext('lost')

  const sent = await send(channel.id)
  await world.settle()
  await world.clock.advance(60_000)
  await world.settle()

  assert.equal((await look(sent)).status, 'sent')
  assert.equal(sim.messages.length, 1)
  await sim.report(sim.messages[0]!, infobipStatuses.delivered)
  await world.settle()
  assert.equal((await look(sent)).status, 'delivered')
  await world.invariants()
})
