import assert from 'node:assert/strict'
import test from 'node:test'
import { startPlatform } from '../../../../test/support/world.ts'
import { recordEvents } from '../../../platform/events/outbox.ts'
import { eventBodies } from './event-bodies.ts'

test('old bodies are dropped when newer ones arrive', async (t) => {
  const { pool, platform, clock } = await startPlatform(t)
  const tenant = { account_id: 'acc_1', mode: 'live' } as const
  const bodies = eventBodies(pool, { bodies_max: 40, bytes_max: 64 * 1024 * 1024 })
  const ids: string[] = []
  for (let round = 0; round < 10; round++) {
    const made = Array.from({ length: 10 }, () => ({
      ...tenant,
      id: platform.ids('evt'),
      type: 'message.sent' as const,
      object_id: 'msg_1',
      object: {},
      created_at: clock.iso(),
    }))
    await recordEvents(pool, made)
    ids.push(...made.map(({ id }) => id))
    await bodies.load(made.map(({ id }) => ({ ...tenant, event_id: id })))
  }

  const kept = ids.filter((id) => bodies.get(id) !== undefined)
  assert.equal(kept.length, 50)
  assert.deepEqual(kept, ids.slice(-50))
})

test('bodies are read while there is room for them, however many are wanted, and the rest at its turn', async (t) => {
  const { pool, platform, clock } = await startPlatform(t)
  const tenant = { account_id: 'acc_1', mode: 'live' } as const
  const made = Array.from({ length: 250 }, () => ({
    ...tenant,
    id: platform.ids('evt'),
    type: 'message.sent' as const,
    object_id: 'msg_1',
    object: { text: 'x'.repeat(1000) },
    created_at: clock.iso(),
  }))
  await recordEvents(pool, made)
  const bodies = eventBodies(pool, { bodies_max: 4_000, bytes_max: 150_000 })
  const wanted = [...made.map(({ id }) => id), 'evt_gone'].map((event_id) => ({
    ...tenant,
    event_id,
  }))
  const kept = () => made.filter(({ id }) => bodies.get(id) !== undefined).length

  const gone = await bodies.load(wanted)
  const first = kept()
  const goneLater = await bodies.load(wanted.slice(200))

  assert.deepEqual([gone, first], [[], 200])
  assert.deepEqual(
    goneLater.map(({ event_id }) => event_id),
    ['evt_gone'],
  )
  assert.ok(made.slice(200).every(({ id }) => bodies.get(id) !== undefined))
  assert.ok(kept() < 150, `${kept()} are kept`)
})
