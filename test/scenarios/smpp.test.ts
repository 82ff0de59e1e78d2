/** SMS over SMPP with a simulated SMSC. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startProcess, type WorldProcess } from '../support/process.ts'
import { smsc, type Smsc, type SmscOptions } from '../support/simulators/smsc.ts'
import { until } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'

const identifier = '+4915100000001'
const person = '+4915112345678'
/** A channel is disconnected after this time without a connection. */
const outOfReachMs = 30_000

async function smppWorld(t: TestContext, options: SmscOptions = {}) {
  const sim = await smsc(t, { bindsMax: 1, ...options })
  const world = await startWorld(t, { settings: { webhook_allowed_hosts: [sim.host] } })
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const credentials = { host: '127.0.0.1', port: sim.port, system_id: 'shop', password: 'secret' }
  const connect = (given: object = {}, settings: object = {}) =>
    api.post('/v1/channels', {
      type: 'sms',
      provider: 'smpp',
      name: 'Alerts',
      identifier,
      credentials: { ...credentials, ...given },
      settings: { enquire_link_seconds: 600, ...settings },
    })
  await world.tick('heartbeat')
  return {
    world,
    sim,
    api,
    connect,
    read: async (id: string) => (await api.get(`/v1/messages/${id}`)).body,
    attempts: async (id: string) =>
      (await api.get(`/v1/messages/${id}/attempts`)).body.data
        .map(({ outcome }: { outcome: string }) => outcome)
        .toReversed(),
    received: async () => (await api.get('/v1/messages?direction=inbound')).body.data,
    events: async (type: string) =>
      (await api.get(`/v1/events?type=${type}&order=asc`)).body.data.map((event: { type: string }) => event.type),
  }
}

async function connected(
  t: TestContext,
  { settings = {}, ...options }: SmscOptions & { readonly settings?: object } = {},
) {
  const parts = await smppWorld(t, options)
  const { body: channel, status } = await parts.connect({}, settings)
  assert.equal(status, 201)
  await until('the bind that tried the credentials to end', () => parts.sim.bound() === 0)
  const send = async (given: object = {}) =>
    (
      await parts.api.post('/v1/messages', {
        channel: channel.id,
        to: person,
        type: 'text',
        text: { body: 'Hi' },
        ...given,
      })
    ).body.id as string
  const hand = async (given: object = {}) => {
    const id = await send(given)
    await parts.world.settle()
    return id
  }
  return {
    ...parts,
    channel,
    send,
    hand,
    status: async () => (await parts.api.get(`/v1/channels/${channel.id}`)).body.connection_status,
  }
}

async function pass(world: World, ms: number, ...processes: readonly Pick<WorldProcess, 'app'>[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1000) {
    await world.clock.advance(1000)
    for (const { app } of processes)
      for (const worker of ['heartbeat', 'sessions', 'dispatch', 'callbacks']) await app.worker(worker).tick()
  }
}

/** In milliseconds. Reconnects wait by the test clock, but binding takes real time. */
async function passUntil(
  world: World,
  what: string,
  isIt: () => Promise<boolean>,
  by: Pick<WorldProcess, 'app'> = world,
): Promise<number> {
  const began = world.clock.now()
  await until(what, async () => {
    await pass(world, 1000, by)
    return await isIt()
  })
  return world.clock.now() - began
}

const isTold = async ({ pool }: World): Promise<boolean> =>
  (await pool`select 1 from channel_sessions where is_open`).length === 1

async function reopened({ world, sim }: { readonly world: World; readonly sim: Smsc }): Promise<void> {
  const before = sim.binds.length
  await passUntil(world, 'another session', async () => sim.binds.length > before && (await isTold(world)))
}

