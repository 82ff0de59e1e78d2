/** Probes of failing providers, and recovery (behaviour: messages 7.8; channels 4.3). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from 'undici'
import { startProcess } from '../support/process.ts'
import { accepted, unavailable, unknown } from '../support/scripted-provider.ts'
import { scriptedWorld } from '../support/scripted-world.ts'
import { until } from '../support/waiting.ts'

const minute = 60_000
const [good, spoiled] = ['+4915112345678', '+4915187654321']

async function liveWorld(t: TestContext) {
  const scripted = await scriptedWorld(t, { credit_micros: 1_000_000_000 })
  const { world, read, live } = scripted
  const statusOf = async (id: string) => (await read(id)).status as string
  return {
    ...scripted,
    statusOf,
    send: (to: string, more: object = {}) => scripted.send({ to, ...more }),
    sendMany: (to: string, count: number, more: object = {}) => scripted.sendMany(count, { to, ...more }),
    async secondsUntilSent(id: string) {
      for (let seconds = 0; seconds < 300; seconds++) {
        await world.settle()
        if ((await statusOf(id)) === 'sent') return seconds
        await live(1000)
      }
      return Infinity
    },
    sent: async () =>
      (await world.pool<{ count: number }[]>`select count(*)::int as count from messages where status = 'sent'`)[0]!
        .count,
  }
}

test('messages that always fail, even urgent ones, delay others of their channel by at most half a minute', async (t) => {
  const { world, provider, send, sendMany, live, secondsUntilSent, sent } = await liveWorld(t)
  provider.answer = (message) => (message.to === spoiled ? unavailable : accepted(message))
  await sendMany(spoiled, 20, { priority: 'high' })
  await live(3 * minute)

  const waited: number[] = []
  for (let round = 1; round <= 3; round++) {
    const id = await send(good)
    await sendMany(good, 20, { priority: 'low' })
    waited.push(await secondsUntilSent(id))
    await live(15_000)
    assert.equal(await sent(), 21 * round)
    await live(minute)
  }

  assert.ok(Math.max(...waited) <= 31, `${waited.join(', ')} seconds`)
  await world.invariants()
})

test('a good message behind many that fail or get no answer is sent within seconds', async (t) => {
  for (const outcome of [unavailable, unknown]) {
    const { provider, send, sendMany, secondsUntilSent } = await liveWorld(t)
    provider.answer = (message) => (message.to === spoiled ? outcome : accepted(message))
    await sendMany(spoiled, 100)
    const behind = await send(good)

    const seconds = await secondsUntilSent(behind)

    assert.ok(seconds <= 10, `${seconds} seconds behind ${outcome.kind}`)
  }
})

test('a probe whose recipient has opted out is replaced by the next message', async (t) => {
  const { api, provider, channel, sendMany, send, live, statusOf } = await liveWorld(t)
  provider.answer = () => unavailable
  await sendMany(spoiled, 30)
  await live(minute)
  provider.answer = accepted
  const blocked: string[] = []
  for (let n = 0; n < 5; n++) {
    blocked.push(await send(`+491511234500${n}`, { priority: 'high' }))
    const { status } = await api.post('/v1/contacts', { phone: `+491511234500${n}`, blocked: true })
    assert.ok(status < 300)
  }

  const tried = provider.sent.length
  await live(31_000)

  assert.deepEqual(
    await Promise.all(blocked.map(statusOf)),
    Array.from({ length: 5 }, () => 'failed'),
  )
  assert.ok(provider.sent.length > tried, `nothing was sent on ${channel}`)
})

/** A provider that failed for two minutes and works again, with the next probe nearly half a minute away. */
async function backAgain(t: TestContext) {
  const living = await liveWorld(t)
  const { provider, sendMany, live, sent } = living
  provider.answer = () => unavailable
  await sendMany(good, 50)
  await live(2 * minute)
  const probes = provider.sent.length
  await until('the next probe', async () => {
    await live(1000)
    return provider.sent.length > probes
  })
  provider.answer = accepted
  await live(3000)
  assert.equal(await sent(), 0)
  return living
}

