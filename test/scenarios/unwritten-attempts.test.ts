/** Send attempts whose status is not written yet: messages in progress cannot be cancelled, and cancelled messages are not sent. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { liveSms } from '../support/campaigns.ts'
import { startProcess } from '../support/process.ts'
import { until, within } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'

const priceMicros = 7500

async function singleProcess(t: TestContext, settings: object) {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const channel = await api.post('/v1/channels', {
    type: 'sms',
    provider: 'simulator',
    name: 'Alerts',
    identifier: '+4915100000001',
    credentials: {},
    settings,
  })
  const send = async (to = '+4915112345678') =>
    (await api.post('/v1/messages', { channel: channel.body.id, to, type: 'text', text: { body: 'Hi' } })).body
      .id as string
  // the first message makes this process the channel's dispatcher, which then gets messages in memory
  await waitForStatus(world, await send(), 'delivered')
  await world.app.processes.open()
  return { world, api, send, status: async (id: string) => (await api.get(`/v1/messages/${id}`)).body.status as string }
}

async function attemptCount({ app }: World): Promise<number> {
  const { values } = await app.platform.metrics.dispatch_lag_seconds.get()
  return values.filter(({ metricName }) => metricName?.endsWith('_count')).reduce((sum, { value }) => sum + value, 0)
}

/** Starts a run and returns while the provider does not answer. */
async function beginRun(world: World): Promise<{ readonly pass: Promise<number> }> {
  const before = await attemptCount(world)
  const pass = world.tick('dispatch')
  await until(
    'a message to be sent',
    () => attemptCount(world),
    (count) => count > before,
  )
  return { pass }
}

async function waitForStatus(world: World, id: string, end: string): Promise<void> {
  await until(
    `${id} to be ${end}`,
    async () => {
      await world.tickWhileTimePasses('dispatch')
      await world.clock.advance(50)
      await world.settle('callbacks')
      const [row] = await world.pool<{ status: string }[]>`select status from messages where id = ${id}`
      return row!.status
    },
    (status) => status === end,
  )
}

test('a message in progress cannot be cancelled, whatever its status', async (t) => {
  const { world, api, send, status } = await singleProcess(t, { latency_ms: 2000 })
  const id = await send()

  const { pass } = await beginRun(world)
  const before = await status(id)
  const refused = await api.post(`/v1/messages/${id}/cancel`)
  await world.clock.advance(350)
  await pass
  await world.clock.advance(350)
  await world.tickWhileTimePasses('dispatch')
  const again = await api.post(`/v1/messages/${id}/cancel`)
  await waitForStatus(world, id, 'delivered')

  assert.equal(before, 'queued')
  assert.deepEqual([refused.status, refused.body.error.code, again.status], [409, 'message_state_invalid', 409])
  assert.match(refused.body.error.message, /being sent/)
  const history = (await api.get(`/v1/messages/${id}/events`)).body.data as { status: string }[]
  assert.deepEqual(
    history.map((item) => item.status),
    ['delivered', 'sent', 'sending', 'queued'],
  )
  await world.invariants()
})

test('a message with a slow provider becomes `sending`', async (t) => {
  const { world, send, status } = await singleProcess(t, { latency_ms: 2000 })
  const id = await send()

  const { pass } = await beginRun(world)
  await world.clock.advance(350)
  await pass
  await world.tickWhileTimePasses('dispatch')

  assert.equal(await status(id), 'sending')
  await waitForStatus(world, id, 'delivered')
  await world.invariants()
})

test('a message that waits in memory can be cancelled', async (t) => {
  const { world, api, send, status } = await singleProcess(t, { max_messages_per_second: 1 })
  await world.clock.advance(1000)
  await send()
  const id = await send()
  await world.tick('dispatch')
  const before = await attemptCount(world)

  const cancelled = await api.post(`/v1/messages/${id}/cancel`)
  for (let i = 0; i < 70; i++) {
    await world.clock.advance(1000)
    await world.settle()
  }

  assert.equal(cancelled.status, 200)
  assert.equal(await status(id), 'failed')
  assert.equal(await attemptCount(world), before)
  assert.equal((await api.get('/v1/balance')).body.wallet_micros, 1_000_000 - 2 * priceMicros)
  await world.invariants()
})

test('an opt-out cancels messages in memory, but not those in progress', async (t) => {
  const { world, api, send, status } = await singleProcess(t, { latency_ms: 2000, max_messages_per_second: 1 })
  await world.clock.advance(1000)
  const away = await send('+4915112345601')
  const waiting = await send('+4915112345601')
  const contact = (await api.post('/v1/contacts', { phone: '+4915112345601' })).body.id

  const { pass } = await beginRun(world)
  const stopped = await api.patch(`/v1/contacts/${contact}`, { consent: { sms: { status: 'opted_out' } } })
  await world.clock.advance(50)
  await pass
  await waitForStatus(world, away, 'delivered')

  assert.equal(stopped.status, 200, JSON.stringify(stopped.body))
  assert.equal(await status(waiting), 'failed')
  await world.invariants()
})