test('a channel connects with valid credentials and an allowed host', async (t) => {
  const { sim, connect } = await smppWorld(t)

  const inside = await connect({ host: '10.0.0.1' })
  const wrong = await connect({ password: 'wrong' })
  const malformed = await connect({ password: 'far too long' })
  sim.bindStatus = 0x05
  const busy = await connect()
  sim.bindStatus = 0
  const right = await connect()

  assert.deepEqual(
    [inside, wrong, malformed, busy, right].map(({ status, body }) => [status, body.error?.code, body.error?.param]),
    [
      [400, 'parameter_invalid', 'credentials.host'],
      [422, 'upstream_rejected', undefined],
      [400, 'parameter_invalid', 'credentials.password'],
      [503, 'upstream_unavailable', undefined],
      [201, undefined, undefined],
    ],
  )
  assert.deepEqual(right.body.capabilities, ['text'])
  assert.ok(!JSON.stringify(right.body).includes('secret'))
})

test('a text is sent and delivered, and an undeliverable one fails and is refunded', async (t) => {
  const { world, sim, api, hand, read } = await connected(t)
  const [good, bad] = [await hand(), await hand({ text: { body: 'é€'.repeat(100) } })]
  const [sent, long] = [await read(good), await read(bad)]

  await sim.receipt(sim.submitted[0]!, 'DELIVRD')
  await sim.receipt(sim.submitted[1]!, 'DELIVRD')
  await sim.receipt(sim.submitted[2]!, 'UNDELIV')
  await world.settle()

  assert.deepEqual([sent.status, long.status, long.segments, sim.submitted.length], ['sent', 'sent', 2, 3])
  const [delivered, failed] = [await read(good), await read(bad)]
  assert.equal(delivered.status, 'delivered')
  assert.deepEqual(
    [failed.status, failed.error.code, failed.error.provider_code, failed.billing.refunded],
    ['failed', 'provider_error', 'UNDELIV:000', true],
  )
  assert.equal((await api.get('/v1/balance')).body.wallet_micros, 1_000_000 - delivered.billing.amount_micros)
  await world.invariants()
})

test('a receipt with the id in another notation finds its message, also in another process', async (t) => {
  const { world, sim, hand, read } = await connected(t, { id: (n) => (0xab00 + n).toString(16) })
  const id = await hand()

  await world.stop()
  const next = await startProcess(t, world, 'next')
  await next.tickWhileTimePasses('sessions')
  await until('a bind', () => sim.bound() === 1)
  await sim.receipt(sim.submitted[0]!, 'DELIVRD', String(0xab01))
  for (let look = 0; look < 3; look++) {
    await next.tickWhileTimePasses('callbacks')
    await world.clock.advance(1000)
  }

  const [row] = await world.pool<{ status: string }[]>`select status from messages where id = ${id}`
  assert.equal(row!.status, 'delivered')
  await assert.rejects(read(id))
})

test('inbound texts arrive, in parts too, and STOP opts out', async (t) => {
  const { world, sim, api, received, channel } = await connected(t)
  await world.settle()
  const part = (number: number, text: string) => ({
    esm_class: 0x40,
    bytes: Buffer.concat([Buffer.from([5, 0, 3, 9, 2, number]), Buffer.from(text)]),
  })

  const statuses = [
    await sim.deliver(part(2, 'world')),
    await sim.deliver(part(1, 'Hello ')),
    await sim.deliver({ bytes: Buffer.from('STOP') }),
  ]
  await world.settle()
  const refused = await api.post('/v1/messages', {
    channel: channel.id,
    to: person,
    type: 'text',
    text: { body: 'Hi' },
  })

  assert.deepEqual(statuses, [0, 0, 0])
  assert.deepEqual(
    (await received())
      .map(({ from, content }: { from: string; content: { text: { body: string } } }) => [from, content.text.body])
      .toReversed(),
    [
      [person, 'Hello world'],
      [person, 'STOP'],
    ],
  )
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'recipient_blocked'])
})

