/** New credentials of a channel are tested before they are stored; waiting messages continue (behaviour: channels 3.4). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Type } from 'typebox'
import type { Connection } from '../../src/providers/provider.ts'
import { accepted, scriptedProvider } from '../support/scripted-provider.ts'
import { startWorld } from '../support/world.ts'

const sender = '+4915100000001'

async function tokenWorld(t: TestContext) {
  const scripted = scriptedProvider()
  const secret = (title: string) => Type.String({ title, description: 'A secret.', format: 'password' })
  const credentials = Type.Object({
    token: secret('Token'),
    app: Type.Optional(secret('App')),
    verify_token: Type.Optional(secret('Word')),
  })
  const registered: Connection[] = []
  const adapter = (tools: Parameters<typeof scripted.provider.adapter>[0]) => ({
    ...scripted.provider.adapter(tools),
    needsSession: () => false,
    register: async (connection: Connection) => {
      registered.push(connection)
      return { kind: 'connected' as const }
    },
  })
  const world = await startWorld(t, { providers: [{ ...scripted.provider, credentials, adapter }] })
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const tokens = { good: 'first' }
  scripted.connect = ({ credentials: { token } }) =>
    token === tokens.good ? { kind: 'connected' } : { kind: 'refused', message: `No such token: ${String(token)}.` }
  scripted.answer = (message, { credentials: { token } }) =>
    token === tokens.good
      ? accepted(message)
      : {
          kind: 'refused',
          code: 'channel_not_connected',
          provider_code: '190',
          message: 'The token was revoked.',
          channel_lost: true,
        }
  const creation = {
    type: 'sms',
    provider: 'scripted',
    name: 'Sender',
    identifier: sender,
    credentials: { token: 'first', app: 'mine' },
  }
  const { body: channel } = await api.post('/v1/channels', creation)
  const path = `/v1/channels/${channel.id}`
  return {
    world,
    api,
    scripted,
    registered,
    tokens,
    channel,
    change: (body: object) => api.patch(path, body),
    shown: async () => (await api.get(path)).body,
    sealed: async () => (await world.pool`select credentials from channels`)[0]!['credentials'] as string,
    send: async (more: object = {}) =>
      (
        await api.post('/v1/messages', {
          channel: channel.id,
          to: '+4915112345678',
          type: 'text',
          text: { body: 'Hi' },
          ...more,
        })
      ).body.id as string,
    read: async (id: string) => (await api.get(`/v1/messages/${id}`)).body,
    events: async () =>
      (await api.get('/v1/events?type=channel.*&order=asc')).body.data.map(({ type }: { type: string }) => type),
  }
}

test('a new token reconnects a channel whose token was revoked, and waiting messages are sent with it', async (t) => {
  const { world, registered, tokens, channel, change, send, read, events, shown } = await tokenWorld(t)
  const waiting = await send({ send_at: world.clock.iso(5000) })
  tokens.good = 'token-2'
  await send()
  await world.settle()
  const lost = (await shown()).connection_status
  await world.clock.advance(10_000)
  await world.settle()
  const held = (await read(waiting)).status

  const changed = await change({ name: 'Shop', credentials: { token: 'token-2' } })
  await world.settle()

  assert.deepEqual([lost, held, changed.status], ['disconnected', 'queued', 200])
  assert.deepEqual(
    [changed.body.connection_status, changed.body.name, changed.body.identifier],
    ['connected', 'Shop', sender],
  )
  assert.deepEqual(await shown(), changed.body)
  assert.equal((await read(waiting)).status, 'sent')
  assert.deepEqual(await events(), ['channel.connected', 'channel.disconnected', 'channel.connected'])
  // the provider has the verify token already
  assert.deepEqual(registered.at(-1)!.credentials, { token: 'token-2', verify_token: channel.verify_token })
  assert.equal(registered.at(-1)!.webhook_url, channel.webhook_url)
  assert.ok(!JSON.stringify(changed.body).includes('token-2'))
})

test('credentials that are refused, unreachable, invalid or of another sender change nothing', async (t) => {
  const { scripted, registered, change, sealed, shown, events } = await tokenWorld(t)
  const before = [await sealed(), await shown()]

  const refused = await change({ name: 'Shop', credentials: { token: 'stolen' } })
  const malformed = await change({ credentials: { app: 'mine' } })
  scripted.connect = () => ({ kind: 'unavailable', message: 'It is away.' })
  const away = await change({ credentials: { token: 'first' } })
  scripted.connect = () => ({ kind: 'connected', identifier: '+4915100000002' })
  const another = await change({ credentials: { token: 'first' } })

  assert.deepEqual([refused.status, refused.body.error.code], [422, 'upstream_rejected'])
  assert.ok(!refused.body.error.message.includes('stolen'))
  assert.deepEqual([malformed.status, malformed.body.error.param], [400, 'credentials.token'])
  assert.deepEqual([away.status, away.body.error.code], [503, 'upstream_unavailable'])
  assert.deepEqual(
    [another.status, another.body.error.code, another.body.error.param],
    [400, 'parameter_invalid', 'credentials'],
  )
  assert.deepEqual([await sealed(), await shown()], before)
  assert.deepEqual([registered.length, await events()], [1, ['channel.connected']])
})

test('a reconnect with refused credentials disconnects the channel at once, an unreachable provider does not', async (t) => {
  const { api, world, scripted, tokens, channel, shown, events } = await tokenWorld(t)
  const reconnect = async () => {
    const { status, body } = await api.post(`/v1/channels/${channel.id}/reconnect`)
    return [status, body.error?.code, (await shown()).connection_status, body.error?.message]
  }
  const { connect } = scripted
  scripted.connect = () => ({ kind: 'unavailable', message: 'It is away.' })
  const away = await reconnect()
  scripted.connect = connect
  tokens.good = 'token-2'

  const refused = await reconnect()
  const send = await api.post('/v1/messages', {
    channel: channel.id,
    to: '+4915112345678',
    type: 'text',
    text: { body: 'Hi' },
  })
  tokens.good = 'first'
  await world.settle()
  await world.clock.advance(5000)
  await world.settle()

  const refusal =
    'The provider refused the credentials: No such token: [hidden]. Correct them and try again; until then the channel is disconnected.'
  assert.deepEqual(away.slice(0, 3), [503, 'upstream_unavailable', 'connected'])
  assert.deepEqual(refused, [422, 'upstream_rejected', 'disconnected', refusal])
  assert.deepEqual([send.status, send.body.error.code], [422, 'channel_not_connected'])
  assert.equal((await shown()).connection_status, 'connected')
  assert.deepEqual(await events(), ['channel.connected', 'channel.disconnected', 'channel.connected'])
})

test('a reconnect whose credentials now belong to another sender reports this and the fix', async (t) => {
  const { api, scripted, channel, shown } = await tokenWorld(t)
  scripted.connect = () => ({ kind: 'connected', identifier: '+4915100000002' })

  const { status, body } = await api.post(`/v1/channels/${channel.id}/reconnect`)

  assert.deepEqual([status, body.error.code, body.error.param], [422, 'upstream_rejected', undefined])
  assert.match(body.error.message, /now belong to \+4915100000002.*PATCH \/v1\/channels/)
  assert.equal((await shown()).identifier, sender)
})

test('new credentials repair a channel whose credentials cannot be decrypted', async (t) => {
  const { world, change, send, read } = await tokenWorld(t)
  await world.pool`update channels set credentials = 'v1.lost.lost'`
  await world.clock.advance(6000)
  const waiting = await send()
  await world.settle()

  const changed = await change({ credentials: { token: 'first', verify_token: 'my-own' } })
  for (let second = 0; second < 40; second++) {
    await world.clock.advance(1000)
    await world.settle()
  }

  assert.deepEqual([changed.status, (await read(waiting)).status], [200, 'sent'])
})
