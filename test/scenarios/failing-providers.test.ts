/** Providers that hang, fail or refuse credentials affect only their own channels (behaviour: messages 7.8; channels 4). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Outcome } from '../../src/providers/provider.ts'
import { accepted, unavailable } from '../support/scripted-provider.ts'
import { scriptedWorld } from '../support/scripted-world.ts'

const minute = 60_000
const away = { kind: 'unavailable', message: 'It is away.' } as const
const revoked: Outcome = {
  kind: 'refused',
  code: 'channel_not_connected',
  provider_code: '190',
  message: 'The token was revoked.',
  channel_lost: true,
}

async function liveWorld(t: TestContext) {
  const scripted = await scriptedWorld(t, { credit_micros: 1_000_000_000 })
  const { world, api, channel } = scripted
  return {
    ...scripted,
    link: async () => (await api.get(`/v1/channels/${channel}`)).body.connection_status as string,
    statuses: async () => {
      const rows = await world.pool<
        { status: string; messages: number }[]
      >`select status, count(*)::int as messages from messages group by status`
      return Object.fromEntries(rows.map(({ status, messages }) => [status, messages]))
    },
  }
}

test('a provider that hangs does not delay other channels and has few attempts in flight', async (t) => {
  const { world, provider, channel, connect, send, sendMany, read } = await liveWorld(t)
  const other = await connect()
  const hanging = () => provider.sent.filter((message) => message.channel_id === channel).length
  provider.answer = (message) => (message.channel_id === channel ? 'hang' : accepted(message))
  for (const id of [channel, other]) await send({ channel: id })
  await world.tickWhileTimePasses('dispatch')
  for (let hundreds = 0; hundreds < 5; hundreds++) await sendMany(100)
  const most: number[] = []

  for (let second = 0; second < 60; second++) {
    const id = await send({ channel: other })
    const before = world.clock.now()
    await world.tickWhileTimePasses('dispatch')
    if ((await read(id)).status !== 'sent') await world.tickWhileTimePasses('dispatch')
    assert.equal((await read(id)).status, 'sent', `in second ${second}`)
    assert.ok(world.clock.now() - before < 500, `${world.clock.now() - before} ms in second ${second}`)
    const [inHand] = await world.pool<
      { jobs: number }[]
    >`select count(*)::int as jobs from dispatch_jobs where process_id is not null`
    most.push(inHand!.jobs)
    await world.clock.advance(1000)
  }

  // two seconds of its rate of thirty, three more in memory, and probes
  assert.ok(hanging() <= 80, `${hanging()} were sent`)
  assert.ok(Math.max(...most) <= 60 + 90 + 20, `${Math.max(...most)} were in hand`)
})

test('while a provider fails, messages wait, can be cancelled and expire, and they are sent when it answers', async (t) => {
  const { world, api, provider, send, sendMany, read, live, statuses, linkEvents } = await liveWorld(t)
  provider.answer = () => unavailable
  await send()
  await sendMany(100)
  await live(10_000)
  const tried = provider.sent.length
  await live(20_000)
  const probes = provider.sent.length - tried
  const late = await send({ expires_in_seconds: 60 })
  const unwanted = await send()
  await live(5000)
  const cancelled = (await api.post(`/v1/messages/${unwanted}/cancel`)).status
  await live(minute)
  const waiting = await statuses()
  provider.answer = accepted
  await live(minute)

  assert.ok(tried <= 60, `${tried} attempts before it was noticed`)
  assert.ok(probes <= 5, `${probes} probes in twenty seconds`)
  assert.deepEqual([cancelled, (await read(late)).error.code], [200, 'expired'])
  assert.equal((waiting['queued'] ?? 0) + (waiting['sending'] ?? 0), 101)
  assert.deepEqual(await statuses(), { sent: 101, failed: 2 })
  // the connection could always be tested
  assert.deepEqual(await linkEvents(), ['channel.connected'])
  await world.invariants()
})

test('an unreachable provider disconnects its channel after half a minute, with one event, and the channel recovers', async (t) => {
  const { world, provider, sendMany, live, link, linkEvents, statuses, send, read } = await liveWorld(t)
  provider.answer = () => unavailable
  provider.connect = () => away
  await sendMany(20)
  await live(25_000)
  const early = await link()
  await live(10_000)
  const disconnected = await link()
  const [sent, connects] = [provider.sent.length, provider.connects]
  await live(10 * minute)
  const [idle, tries] = [provider.sent.length - sent, provider.connects - connects]
  provider.answer = accepted
  provider.connect = () => ({ kind: 'connected' })
  await live(2 * minute)
  const id = await send()
  await live(1000)

  assert.deepEqual([early, disconnected, await link()], ['connected', 'disconnected', 'connected'])
  assert.equal(idle, 0)
  assert.ok(tries >= 10 && tries <= 17, `${tries} tries in ten minutes`)
  assert.deepEqual(await statuses(), { sent: 21 })
  assert.equal((await read(id)).status, 'sent')
  assert.deepEqual(await linkEvents(), ['channel.connected', 'channel.disconnected', 'channel.connected'])
  await world.invariants()
})

test('a provider that answers occasionally does not disconnect its channel', async (t) => {
  const { provider, send, live, link, linkEvents } = await liveWorld(t)
  provider.answer = (message) => (provider.sent.length % 8 === 0 ? accepted(message) : unavailable)
  provider.connect = () => away
  for (let n = 0; n < 20; n++) {
    await send()
    await live(5000)
  }

  assert.deepEqual([await link(), await linkEvents()], ['connected', ['channel.connected']])
})

test('refused credentials disconnect at once: the refused message fails with a refund, and the others wait', async (t) => {
  const { world, provider, send, read, live, link, statuses, spent } = await liveWorld(t)
  const behind = await send({ send_at: world.clock.iso(5000) })
  provider.answer = () => revoked
  provider.connect = () => ({ kind: 'refused', message: 'The token was revoked.' })

  const refused = await send()
  await world.settle()
  const [lost, { error, billing }] = [await link(), await read(refused)]
  await live(10 * minute)
  const waiting = (await read(behind)).status
  provider.answer = accepted
  provider.connect = () => ({ kind: 'connected' })
  await live(2 * minute)

  assert.deepEqual(
    [lost, error.code, billing.refunded, waiting],
    ['disconnected', 'channel_not_connected', true, 'queued'],
  )
  assert.deepEqual(
    [await link(), (await read(behind)).status, await statuses(), await spent()],
    ['connected', 'sent', { sent: 1, failed: 1 }, 7500],
  )
  await world.invariants()
})

test('an unstable connection is tested ever more rarely, and costs few messages and events', async (t) => {
  const { world, provider, send, live, linkEvents, statuses } = await liveWorld(t)
  for (let n = 0; n < 60; n++) await send({ send_at: world.clock.iso(1000 + n) })
  provider.answer = () => revoked
  await live(10 * minute)

  const reported = (await linkEvents()).length
  const { failed = 0 } = await statuses()
  assert.ok(reported <= 32, `${reported} events in ten minutes`)
  assert.ok(failed >= 10 && failed <= 25, `${failed} of sixty messages in ten minutes`)
})

test('after a lost connection one message is sent first', async (t) => {
  const { world, provider, send, live, link, statuses } = await liveWorld(t)
  provider.answer = () => unavailable
  provider.connect = () => away
  await send()
  for (let n = 0; n < 20; n++) await send({ send_at: world.clock.iso(40_000 + n) })
  await live(50_000)
  const [lost, few] = [await link(), provider.sent.length]
  provider.connect = () => ({ kind: 'connected' })
  for (let seconds = 0; seconds < 60 && provider.sent.length === few; seconds++) await live(1000)
  const first = provider.sent.length - few
  provider.answer = accepted
  await live(2 * minute)

  assert.equal(lost, 'disconnected')
  assert.ok(few < 10, `${few} attempts reported the loss`)
  assert.deepEqual([first, await statuses()], [1, { sent: 21 }])
})

test('messages of a deleted channel fail at once, even while its provider fails', async (t) => {
  const { world, api, provider, channel, sendMany, live, statuses } = await liveWorld(t)
  provider.answer = () => unavailable
  await sendMany(100)
  await live(8000)

  await api.delete(`/v1/channels/${channel}`)
  await live(5000)

  assert.deepEqual(await statuses(), { failed: 100 })
  await world.invariants()
})