test('parts of a text received by different processes are joined', async (t) => {
  const { world, sim, received } = await connected(t)
  const part = (number: number, text: string) => ({
    esm_class: 0x40,
    bytes: Buffer.concat([Buffer.from([5, 0, 3, 9, 2, number]), Buffer.from(text)]),
  })
  const holder = await startProcess(t, world, 'holder')
  await holder.tickWhileTimePasses('sessions')
  await until('a bind', () => sim.bound() === 1)

  const first = await sim.deliver(part(1, 'Hello '))
  await holder.kill()
  sim.cut()
  await pass(world, 12_000, world)
  const second = await sim.deliver(part(2, 'world'))
  await world.settle('callbacks')

  assert.deepEqual([first, second], [0, 0])
  assert.deepEqual(
    (await received()).map(({ content }: { content: { text: { body: string } } }) => content.text.body),
    ['Hello world'],
  )
})

test('messages to another number of the account are acknowledged and ignored', async (t) => {
  const { world, sim, received } = await connected(t)
  await world.settle()

  const statuses = [
    await sim.deliver({ bytes: Buffer.from('to another'), destination: '4915100000002' }),
    await sim.deliver({ bytes: Buffer.from('to us'), destination: '015100000001' }),
  ]
  await world.settle()

  assert.deepEqual(statuses, [0, 0])
  assert.deepEqual(
    (await received()).map(({ content }: { content: { text: { body: string } } }) => content.text.body),
    ['to us'],
  )
})

test('a throttled message is sent later and does not fail', async (t) => {
  const { world, sim, hand, read, attempts } = await connected(t)
  sim.answer = 0x58
  const id = await hand()

  sim.answer = 0
  await pass(world, 3000, world)
  await world.settle()

  assert.deepEqual([(await read(id)).status, await attempts(id)], ['sent', ['throttled', 'accepted']])
})

test('a broken link reconnects silently, and messages in progress are repeated once', async (t) => {
  const { world, sim, send, read, attempts, events } = await connected(t)
  await world.settle()
  sim.answer = () => (setImmediate(sim.cut), null)
  const cut = await send()
  await world.settle()
  const waiting = await send()
  sim.answer = 0
  await pass(world, 33_000, world)
  await world.settle()

  assert.deepEqual([(await read(cut)).status, (await read(waiting)).status], ['sent', 'sent'])
  assert.deepEqual([await attempts(cut), await attempts(waiting)], [['unknown', 'accepted'], ['accepted']])
  assert.deepEqual(await events('channel.*'), ['channel.connected'])
})

test('an unreachable SMSC disconnects the channel after half a minute, and messages wait until it recovers', async (t) => {
  const { world, sim, api, send, read, status, events, channel } = await connected(t)
  await world.settle()
  const planned = await send({ send_at: world.clock.iso(60_000) })
  sim.bindStatus = 0x08
  sim.cut()

  await pass(world, 25_000, world)
  const soon = await status()
  await pass(world, 10_000, world)
  const later = [
    await status(),
    (await api.post('/v1/messages', { channel: channel.id, to: person, type: 'text', text: { body: 'Hi' } })).body.error
      .code,
  ]
  await pass(world, 30_000, world)
  const waiting = (await read(planned)).status
  sim.bindStatus = 0
  await pass(world, 65_000, world)
  await world.settle()

  assert.deepEqual([soon, later, waiting], ['connected', ['disconnected', 'channel_not_connected'], 'queued'])
  assert.deepEqual([await status(), (await read(planned)).status], ['connected', 'sent'])
  assert.deepEqual(await events('channel.*'), ['channel.connected', 'channel.disconnected', 'channel.connected'])
})

