import assert from 'node:assert/strict'
import test from 'node:test'
import { startPlatform } from '../../../../test/support/world.ts'
import { recordEvents } from '../../../platform/events/outbox.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { recentEvents } from '../../../platform/events/recent-events.ts'
import { eventBodies } from './event-bodies.ts'

test('old bodies are evicted for newer ones, even when every event was in memory', async () => {
  const recent = recentEvents()
  recent.take('evt_before', 'message.sent')
  const noDatabase = (() => assert.fail('nothing is read')) as unknown as Db
  const bodies = eventBodies(noDatabase, recent)
  const at = '2026-01-31T09:30:00.000Z'
  const ids = Array.from({ length: 10_000 }, (_, i) => `evt_${i}`)

  for (let i = 0; i < ids.length; i += 500) {
    const some = ids.slice(i, i + 500)
    for (const id of some) recent.add({ id, mode: 'live', type: 'message.sent', created_at: at, object: '{}' })
    await bodies.load(
      some.map((event_id) => ({
        endpoint_id: 'we_1',
        id: `whd_${event_id}`,
        account_id: 'acc_1',
        mode: 'live',
        event_id,
        event_type: 'message.sent',
        attempts: 0,
        scheduled: false,
        next_run_at: at,
      })),
    )
  }

  const kept = ids.filter((id) => bodies.get(id) !== undefined)
  assert.ok(kept.length < 5_000, `${kept.length} bodies are kept`)
  assert.deepEqual(kept, ids.slice(-kept.length))
})

test('old bodies are dropped when newer ones arrive', async (t) => {
  const { pool, platform, clock } = await startPlatform(t)
  const tenant = { account_id: 'acc_1', mode: 'live' } as const
  const bodies = eventBodies(pool, recentEvents(), { bodies_max: 40, bytes_max: 64 * 1024 * 1024 })
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
    await bodies.load(made.map(({ id }) => ({ ...tenant, event_id: id, event_type: 'message.sent' })))
  }

  const kept = ids.filter((id) => bodies.get(id) !== undefined)
  assert.equal(kept.length, 50)
  assert.deepEqual(kept, ids.slice(-50))
})

test('bodies are loaded up to the limit, and the rest later', async (t) => {
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
  const bodies = eventBodies(pool, recentEvents(), { bodies_max: 4_000, bytes_max: 150_000 })
  const wanted = [...made.map(({ id }) => id), 'evt_gone'].map((event_id) => ({
    ...tenant,
    event_id,
    event_type: 'message.sent',
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
