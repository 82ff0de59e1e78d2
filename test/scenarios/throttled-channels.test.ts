/** Throttled channels pause, resume more slowly, and delay no others (behaviour: messages 7.11). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from 'undici'
import type { Outcome } from '../../src/providers/provider.ts'
import { startProcess } from '../support/process.ts'
import { accepted, noAnswer, taken, unavailable, unknown } from '../support/scripted-provider.ts'
import { scriptedWorld } from '../support/scripted-world.ts'

const minute = 60_000
const good = '+4915112345678'

const throttled = (more: Partial<Outcome & { kind: 'throttled' }> = {}): Outcome => {
  return { kind: 'throttled', limit_on: 'channel', provider_code: '429', message: 'Too many messages.', ...more }
}

async function liveWorld(t: TestContext) {
  const scripted = await scriptedWorld(t, { credit_micros: 1_000_000_000 })
  const { world, channel } = scripted
  return {
    ...scripted,
    async live(ms: number, step_ms = 1000) {
      for (let passed = 0; passed < ms; passed += step_ms) {
        await world.clock.advance(step_ms)
        await world.settle('dispatch', 'links')
      }
    },
    sent: async (of = channel) =>
      (
        await world.pool<
          { count: number }[]
        >`select count(*)::int as count from messages where status = 'sent' and channel_id = ${of}`
      )[0]!.count,
    figure: async () =>
      /^posthorn_channels_throttled\{channel_type="sms"\} (\d+)$/m.exec(
        await (await request(`${world.base_url}/metrics`)).body.text(),
      )?.[1],
  }
}

test('a channel throttled for half a minute sends single probes, then resumes more slowly, up to its rate', async (t) => {
  const { world, provider, sendMany, live, sent, figure } = await liveWorld(t)
  provider.answer = () => throttled()
  for (let batch = 0; batch < 5; batch++) await sendMany(100)
  await live(31_000)
  const tried = provider.sent.length
  const during = await figure()

  provider.answer = accepted
  await live(1000)
  await live(2000, 100)
  const soon = await sent()
  await live(30_000)
  const before = await sent()
  await live(2000, 100)
  const late = await sent()

  // the concurrent attempts, and probes after 1, 2, 4, 8, 16 seconds
  assert.ok(tried >= 5 && tried <= 15, `${tried} attempts`)
  assert.equal(during, '1')
  assert.ok(soon >= 2 && soon <= 15, `${soon} were sent at first`)
  assert.ok(late - before >= 56, `${late - before} were sent in two seconds later`)
  await live(1000)
  assert.equal(await figure(), '0')
  await world.invariants()
})

test('it resumes at half of its former rate, however many answers in progress were throttled, and however many probes it took', async (t) => {
  const { world, provider, sendMany, live, sent } = await liveWorld(t)
  for (let batch = 0; batch < 3; batch++) await sendMany(100)
  await live(3000, 100)
  const [full, pace] = [
    await sent(),
    async () => (await world.pool<{ pace: number }[]>`select pace from channel_pauses`)[0]!.pace,
  ]
  // each answer asks for a longer wait
  provider.answer = () => throttled({ retry_after_ms: 1000 + provider.sent.length })
  await live(200, 100)
  const [together, paceThen] = [provider.sent.length - full, await pace()]
  await live(3000, 100)
  const [tried, paceLater] = [provider.sent.length - full - together, await pace()]
  provider.answer = accepted
  for (let steps = 0; steps < 100 && (await sent()) === full; steps++) await live(100, 100)
  await live(1000, 100)
  const soon = (await sent()) - full

  assert.ok(full >= 80, `${full} were sent before`)
  assert.ok(paceThen >= 13 && paceThen <= 15, `it goes on at ${paceThen} a second`)
  assert.equal(paceLater, paceThen)
  assert.ok(together >= 3 && tried >= 1, `${together} were throttled together, ${tried} were tried`)
  assert.ok(soon >= paceThen - 2 && soon <= paceThen + 8, `${soon} were sent in the first second`)
  await world.invariants()
})

test('it waits as long as its provider asks, and sends one message until the provider has answered it', async (t) => {
  const { world, provider, sendMany, live } = await liveWorld(t)
  provider.answer = () => throttled({ retry_after_ms: 12_000 })
  await sendMany(60)
  await live(1000)
  const first = provider.sent.length
  await live(10_000)
  const before = provider.sent.length
  provider.answer = () => 'hang'
  await world.clock.advance(2000)
  for (let passes = 0; passes < 3; passes++) await world.tickWhileTimePasses('dispatch')

  assert.ok(first <= 15, `${first} attempts`)
  assert.deepEqual([before - first, provider.sent.length - before], [0, 1])
})

test('another channel of the same provider is not affected', async (t) => {
  const { provider, channel, connect, sendMany, live, sent } = await liveWorld(t)
  const other = await connect()
  provider.answer = (message) => (message.channel_id === channel ? throttled() : accepted(message))
  await sendMany(100)
  await live(2000)
  await sendMany(20, { channel: other })
  await live(1000, 100)

  assert.deepEqual([await sent(other), await sent()], [20, 0])
})

test('a limit on one recipient does not affect other recipients of the channel', async (t) => {
  const { provider, send, sendMany, live, read, sent } = await liveWorld(t)
  const noisy = '+4915187654321'
  for (const limit_on of ['recipient', 'unspecified'] as const) {
    provider.answer = (message) =>
      message.to === noisy ? throttled({ limit_on, retry_after_ms: 30_000 }) : accepted(message)
    const waiting = await send({ to: noisy })
    await live(1000)
    const before = await sent()
    await sendMany(50)
    await live(3000, 200)
    assert.deepEqual([(await sent()) - before, (await read(waiting)).status], [50, 'sending'], limit_on)
  }
})

test('a message of a channel that stays paused expires on time and is refunded', async (t) => {
  const { world, provider, send, live, read } = await liveWorld(t)
  provider.answer = () => throttled({ retry_after_ms: 3600_000 })
  const tried = await send()
  await live(1000)
  const waiting = await send({ expires_in_seconds: 60 })
  await live(62_000)

  const expired = await read(waiting)
  assert.deepEqual([expired.status, expired.error.code, (await read(tried)).status], ['failed', 'expired', 'sending'])
  await world.invariants()
})

test('a process that takes over the channel respects its pause, and resumes more slowly', async (t) => {
  const { world, provider, sendMany, live, sent } = await liveWorld(t)
  const first = await startProcess(t, world, 'first')
  provider.answer = () => throttled({ retry_after_ms: 40_000 })
  await sendMany(100, { send_at: world.clock.iso(1000) })
  await world.clock.advance(1000)
  for (let passes = 0; passes < 3; passes++) await first.tickWhileTimePasses('dispatch')
  const tried = provider.sent.length
  await first.stop()
  provider.answer = accepted

  await live(35_000)
  const during = provider.sent.length - tried
  await live(7000)
  const soon = await sent()
  await live(30_000)

  assert.ok(tried > 0 && tried < 20, `${tried} attempts`)
  assert.equal(during, 0)
  assert.ok(soon > 0 && soon < 80, `${soon} were sent within seconds`)
  assert.equal(await sent(), 100)
})

test('a pause that becomes a provider failure is no longer listed', async (t) => {
  const { world, provider, sendMany, live } = await liveWorld(t)
  const listed = async () => (await world.pool`select 1 from channel_pauses`).length
  provider.answer = () => throttled()
  await sendMany(20)
  await live(500, 500)
  const before = await listed()
  provider.answer = () => unavailable
  await live(2000)

  assert.deepEqual([before, await listed()], [1, 0])
})

test('a clock set back by an hour extends neither the pause of a throttled channel nor of a failing provider', async (t) => {
  const { world, provider, send, live, read } = await liveWorld(t)
  for (const answer of [throttled({ retry_after_ms: 30_000 }), unavailable]) {
    provider.answer = () => answer
    for (let n = 0; n < 12; n++) await send()
    await live(3000)
    world.clock.jump(-60 * minute)
    provider.answer = accepted
    const waiting = await send()
    await live(10_000)

    assert.equal((await read(waiting)).status, 'sent', answer.kind)
  }
})

test('unanswered status queries do not count against the channel: its messages are sent', async (t) => {
  const { provider, send, sendMany, live, sent, read } = await liveWorld(t)
  const lost = '+4915187654321'
  provider.answer = (message) => (message.to === lost ? unknown : accepted(message))
  provider.queryStatus = () => noAnswer
  for (let n = 0; n < 12; n++) {
    await send({ to: lost })
    await send()
    await live(200, 200)
  }
  await live(31_000)
  const asked = provider.statusQueries.length
  await sendMany(20)
  await live(2000, 200)
  const went = await sent()
  provider.queryStatus = ({ id }) => taken(id)
  await live(31_000)

  assert.ok(asked >= 12, `${asked} questions`)
  assert.deepEqual([went, await sent()], [32, 44])
  assert.equal((await read(provider.statusQueries[0]!.id)).status, 'sent')
})

test('answered status queries do not count for the channel: one with hanging send attempts stays paused', async (t) => {
  const { provider, sendMany, live, figure } = await liveWorld(t)
  provider.answer = () => unknown
  provider.queryStatus = ({ id }) => taken(id)
  await sendMany(40)
  await live(2000)
  const before = provider.sent.length
  await live(40_000)

  assert.equal(await figure(), '0')
  // the queried message was not sent again, and the others were probes
  assert.ok(provider.sent.length - before <= 8, `${provider.sent.length - before} attempts`)
})

test('a provider that throttles status queries pauses the channel, and is queried again', async (t) => {
  const { provider, send, sendMany, live, read, figure } = await liveWorld(t)
  provider.answer = (message) => (message.to === good ? accepted(message) : unknown)
  provider.queryStatus = () => ({ kind: 'throttled', retry_after_ms: 20_000, message: 'Too many questions.' })
  const outcome_unknown = await send({ to: '+4915187654321' })
  await live(31_000)
  const asked = provider.statusQueries.length
  const before = provider.sent.length
  await sendMany(20)
  await live(10_000)
  const [during, paused] = [provider.sent.length - before, await figure()]
  provider.queryStatus = ({ id }) => taken(id)
  await live(minute)

  assert.deepEqual([asked, during, paused], [1, 0, '1'])
  assert.deepEqual([(await read(outcome_unknown)).status, provider.sent.length - before], ['sent', 20])
})