test('a refused bind disconnects at once, and a reconnect restores the channel', async (t) => {
  const { world, sim, api, status, channel } = await connected(t)
  await world.settle()
  sim.bindStatus = 0x0e
  sim.cut()
  const took = await passUntil(world, 'the channel to be disconnected', async () => (await status()) === 'disconnected')
  const refused = [await status(), (await api.post(`/v1/channels/${channel.id}/reconnect`)).body.error.code]

  sim.bindStatus = 0
  const asked = await api.post(`/v1/channels/${channel.id}/reconnect`)
  await until('the bind that tried the credentials to end', () => sim.bound() === 0)
  await world.settle('sessions')
  await until('the session to be open', () => sim.bound() === 1)
  await until('the process to say so', async () => {
    await world.settle('sessions')
    return await isTold(world)
  })
  const again = await api.post(`/v1/channels/${channel.id}/reconnect`)

  assert.ok(took < outOfReachMs, `${took} ms`)
  assert.deepEqual(refused, ['disconnected', 'upstream_rejected'])
  assert.deepEqual([asked.status, again.status, sim.bound(), sim.boundMost()], [200, 200, 1, 1])
})

test('a reconnect is tried beside the existing session, and its result changes nothing', async (t) => {
  const { world, sim, api, status, channel, hand, read, events } = await connected(t)
  await world.settle()
  const reconnect = async () => {
    const { status: code, body } = await api.post(`/v1/channels/${channel.id}/reconnect`)
    return body.error?.code ?? `${code} ${body.connection_status}`
  }

  const taken = await reconnect()
  sim.password = 'secret2'
  const wrong = await reconnect()
  sim.password = 'secret'
  sim.bindStatus = 0x08
  const dead = await reconnect()
  const id = await hand()

  assert.deepEqual([taken, wrong, dead], ['200 connected', 'upstream_rejected', 'upstream_unavailable'])
  assert.deepEqual(
    [await status(), sim.bound(), sim.binds.length, (await read(id)).status],
    ['connected', 1, 5, 'sent'],
  )
  assert.deepEqual(await events('channel.*'), ['channel.connected'])
})

test('a password can be changed while the session exists, also if the SMSC allows one bind only', async (t) => {
  const { world, sim, api, status, channel, hand, read } = await connected(t)
  await world.settle()
  sim.bindStatus = 0x05
  const change = (credentials: object) =>
    api.patch(`/v1/channels/${channel.id}`, {
      credentials: { host: '127.0.0.1', port: sim.port, system_id: 'shop', password: 'secret2', ...credentials },
    })

  const another = await change({ system_id: 'warehouse' })
  const changed = await change({})
  sim.bindStatus = 0
  sim.password = 'secret2'
  await pass(world, 3000, world)
  const id = await hand()

  assert.deepEqual([another.body.error.code, changed.status], ['upstream_unavailable', 200])
  assert.deepEqual([await status(), (await read(id)).status], ['connected', 'sent'])
})

test('a reconnect reports an account bound elsewhere as unreachable while no process has its session', async (t) => {
  const { sim, api, channel } = await connected(t)
  sim.bindStatus = 0x05

  const { status, body } = await api.post(`/v1/channels/${channel.id}/reconnect`)

  assert.deepEqual([status, body.error.code], [503, 'upstream_unavailable'])
})

test('a reconnect reports an account bound elsewhere as unreachable as soon as the session is lost', async (t) => {
  const { world, sim, api, channel, status } = await connected(t)
  const holder = await startProcess(t, world, 'holder')
  await until('the holder to have its session', async () => {
    await holder.tickWhileTimePasses('sessions')
    return await isTold(world)
  })
  const reconnect = async () => (await api.post(`/v1/channels/${channel.id}/reconnect`)).status
  const bound = await reconnect()

  sim.bindStatus = 0x05
  sim.cut()
  await until('the connection to end', () => sim.bound() === 0)
  await until('the holder to notice', async () => {
    await holder.tickWhileTimePasses('sessions')
    return (await reconnect()) === 503
  })
  const shown = await status()
  sim.bindStatus = 0
  await passUntil(world, 'the holder to be back', () => isTold(world), holder)
  const again = await reconnect()

  assert.deepEqual([bound, shown, again, sim.bound()], [200, 'connected', 200, 1])
})

