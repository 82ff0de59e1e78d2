/** After a jump of the clock nothing expires, until the clock is corrected or confirmed. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { startProcess } from '../../../test/support/process.ts'
import { startWorld, type World } from '../../../test/support/world.ts'
import { isoTime } from '../../lib/clock.ts'

const day = 24 * 3600_000
const message = {
  channel: 'ch_test_whatsapp',
  to: '+15005550006',
  type: 'text',
  text: { body: 'Your parcel is on its way.' },
}

test('a jump of forty days expires nothing in any process until an operator accepts the clock', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  await world.tick('heartbeat')
  const sent = await account.api.post('/v1/messages', message, { 'idempotency-key': 'order-1' })
  await world.settle()
  const before = await kept(world)

  world.clock.jump(40 * day)
  await world.tick('heartbeat')
  await world.periodicJobs()
  const late = await startProcess(t, world, 'late')
  for (const periodicJob of late.app.periodicJobs) await periodicJob.run()
  const held = await kept(world)
  const again = await account.api.post('/v1/messages', message, { 'idempotency-key': 'order-1' })
  const ahead = await aheadFigure(world)
  await world.platform.retention_clock.accept()
  await late.app.worker('heartbeat').tick()
  for (const periodicJob of late.app.periodicJobs) await periodicJob.run()
  const accepted = await kept(world)

  assert.ok(before.events > 0 && before.keys > 0, JSON.stringify(before))
  assert.deepEqual([held, again.body.id, ahead], [before, sent.body.id, 40 * 86_400])
  assert.deepEqual([accepted, await aheadFigure(world)], [{ events: 0, keys: 0 }, 0])
})

test('a corrected clock is trusted again, and data expires as before', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  await world.tick('heartbeat')
  await account.api.post('/v1/messages', message, { 'idempotency-key': 'order-1' })
  await world.settle()

  for (const jump of [3 * day, -3 * day, -400 * day, 400 * day]) {
    world.clock.jump(jump)
    await world.tick('heartbeat')
    await world.periodicJobs()
  }
  const [held, ahead] = [await kept(world), await aheadFigure(world)]
  await world.clock.advance(31 * day)
  await world.clock.advance(8 * day)
  await world.periodicJobs()

  assert.ok(held.events > 0 && held.keys > 0, JSON.stringify(held))
  assert.deepEqual([ahead, await kept(world)], [0, { events: 0, keys: 0 }])
})

test('a queued message does not expire by a jump; one accepted after it expires in its own time', async (t) => {
  const world = await startWorld(t)
  const { retention_clock } = world.platform
  const accepted_ms = world.clock.now()

  world.clock.jump(2 * day)
  const made_ms = world.clock.now()
  const isPast = (deadline_ms: number, from_ms: number) => retention_clock.isPast(deadline_ms, isoTime(from_ms))
  await world.clock.advance(600_000)

  assert.deepEqual(
    [
      isPast(accepted_ms + 3600_000, accepted_ms),
      isPast(accepted_ms + 300_000, accepted_ms),
      isPast(made_ms + 300_000, made_ms),
    ],
    [false, true, true],
  )
})

async function kept({ pool }: World): Promise<{ events: number; keys: number }> {
  const [row] = await pool<{ events: number; keys: number }[]>`
    select (select count(*)::int from events) as events, (select count(*)::int from idempotency_keys) as keys`
  return row!
}

const aheadFigure = async (world: World): Promise<number> =>
  Number(/^posthorn_clock_ahead_seconds (\d+)/m.exec((await world.api().get('/metrics')).body)?.[1])
