import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passTime, sessionsWorld } from '../../../../test/support/sessions-world.ts'
import { until } from '../../../../test/support/waiting.ts'

test('a session with refused credentials disconnects its channel at once and is retried with backoff', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  world.answer.kind = 'refused'

  await a.tick()
  const told = [...world.statuses]
  await passTime(world, 130_000, a)
  const attempts = world.attempts.length
  world.answer.kind = 'open'
  await passTime(world, 61_000, a)

  assert.deepEqual(told, ['ch_1 disconnected'])
  // after 1, 3, 7, 15, 31, 63, 123 seconds
  assert.equal(attempts, 8)
  assert.deepEqual(world.statuses, ['ch_1 disconnected', 'ch_1 connected'])
})

test('an unreachable provider disconnects the channel after half a minute', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  await a.tick()
  world.answer.kind = 'unavailable'
  world.openSessions()[0]!.end()

  await passTime(world, 29_000, a)
  const soon = [...world.statuses]
  await passTime(world, 2000, a)

  assert.deepEqual(soon, [])
  assert.deepEqual(world.statuses, ['ch_1 disconnected'])
})

test('a session that ends briefly is reopened without an event', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  await a.tick()

  world.openSessions()[0]!.end()
  await passTime(world, 2000, a)

  assert.deepEqual([world.openSessions().length, world.statuses], [1, []])
})

test('a reconnect request retries the session at once', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  world.answer.kind = 'refused'
  await a.tick()
  await passTime(world, 70_000, a)
  const attempts = world.attempts.length

  world.answer.kind = 'open'
  await world.pool`update channels set connection_status = 'connected'`
  await a.tick()
  await until('the session to be open', () => a.find('ch_1') !== undefined)

  assert.equal(world.attempts.length, attempts + 1)
})

test('a changed channel gets a new session, a disabled one none', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  await a.tick()

  await world.change({ settings: { max_messages_per_second: 5 } })
  await a.tick()
  const untouched = world.opened.length
  await world.change({ settings: { window_size: 3 } })
  await a.tick()
  await a.tick()
  const changed = world.openSessions().map(({ settings }) => settings)
  await world.change({ status: 'disabled' })
  await a.tick()
  await a.tick()

  assert.equal(untouched, 1)
  assert.deepEqual(changed, [{ window_size: 3 }])
  assert.equal(world.openSessions().length, 0)
})

test('items received on a session are stored with its channel', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  await a.tick()

  await world
    .openSessions()[0]!
    .store([{ kind: 'delivery_receipt', provider_id: '1', transition: 'deliver' }], Buffer.from('raw'))

  assert.deepEqual(world.stored, ['ch_1 1 raw'])
})