test('an SMSC that ends the old session for the bind of a reconnect causes no loss and no duplicate', async (t) => {
  const { world, sim, api, status, channel, send, read, attempts, events } = await connected(t, { endsOldest: true })
  await world.settle()
  sim.answer = null
  const cut = await send()
  const dispatching = world.tick('dispatch')
  await until('the message to be under way', () => sim.submitted.length === 1)

  const asked = await api.post(`/v1/channels/${channel.id}/reconnect`)
  sim.answer = 0
  await dispatching
  await until('the bind that tried the credentials to end', () => sim.bound() === 0)
  const behind = await send()
  await reopened({ world, sim })
  await world.settle()
  const between = [(await read(cut)).status, (await read(behind)).status, sim.submitted.length]
  await pass(world, 40_000, world)
  await world.settle()

  assert.equal(asked.status, 200)
  assert.deepEqual(between, ['sending', 'sent', 2])
  assert.deepEqual(
    [(await read(cut)).status, await attempts(cut), sim.submitted.length],
    ['sent', ['unknown', 'accepted'], 3],
  )
  assert.deepEqual(
    [await status(), sim.bound(), sim.boundMost(), await events('channel.*')],
    ['connected', 1, 1, ['channel.connected']],
  )
})

test('a changed password reopens the session, and waiting messages are sent', async (t) => {
  const { world, sim, api, status, channel, send, read } = await connected(t)
  await world.settle()
  const waiting = await send({ send_at: world.clock.iso(5000) })
  sim.password = 'secret2'
  sim.cut()
  const took = await passUntil(world, 'the channel to be disconnected', async () => (await status()) === 'disconnected')

  const changed = await api.patch(`/v1/channels/${channel.id}`, {
    credentials: { host: '127.0.0.1', port: sim.port, system_id: 'shop', password: 'secret2' },
  })
  await until('the bind that tried the credentials to end', () => sim.bound() === 0)
  await world.settle('sessions')
  await world.clock.advance(5000)
  await world.settle()

  assert.ok(took < outOfReachMs, `${took} ms`)
  assert.deepEqual([changed.status, changed.body.connection_status], [200, 'connected'])
  assert.deepEqual(
    [await status(), sim.bound(), sim.boundMost(), (await read(waiting)).status],
    ['connected', 1, 1, 'sent'],
  )
})

test('a disabled channel is unbound, an enabled one bound again, a deleted one unbound for good', async (t) => {
  const { world, sim, api, channel } = await connected(t)
  await world.settle()
  const bound = [sim.bound()]

  for (const change of [{ status: 'disabled' }, { status: 'active' }, { settings: { enquire_link_seconds: 60 } }]) {
    await api.patch(`/v1/channels/${channel.id}`, change)
    await world.settle()
    await world.settle()
    bound.push(sim.bound())
  }
  await api.delete(`/v1/channels/${channel.id}`)
  await world.settle()
  await until('nothing to be bound', () => sim.bound() === 0)

  assert.deepEqual(bound, [1, 0, 1, 1])
  assert.equal(sim.boundMost(), 1)
})

test('a malformed packet ends the session, not the channel', async (t) => {
  const { world, sim, hand, read } = await connected(t)
  await world.settle()

  sim.write(Buffer.from('000000ff0000000500000000000000010000', 'hex'))
  sim.cut()
  await reopened({ world, sim })
  sim.write(Buffer.from('fffffffff0000000', 'hex'))
  await until('the session to end', () => sim.bound() === 0)
  await reopened({ world, sim })
  const id = await hand()

  assert.equal((await read(id)).status, 'sent')
})

