/** Messages of a channel that is disabled, disconnected or deleted before the send attempt (behaviour: messages 7.6; channels 4). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startProcess } from '../support/process.ts'
import { until } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'

const priceMicros = 7500

async function liveWorld(t: TestContext) {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const creation = { type: 'sms', provider: 'simulator', name: 'Alerts', identifier: '+4915100000001', credentials: {} }
  const channel = (await api.post('/v1/channels', creation)).body.id as string
  return {
    world,
    api,
    channel,
    send: (more: object = {}) =>
      api.post('/v1/messages', { channel, to: '+4915112345678', type: 'text', text: { body: 'Hi' }, ...more }),
    change: (change: object) => api.patch(`/v1/channels/${channel}`, change),
    read: async (id: string) => (await api.get(`/v1/messages/${id}`)).body,
    spent: async () => 1_000_000 - ((await api.get('/v1/balance')).body.wallet_micros as number),
    linkEvents: async () =>
      (await api.get('/v1/events?type=channel.*&order=asc')).body.data.map((event: { type: string }) => event.type),
  }
}

const wait = async (world: World, ms: number) => {
  await world.clock.advance(ms)
  await world.settle()
}

test('messages wait while their channel is disabled, and are sent when it is active again', async (t) => {
  const { world, api, send, change, read } = await liveWorld(t)
  const inOneMinute = (await send({ send_at: new Date(world.clock.now() + 60_000).toISOString() })).body.id
  const atOnce = (await send()).body.id

  await change({ status: 'disabled' })
  await world.settle()
  await wait(world, 120_000)
  const [waiting, planned] = [await read(atOnce), await read(inOneMinute)]
  const attempts = await api.get(`/v1/messages/${inOneMinute}/attempts`)
  await world.invariants()
  await change({ status: 'active' })
  await world.settle()

  assert.deepEqual([waiting.status, planned.status, attempts.body.data], ['queued', 'queued', []])
  assert.deepEqual([(await read(atOnce)).status, (await read(inOneMinute)).status], ['delivered', 'delivered'])
  await world.invariants()
})

test('a message that waits on a disabled channel can be cancelled, and expires on time', async (t) => {
  const { world, api, send, change, read, spent } = await liveWorld(t)
  const soon = new Date(world.clock.now() + 5000).toISOString()
  const cancelled = (await send({ send_at: soon })).body.id
  const short = (await send({ send_at: soon, expires_in_seconds: 60 })).body.id
  const day = (await send({ send_at: soon })).body.id
  await change({ status: 'disabled' })

  await wait(world, 10_000)
  const answer = await api.post(`/v1/messages/${cancelled}/cancel`)
  await wait(world, 50_000)
  const before = await read(short)
  await wait(world, 6000)
  const after = await read(short)
  const stillWaiting = await read(day)
  await wait(world, 24 * 3600_000)

  assert.equal(answer.status, 200)
  assert.deepEqual(
    [before.status, after.status, after.error.code, after.billing.refunded],
    ['queued', 'failed', 'expired', true],
  )
  assert.deepEqual([stillWaiting.status, (await read(day)).error.code], ['queued', 'expired'])
  assert.equal(await spent(), 0)
  await world.invariants()
})

test('a clock that jumps ahead expires messages accepted after the jump on a disabled channel, but none from before (behaviour: operating 3.5)', async (t) => {
  const { world, send, change, read, spent } = await liveWorld(t)
  const day = (await send()).body.id
  const short = (await send({ expires_in_seconds: 60 })).body.id
  await change({ status: 'disabled' })
  await wait(world, 10_000)

  world.clock.jump(3 * 24 * 3600_000)
  await change({ status: 'active' })
  const after = (await send({ expires_in_seconds: 20 })).body.id
  await change({ status: 'disabled' })
  await wait(world, 10_000)
  const jumped = [await read(day), await read(short), await read(after)].map(({ status }) => status)
  await wait(world, 11_000)
  const own = [await read(day), await read(short), await read(after)].map(({ status }) => status)
  await wait(world, 30_000)
  const aged = [(await read(day)).status, (await read(short)).error.code, await spent()]
  world.clock.jump(-3 * 24 * 3600_000)
  await change({ status: 'active' })
  await wait(world, 60_000)

  assert.deepEqual(jumped, ['queued', 'queued', 'queued'])
  assert.deepEqual(own, ['queued', 'queued', 'failed'])
  assert.deepEqual(aged, ['queued', 'expired', priceMicros])
  assert.equal((await read(day)).status, 'delivered')
  await world.invariants()
})

test('a refusal for a lost connection fails only its own message; later ones wait until the channel recovers', async (t) => {
  const { world, api, channel, send, change, read, spent, linkEvents } = await liveWorld(t)
  const planned = (await send({ send_at: new Date(world.clock.now() + 5000).toISOString() })).body.id
  await change({ settings: { offline: true } })

  const first = (await send()).body.id
  await world.settle()
  const lost = await read(first)
  const refused = await send()
  const shown = (await api.get(`/v1/channels/${channel}`)).body
  await wait(world, 10_000)
  const behind = await read(planned)
  const reconnected = await api.post(`/v1/channels/${channel}/reconnect`)
  await change({ settings: { offline: false } })
  await wait(world, 60_000)
  await wait(world, 1000)

  assert.deepEqual([lost.status, lost.error.code, lost.billing.refunded], ['failed', 'channel_not_connected', true])
  assert.deepEqual(
    [refused.status, refused.body.error.code, shown.connection_status],
    [422, 'channel_not_connected', 'disconnected'],
  )
  assert.match(refused.body.error.message, /reconnect/)
  assert.deepEqual(
    [behind.status, reconnected.status, reconnected.body.error.code],
    ['queued', 503, 'upstream_unavailable'],
  )
  assert.equal((await api.get(`/v1/channels/${channel}`)).body.connection_status, 'connected')
  assert.equal((await read(planned)).status, 'delivered')
  assert.deepEqual(await linkEvents(), ['channel.connected', 'channel.disconnected', 'channel.connected'])
  assert.equal(await spent(), priceMicros)
  await world.invariants()
})

test('two concurrent reconnects of a lost channel record one event', async (t) => {
  const { world, api, channel, send, change, linkEvents } = await liveWorld(t)
  await change({ settings: { offline: true } })
  await send()
  await world.settle()
  await change({ settings: {} })

  const answers = await Promise.all(Array.from({ length: 5 }, () => api.post(`/v1/channels/${channel}/reconnect`)))

  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.connection_status]),
    Array(5).fill([200, 'connected']),
  )
  assert.deepEqual(await linkEvents(), ['channel.connected', 'channel.disconnected', 'channel.connected'])
})

test('a scheduled message fails and is refunded as soon as its channel is deleted', async (t) => {
  const { world, api, channel, send, read, spent } = await liveWorld(t)
  const ids = []
  for (let day = 1; day <= 30; day += 10)
    ids.push((await send({ send_at: new Date(world.clock.now() + day * 24 * 3600_000).toISOString() })).body.id)

  await api.delete(`/v1/channels/${channel}`)
  await world.settle()

  for (const id of ids) {
    const { status, error, billing } = await read(id)
    assert.deepEqual([status, error.code, billing.refunded], ['failed', 'channel_not_connected', true])
  }
  assert.equal(await spent(), 0)
  await world.invariants()
})

test('a scheduled message fails and is refunded also in a process that does not know that its channel is deleted', async (t) => {
  const { world, api, channel, read, spent } = await liveWorld(t)
  const [owner] = await world.pool<{ account_id: `acc_${string}` }[]>`select account_id from channels`
  const { key } = await world.services.accounts.createKey({ account_id: owner!.account_id, mode: 'live' })
  const deaf = (await startProcess(t, world, 'deaf')).api(key)
  const inThirtyDays = new Date(world.clock.now() + 30 * 24 * 3600_000).toISOString()
  const send = async () =>
    (
      await deaf.post('/v1/messages', {
        channel,
        to: '+4915112345678',
        type: 'text',
        text: { body: 'Hi' },
        send_at: inThirtyDays,
      })
    ).body.id as string
  const before = await send()
  await api.delete(`/v1/channels/${channel}`)
  const late = await send()
  await world.settle()
  const waiting = await read(late)

  await world.periodicJobs()
  await world.settle()

  assert.equal(waiting.status, 'queued')
  for (const id of [before, late]) {
    const { status, error, billing } = await read(id)
    assert.deepEqual([status, error?.code, billing.refunded], ['failed', 'channel_not_connected', true])
  }
  assert.equal(await spent(), 0)
  await world.invariants()
})

test('a refused send explains how to put the channel back into service', async (t) => {
  const { channel, send, change } = await liveWorld(t)
  await change({ status: 'disabled' })

  const { body } = await send()

  assert.equal(body.error.code, 'channel_not_connected')
  assert.ok(body.error.message.includes(`PATCH /v1/channels/${channel}`), body.error.message)
})

test('another process refuses messages to a disabled channel on notification, and otherwise within five seconds', async (t) => {
  const { world, api, channel, change } = await liveWorld(t)
  const [owner] = await world.pool<{ account_id: `acc_${string}` }[]>`select account_id from channels`
  const { key } = await world.services.accounts.createKey({ account_id: owner!.account_id, mode: 'live' })
  const [hearing, deaf] = [await startProcess(t, world, 'hearing'), await startProcess(t, world, 'deaf')]
  await hearing.start()
  const send = async (at: { api: typeof hearing.api }) =>
    (await at.api(key).post('/v1/messages', { channel, to: '+4915112345678', type: 'text', text: { body: 'Hi' } }))
      .status
  // until the change is known, each attempt costs a message
  await world.services.billing.creditWallet(world.pool, owner!.account_id, 1_000_000_000, null)
  const before = [await send(hearing), await send(deaf)]

  await change({ status: 'disabled' })
  await world.app.flush()
  const heard = await until(
    'the other process to hear of the disabled channel',
    () => send(hearing),
    (status) => status !== 202,
  )
  const shown = (await deaf.api(key).get(`/v1/channels/${channel}`)).body.status
  await world.clock.advance(5000)
  const late = await send(deaf)

  assert.equal((await api.get(`/v1/channels/${channel}`)).body.status, 'disabled')
  assert.deepEqual([before, heard, shown, late], [[202, 202], 422, 'disabled', 422])
})