test('throttled and refused attempts are recorded', async (t) => {
  const { world, api, send, status } = await singleProcess(t, {})
  const throttled = await send('+19995550024')
  const refused = await send('+19995550001')

  await world.settle()

  assert.equal(await status(throttled), 'sending')
  const history = (await api.get(`/v1/messages/${refused}/events`)).body.data as { status: string }[]
  assert.deepEqual(
    history.map((item) => item.status),
    ['failed', 'sending', 'queued'],
  )
  await world.invariants()
})

test('a second process waits until the first one has written its attempts in progress', async (t) => {
  const { world, api, send, status } = await singleProcess(t, { latency_ms: 2000 })
  const other = await startProcess(t, world, 'newcomer')
  const id = await send()
  const { pass } = await beginRun(world)

  let open = false
  const opening = other.app.processes.open().then(() => (open = true))
  const early = [open, await status(id)]
  await until('the newcomer to be let in', async () => {
    await world.tick('heartbeat')
    return open
  })
  await opening

  assert.deepEqual(early, [false, 'queued'])
  assert.equal(await status(id), 'sending')
  assert.deepEqual([world.app.processes.alone(), other.app.processes.alone()], [false, false])
  await world.clock.advance(50)
  await pass
  const next = await send()
  const { pass: last } = await beginRun(world)
  assert.equal(
    (await api.post(`/v1/messages/${next}/cancel`)).body.error.message,
    'The message is sending; only a queued message can be cancelled.',
  )
  await world.clock.advance(50)
  await last
  await waitForStatus(world, id, 'delivered')
  await waitForStatus(world, next, 'delivered')
  await world.invariants()
})

test('a stopping service waits for its attempts in progress and for nothing else', async (t) => {
  const { world, send } = await singleProcess(t, { latency_ms: 2000 })
  const id = await send()
  await beginRun(world)

  let stopped = false
  const stopping = world.app.stop().then(() => (stopped = true))
  await world.clock.advance(1900)
  await world.idleWatch.untilIdle()
  const early = stopped
  await world.clock.advance(100)
  await within('the service to stop once the provider has answered', stopping)

  assert.equal(early, false)
  assert.deepEqual([...(await world.pool`select status from messages where id = ${id}`)], [{ status: 'sent' }])
})

test('messages in progress of a dead process are `sending`, cannot be cancelled, and are sent', async (t) => {
  const { world, api, send, status } = await singleProcess(t, {})
  const mortal = await startProcess(t, world, 'mortal')
  const id = await send()
  await world.pool`update dispatch_jobs set process_id = 'mortal', next_run_at = ${world.clock.iso(60_000)} where message_id = ${id}`
  await mortal.kill()
  await world.clock.advance(11_000)
  await world.tick('heartbeat')

  await world.app.worker('dispatch').tick()
  const cancelled = await api.post(`/v1/messages/${id}/cancel`)
  await world.settle()

  assert.equal(cancelled.status, 409)
  assert.equal(await status(id), 'delivered')
  await world.invariants()
})

test('a restarted service records the attempts of the dead one before it answers requests', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const channel = (
    await api.post('/v1/channels', {
      type: 'sms',
      provider: 'simulator',
      name: 'Alerts',
      identifier: '+4915100000001',
      credentials: {},
    })
  ).body
  const { id } = (
    await api.post('/v1/messages', { channel: channel.id, to: '+4915112345678', type: 'text', text: { body: 'Hi' } })
  ).body
  await world.pool`update dispatch_jobs set process_id = 'dead', next_run_at = ${world.clock.iso(60_000)} where message_id = ${id}`

  await world.app.start()

  assert.notEqual((await api.get(`/v1/messages/${id}`)).body.status, 'queued')
  assert.equal((await api.post(`/v1/messages/${id}/cancel`)).status, 409)
})

test('a lower rate applies from the first message on', async (t) => {
  const { world, api, channel } = await liveSms(t, { settings: { max_messages_per_second: 1000 } })
  const message = (n: number) => ({ channel, to: `+49151100000${n}`, type: 'text', text: { body: 'Hello' } })
  await api.post('/v1/messages', message(10))
  await world.settle()
  await world.clock.advance(5000)

  await api.patch(`/v1/channels/${channel}`, { settings: { max_messages_per_second: 1 } })
  await api.post('/v1/messages/batch', { messages: Array.from({ length: 20 }, (_, n) => message(20 + n)) })
  await world.tick('dispatch')
  await world.tick('dispatch')

  const sent = (await api.get('/v1/messages?limit=100')).body.data.filter(
    ({ status }: { status: string }) => status !== 'queued',
  )
  assert.equal(sent.length, 2, 'the one before, and the first')
})