test('one of two processes is bound and sends the messages of both, and the other does not poll in a loop', async (t) => {
  const { world, sim, api, channel, read } = await connected(t, { settings: { max_messages_per_second: 1000 } })
  const other = await startProcess(t, world, 'other')
  await world.tick('heartbeat', 'sessions')
  await other.tickWhileTimePasses('sessions')
  const { key } = await accountKey(world, channel)

  const here = (
    await api.post('/v1/messages', { channel: channel.id, to: person, type: 'text', text: { body: 'here' } })
  ).body.id
  const there = (
    await other
      .api(key)
      .post('/v1/messages', { channel: channel.id, to: person, type: 'text', text: { body: 'there' } })
  ).body.id
  const elsewhere = await other.tickWhileTimePasses('dispatch')
  await world.settle()

  assert.deepEqual([elsewhere, (await read(here)).status, (await read(there)).status], [0, 'sent', 'sent'])
  assert.deepEqual(
    sim.submitted.map(({ bytes }) => bytes.toString()),
    ['here', 'there'],
  )
  assert.equal(sim.boundMost(), 1)
})

test('when the bound process dies, another binds and sends its messages', async (t) => {
  const { world, sim, channel, send, read } = await connected(t)
  const holder = await startProcess(t, world, 'holder')
  await holder.tickWhileTimePasses('sessions')
  await until('a bind', () => sim.bound() === 1)
  const { key } = await accountKey(world, channel)
  const left = (
    await holder
      .api(key)
      .post('/v1/messages', { channel: channel.id, to: person, type: 'text', text: { body: 'left' } })
  ).body.id
  await holder.kill()
  sim.cut()
  const mine = await send()
  await pass(world, 1000, world)
  const before = sim.submitted.length

  await pass(world, 12_000, world)
  await world.settle()

  assert.equal(before, 0)
  assert.deepEqual([(await read(mine)).status, (await read(left)).status], ['sent', 'sent'])
  assert.equal(sim.submitted.length, 2)
  assert.equal(sim.boundMost(), 1)
})

test('a stopping process releases its session at once', async (t) => {
  const { world, sim } = await connected(t)
  const holder = await startProcess(t, world, 'holder')
  await holder.tickWhileTimePasses('sessions')
  await until('a bind', () => sim.bound() === 1)
  await world.tick('sessions')
  const by = sim.binds.length

  await holder.stop()
  const between = sim.bound()
  await world.tick('sessions')

  assert.deepEqual([between, sim.bound(), sim.binds.length - by], [0, 1, 1])
})

test('running processes share a channel, and stopping one loses nothing', async (t) => {
  const { world, sim, channel, read } = await connected(t, { settings: { max_messages_per_second: 1000 } })
  const [one, two] = [await startProcess(t, world, 'one'), await startProcess(t, world, 'two')]
  const { key } = await accountKey(world, channel)
  const go = <T>(work: () => Promise<T>) => world.idleWatch.whileTimePasses(work)
  await go(() => one.start())
  await go(() => two.start())
  await go(() => until('a bind', () => sim.bound() === 1))

  const ids: string[] = []
  const send = async (by: WorldProcess, count: number) => {
    for (let n = 0; n < count; n++)
      ids.push(
        (
          await by.api(key).post('/v1/messages', {
            channel: channel.id,
            to: person,
            type: 'text',
            text: { body: `${by.name} ${n} of ${count}` },
          })
        ).body.id,
      )
  }
  await go(() => Promise.all([send(one, 20), send(two, 20)]))
  await one.stop()
  await go(() => send(two, 5))
  await go(() =>
    until(
      'everything to be sent',
      async () => new Set(sim.submitted.map(({ bytes }) => bytes.toString())).size,
      (count) => count === 45,
    ),
  )
  await go(() =>
    until(
      'every status',
      async () => Promise.all(ids.map(async (id) => (await read(id)).status)),
      (all) => all.every((status) => status === 'sent'),
    ),
  )

  assert.equal(sim.submitted.length, 45)
  assert.equal(sim.boundMost(), 1)
})

async function accountKey(world: World, channel: { id: string }) {
  const [row] = await world.pool<{ account_id: string }[]>`select account_id from channels where id = ${channel.id}`
  return await world.services.accounts.createKey({ account_id: row!.account_id as never, mode: 'live' })
}
