/** Unreadable credentials or events block only their own channel (behaviour: messages 7.5, 7.8; channels 4.2). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Outcome } from '../../src/providers/provider.ts'
import { accepted, scriptedProvider, taken, unavailable, unknown } from '../support/scripted-provider.ts'
import { until } from '../support/waiting.ts'
import { startWorld } from '../support/world.ts'

async function twoChannels(t: TestContext) {
  const scripted = scriptedProvider()
  const { provider } = scripted
  const asked = {
    ...provider,
    adapter: (tools: Parameters<typeof provider.adapter>[0]) => ({
      ...provider.adapter(tools),
      needsSession: () => false,
    }),
  }
  const world = await startWorld(t, { providers: [asked] })
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000_000 })
  const connect = async (identifier: string) =>
    (await api.post('/v1/channels', { type: 'sms', provider: 'scripted', name: 'Sender', identifier, credentials: {} }))
      .body.id as string
  const [bad, good] = [await connect('+4915100000001'), await connect('+4915100000002')]
  const [{ credentials: sealed } = { credentials: '' }] = await world.pool<
    { credentials: string }[]
  >`select credentials from channels where id = ${bad}`
  const write = async (credentials: string) => {
    await world.pool`update channels set credentials = ${credentials} where id = ${bad}`
    await world.clock.advance(6000)
  }
  return {
    world,
    api,
    scripted,
    bad,
    good,
    breakCredentials: () => write('v1.lost.lost'),
    mend: () => write(sealed),
    send: async (channel: string) =>
      (await api.post('/v1/messages', { channel, to: '+4915112345678', type: 'text', text: { body: 'Hi' } })).body
        .id as string,
    read: async (id: string) => (await api.get(`/v1/messages/${id}`)).body,
    sentTo: (id: string) => scripted.sent.filter((message) => message.id === id).length,
    live: async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 1000) {
        await world.clock.advance(1000)
        await world.settle()
      }
    },
  }
}

test('a message that cannot be prepared does not cause others in progress to be sent again', async (t) => {
  const { world, scripted, bad, good, breakCredentials, send, read, sentTo } = await twoChannels(t)
  scripted.answer = () => unknown
  const outcome_unknown = await send(bad)
  await world.settle()
  await breakCredentials()
  await world.clock.advance(30_000)
  const answer = Promise.withResolvers<Outcome>()
  scripted.answer = (message) => (message.channel_id === good ? answer.promise : accepted(message))
  const slow = await send(good)
  const passing = world.tick('dispatch')
  // otherwise the next run could claim the message and wait for its answer
  await until('the slow message to be with its provider', () => sentTo(slow) === 1)
  for (let second = 0; second < 5; second++) {
    await world.clock.advance(1000)
    await world.tick('dispatch')
  }
  answer.resolve({ kind: 'accepted', provider_ids: ['one'] })
  await passing
  await world.settle()

  assert.deepEqual([sentTo(slow), sentTo(outcome_unknown)], [1, 1])
  assert.equal((await read(slow)).status, 'sent')
})

test('a message with an invalid outcome is queried when its claim ends, and others are completed', async (t) => {
  const { world, scripted, bad, good, send, read, live } = await twoChannels(t)
  scripted.answer = (message) => (message.channel_id === bad ? (null as unknown as Outcome) : accepted(message))
  scripted.queryStatus = ({ id, attempt }) => taken(id, attempt)
  const [odd, fine] = [await send(bad), await send(good)]
  await world.settle()
  await live(90_000)

  assert.deepEqual([scripted.sent.length, scripted.statusQueries.length], [2, 1])
  assert.deepEqual([(await read(odd)).status, (await read(fine)).status], ['sent', 'sent'])
})

test('messages of a channel with unreadable credentials wait uncounted, and are sent when they can be decrypted', async (t) => {
  const { api, bad, good, breakCredentials, mend, send, read, sentTo, live } = await twoChannels(t)
  await breakCredentials()
  const waiting = await Promise.all(Array.from({ length: 10 }, () => send(bad)))
  const other = await send(good)
  await live(40_000)
  const meanwhile = await read(other)
  const channel = (await api.get(`/v1/channels/${bad}`)).body
  await mend()
  await live(40_000)

  assert.deepEqual([meanwhile.status, channel.connection_status], ['sent', 'connected'])
  for (const id of waiting) {
    assert.deepEqual([sentTo(id), (await read(id)).status], [1, 'sent'])
    assert.equal((await api.get(`/v1/messages/${id}/attempts`)).body.data.length, 1)
  }
})

test('lost connections of other channels are retried beside a channel with unreadable credentials', async (t) => {
  const { world, scripted, bad, good, breakCredentials, send, live, api } = await twoChannels(t)
  const link = async (id: string) => (await api.get(`/v1/channels/${id}`)).body.connection_status
  scripted.answer = () => unavailable
  scripted.connect = () => ({ kind: 'unavailable', message: 'It is away.' })
  for (let n = 0; n < 10; n++) for (const id of [bad, good]) await send(id)
  await live(20_000)
  await breakCredentials()
  await live(30_000)
  const lost = await link(good)
  await world.pool`update channels set connection_status = 'disconnected' where id = ${bad}`
  scripted.connect = () => ({ kind: 'connected' })
  await live(90_000)

  assert.deepEqual([lost, await link(good), await link(bad)], ['disconnected', 'connected', 'disconnected'])
})
