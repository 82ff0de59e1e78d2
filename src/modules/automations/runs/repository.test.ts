import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tenant } from '../../../api/caller.ts'
import { cancelRuns, cancelWaiting, insertRuns, listRunsOfEvents, listWaiting, restartDelays } from './repository.ts'
import type { NewRun } from './run.ts'
import { type PlatformWorld, startPlatform } from '../../../../test/support/world.ts'

const tenant = { account_id: 'acc_01kg9p6je0e6z9vsnhtbf6d24v', mode: 'live' } as const satisfies Tenant
const event = (n: number) => `aev_${n}`

const waiting = (world: PlatformWorld, n: number, more: Partial<NewRun> = {}): NewRun => ({
  ...tenant,
  id: `run_${n}`,
  source_id: 'src_1',
  automation_id: 'aut_1',
  automation_event_id: event(n),
  contact_id: null,
  customer_keys: ['email ada@example.com', 'id 17'],
  channel_type: 'sms',
  to: '+4915112345678',
  status: 'scheduled',
  reason: null,
  scheduled_for: world.clock.iso(),
  event_type: 'cart.abandoned',
  created_at: world.clock.iso(),
  ...more,
})

const told = async ({ pool }: PlatformWorld) =>
  [...(await listRunsOfEvents(pool, [1, 2, 3, 4, 5, 6, 7, 8, 9].map(event))).values()]
    .flat()
    .map(({ id, status, reason }) => [id, status, reason].filter(Boolean).join(' '))
    .toSorted()

const customer = { ...tenant, source_id: 'src_1', customer_keys: ['id 17'] }

test('an event cancels waiting runs of the same customer and source, of the automations that it cancels', async (t) => {
  const world = await startPlatform(t)
  await insertRuns(world.pool, [
    waiting(world, 1),
    waiting(world, 2, { customer_keys: ['email ada@example.com'] }),
    waiting(world, 3, { automation_id: 'aut_3' }),
    waiting(world, 4, { automation_id: 'aut_2' }),
    waiting(world, 5, { source_id: 'src_2' }),
    waiting(world, 6, { mode: 'test' }),
    waiting(world, 7, { status: 'skipped', reason: 'no_identifier' }),
    waiting(world, 8, { automation_event_id: event(8) }),
  ])

  await cancelWaiting(world.pool, [{ ...customer, id: event(8), automation_ids: ['aut_1', 'aut_2'] }])

  assert.deepEqual(await told(world), [
    'run_1 cancelled cancel_on',
    'run_2 scheduled',
    'run_3 scheduled',
    'run_4 cancelled cancel_on',
    'run_5 scheduled',
    'run_6 scheduled',
    'run_7 skipped no_identifier',
    'run_8 scheduled',
  ])
})

test('an event of a batch cancels only runs of earlier events', async (t) => {
  const world = await startPlatform(t)
  await insertRuns(world.pool, [waiting(world, 9), waiting(world, 1), waiting(world, 3)])

  await cancelWaiting(
    world.pool,
    [1, 2, 3].map((n) => ({ ...customer, id: event(n), automation_ids: n === 2 ? ['aut_1'] : [] })),
  )

  assert.deepEqual(await told(world), ['run_1 cancelled cancel_on', 'run_3 scheduled', 'run_9 cancelled cancel_on'])
})

test('a new cart event cancels the earlier run of its automation and leaves those of other automations', async (t) => {
  const world = await startPlatform(t)
  await insertRuns(world.pool, [
    waiting(world, 1),
    waiting(world, 2, { automation_id: 'aut_2' }),
    waiting(world, 3),
    waiting(world, 4, { event_type: 'order.paid' }),
    waiting(world, 5),
  ])

  await restartDelays(
    world.pool,
    [3, 5].map((n) => ({ ...customer, id: event(n), automation_ids: ['aut_1'] })),
  )

  assert.deepEqual(await told(world), [
    'run_1 cancelled restarted',
    'run_2 scheduled',
    'run_3 cancelled restarted',
    'run_4 scheduled',
    'run_5 scheduled',
  ])
})

test('waiting runs are cancelled with their automation', async (t) => {
  const world = await startPlatform(t)
  await insertRuns(world.pool, [
    waiting(world, 1),
    waiting(world, 2, { automation_id: 'aut_2' }),
    waiting(world, 3, { mode: 'test' }),
  ])

  const ids = await listWaiting(world.pool, tenant, { source_id: 'src_1', automation_id: 'aut_1' })
  await cancelRuns(world.pool, tenant, ids, 'automation_paused')

  assert.deepEqual(await told(world), ['run_1 cancelled automation_paused', 'run_2 scheduled', 'run_3 scheduled'])
})
