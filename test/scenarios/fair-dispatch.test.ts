/** A slow channel or a hanging provider delays no other channel. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startWorld, type World } from '../support/world.ts'

async function liveWorld(t: TestContext) {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000_000 })
  let connected = 0
  const connect = async (settings: object) =>
    (
      await api.post('/v1/channels', {
        type: 'sms',
        provider: 'simulator',
        name: 'Sender',
        identifier: `+491510000000${connected++}`,
        credentials: {},
        settings,
      })
    ).body.id as string
  const message = (channel: string, more: object = {}) => ({
    channel,
    to: '+4915112345678',
    type: 'text',
    text: { body: 'Hi' },
    ...more,
  })
  return {
    world,
    connect,
    send: async (channel: string, more: object = {}) =>
      (await api.post('/v1/messages', message(channel, more))).body.id as string,
    sendMany: async (channel: string, hundreds: number) => {
      for (let i = 0; i < hundreds; i++)
        await api.post('/v1/messages/batch', { messages: Array.from({ length: 100 }, () => message(channel)) })
    },
    status: async (id: string) => (await api.get(`/v1/messages/${id}`)).body.status as string,
  }
}

const wait = async (world: World, ms: number) => {
  await world.clock.advance(ms)
  await world.settle()
}

test('a slow channel with many messages delays neither scheduled nor retried messages of others, nor its own urgent ones', async (t) => {
  const { world, connect, send, sendMany, status } = await liveWorld(t)
  const [slow, other] = [await connect({ max_messages_per_second: 1 }), await connect({})]
  for (const channel of [slow, other]) await send(channel)
  await world.settle()
  await sendMany(slow, 7)
  const planned = await send(other, { send_at: new Date(world.clock.now() + 2000).toISOString() })
  // throttled twice, for a second in total
  const repeated = await send(other, { to: '+19995550021' })

  await world.settle()
  const urgent = await send(slow, { priority: 'high' })
  await wait(world, 1000)
  await wait(world, 1000)
  await wait(world, 100)

  assert.deepEqual(
    [await status(planned), await status(repeated), await status(urgent)],
    ['delivered', 'delivered', 'delivered'],
  )
})

test('hanging providers leave capacity for the messages of others', async (t) => {
  const { world, connect, send, sendMany, status } = await liveWorld(t)
  const latency_ms = 3000
  const hanging: string[] = []
  for (let i = 0; i < 3; i++) hanging.push(await connect({ max_messages_per_second: 100_000, latency_ms }))
  const other = await connect({ max_messages_per_second: 100_000 })
  await send(other)
  await world.settle()
  for (const channel of hanging) await sendMany(channel, 5)
  const began = world.clock.now()
  for (let i = 0; i < 6; i++) await world.tickWhileTimePasses('dispatch')

  const id = await send(other)
  for (let i = 0; i < 4; i++) await world.tickWhileTimePasses('dispatch')

  assert.equal(await status(id), 'sent')
  assert.ok(world.clock.now() - began < latency_ms, 'the others do not hang any more')
})