test('a requested reconnect sends a message at once, and its answer releases the others', async (t) => {
  const { world, api, channel, live, sent } = await backAgain(t)

  const { status } = await api.post(`/v1/channels/${channel}/reconnect`)
  await world.settle()
  const atOnce = await sent()
  await live(minute)

  assert.equal(status, 200)
  assert.ok(atOnce > 1, `${atOnce} were sent at once`)
  assert.equal(await sent(), 50)
})

test('a reconnect that fails changes nothing', async (t) => {
  const { world, api, provider, channel, sent } = await backAgain(t)
  provider.connect = () => ({ kind: 'unavailable', message: 'It is away.' })

  const { status } = await api.post(`/v1/channels/${channel}/reconnect`)
  await world.settle()

  assert.deepEqual([status, await sent()], [503, 0])
})

test('new credentials send a message at once, and its answer releases the others; a new name does not', async (t) => {
  const { world, api, channel, live, sent } = await backAgain(t)

  await api.patch(`/v1/channels/${channel}`, { name: 'Shop' })
  await world.settle()
  const renamed = await sent()
  const { status } = await api.patch(`/v1/channels/${channel}`, { credentials: { token: 'new' } })
  await world.settle()
  const atOnce = await sent()
  await live(minute)

  assert.deepEqual([renamed, status], [0, 200])
  assert.ok(atOnce > 1, `${atOnce} were sent at once`)
  assert.equal(await sent(), 50)
})

test('a reconnect in another process has the same effect, within five seconds without a notification', async (t) => {
  const { world, account_id, channel, live, sent } = await backAgain(t)
  const { key } = await world.services.accounts.createKey({ account_id: account_id as `acc_${string}`, mode: 'live' })
  const other = await startProcess(t, world, 'another')

  const { status } = await other.api(key).post(`/v1/channels/${channel}/reconnect`)
  await live(5000)

  assert.equal(status, 200)
  assert.ok((await sent()) > 1, `${await sent()} were sent`)
})

test('while messages wait for their provider the channel stays connected; metrics and attempts show it', async (t) => {
  const { world, api, provider, channel, sendMany, send, live } = await liveWorld(t)
  const figure = async () => {
    const text = await (await request(`${world.base_url}/metrics`)).body.text()
    return /^posthorn_circuits_open\{channel_type="sms"\} (\d+)$/m.exec(text)?.[1]
  }
  const seen = async (id: string) => {
    const [message, attempts] = [await api.get(`/v1/messages/${id}`), await api.get(`/v1/messages/${id}/attempts`)]
    return [
      message.body.status,
      attempts.body.data.map(({ outcome, provider_message }: Record<string, unknown>) => [outcome, provider_message]),
    ]
  }
  provider.answer = () => unavailable
  const tried = await send(good)
  await world.settle()
  await sendMany(good, 30)
  await live(3000)
  const waiting = await send(good)
  const during = [await figure(), (await api.get(`/v1/channels/${channel}`)).body.connection_status]
  const [status, attempts] = await seen(tried)
  const ofWaiting = await seen(waiting)
  provider.answer = accepted
  await live(30_000)

  assert.deepEqual(
    [during, status, attempts[0], ofWaiting],
    [['1', 'connected'], 'sending', ['unavailable', 'The provider is away.'], ['queued', []]],
  )
  assert.equal(await figure(), '0')
})

test('the metrics omit a circuit breaker that nothing could close, because its messages expired or another process dispatches the channel', async (t) => {
  for (const why of ['expired', 'moved'] as const) {
    const { world, provider, channel, sendMany, live } = await liveWorld(t)
    const figure = async () => {
      const text = await (await request(`${world.base_url}/metrics`)).body.text()
      return /^posthorn_circuits_open\{channel_type="sms"\} (\d+)$/m.exec(text)?.[1]
    }
    provider.answer = () => unavailable
    await sendMany(good, 30, why === 'expired' ? { expires_in_seconds: 60 } : {})
    await live(5000)
    const during = await figure()
    if (why === 'moved') {
      await world.pool`insert into processes (id, roles, started_at, heartbeat_at) values ('another', '{worker}', ${world.clock.iso()}, ${world.clock.iso()})`
      await world.pool`update channel_leases set process_id = 'another', lease_until = ${world.clock.iso(3600_000)} where channel_id = ${channel}`
    }
    await live(100_000)

    assert.deepEqual([during, await figure()], ['1', '0'], why)
    if (why === 'expired') await world.invariants()
  }
})
