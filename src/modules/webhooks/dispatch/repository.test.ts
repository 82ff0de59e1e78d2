/** SQL functions of the delivery queue. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startPlatform } from '../../../../test/support/world.ts'
import { readEvents } from '../feed/repository.ts'
import { recordEvents } from '../../../platform/events/outbox.ts'
import {
  listDueEndpoints,
  readDue,
  insertResults,
  recordSuccesses,
  clearFailures,
  lockFailures,
  releaseLeases,
  renewLeases,
} from './repository.ts'
import { lockWaits } from '../../../../test/support/lock-waits.ts'
import { holdOpen } from '../../../../test/support/open-transactions.ts'
import { testPool } from '../../../../test/support/pool.ts'
import { until } from '../../../../test/support/waiting.ts'
import { closing } from '../../../../test/support/closing.ts'
import type { Pool } from '../../../platform/database/sql.ts'

const tenant = { account_id: 'acc_1', mode: 'test' } as const
const eventId = (n: number) => `evt_${String(n).padStart(26, '0')}`

async function start(t: TestContext) {
  const { pool, clock, platform } = await startPlatform(t)
  const at = clock.iso()
  for (const id of ['we_1', 'we_2']) {
    await pool`
      insert into webhook_endpoints (account_id, mode, id, url, description, events, status, filters, metadata, created_by, secret, created_at)
      values (${tenant.account_id}, 'test', ${id}, 'https://example.com', '', '{*}', 'active', '{}', '{}', '{}', '', ${at})`
    await pool`insert into webhook_leases (endpoint_id, process_id, failures) values (${id}, ${id === 'we_1' ? 'p' : null}, 3)`
  }
  const queue = async (table: string, endpoint_id: string, ...ids: string[]) => {
    for (const id of ids)
      await pool`
        insert into ${pool(table)} (endpoint_id, id, account_id, mode, event_id, event_type, attempts, next_run_at, created_at)
        values (${endpoint_id}, ${id}, ${tenant.account_id}, 'test', ${eventId(1)}, 'message.sent', 2, ${at}, ${at})`
  }
  const success = (endpoint_id: string, id: string, attempts = 1) => ({
    endpoint_id,
    id,
    status: 'delivered' as const,
    attempts,
    response_status: 204,
    duration_ms: 7,
    error: null,
    error_message: null,
    next_attempt_at: null,
  })
  const recorded = async () =>
    (
      await pool`select endpoint_id, id, status, attempts, response_status, duration_ms from webhook_deliveries order by id`
    ).map((row) => ({ ...row }))
  const failures = async () =>
    (await pool`select failures from webhook_leases order by endpoint_id`).map((row) => row['failures'])
  return { pool, at, platform, queue, success, recorded, failures }
}

test('endpoints with due deliveries are listed once each, with their lease owners, after the cursor', async (t) => {
  const { pool, at, queue } = await start(t)
  await queue('webhook_queue', 'we_1', 'whd_1', 'whd_2')
  await queue('webhook_queue', 'we_2', 'whd_3')
  const look = (after: string, limit = 10) => listDueEndpoints(pool, { at, after, limit })

  const before = await look('')
  await queue('webhook_retries', 'we_1', 'whd_4')

  const both = [
    { endpoint_id: 'we_1', process_id: 'p' },
    { endpoint_id: 'we_2', process_id: null },
  ]
  assert.deepEqual(before, { endpoints: both, retries_due: false })
  assert.deepEqual(await look('', 1), { endpoints: both.slice(0, 1), retries_due: true })
  assert.deepEqual(await look('we_1'), { endpoints: both.slice(1), retries_due: true })
  assert.deepEqual(await look('we_2'), { endpoints: [], retries_due: true })
})

test('due deliveries are read per endpoint after the last id, oldest first, up to a limit', async (t) => {
  const { pool, queue } = await start(t)
  await queue('webhook_queue', 'we_1', 'whd_1', 'whd_2', 'whd_3')
  await queue('webhook_queue', 'we_2', 'whd_4', 'whd_5')

  const rows = await readDue(pool, [
    { endpoint_id: 'we_1', after: 'whd_1', limit: 5 },
    { endpoint_id: 'we_2', after: '', limit: 1 },
  ])

  assert.deepEqual(
    rows.map(({ endpoint_id, id, attempts }) => [endpoint_id, id, attempts]),
    [
      ['we_1', 'whd_2', 2],
      ['we_1', 'whd_3', 2],
      ['we_2', 'whd_4', 2],
    ],
  )
})

test('events are read per account and mode, with the stored text of the object', async (t) => {
  const { pool, at, platform } = await start(t)
  const id = platform.ids('evt')
  await recordEvents(pool, [
    {
      ...tenant,
      account_id: 'acc_1',
      id,
      type: 'message.sent',
      object_id: 'msg_1',
      object: { b: 1, a: 'x' },
      created_at: at,
    },
  ])

  const event = { id, mode: 'test', type: 'message.sent', created_at: at, object: '{"b":1,"a":"x"}' }
  for await (const part of readEvents(pool, [{ ...tenant, id }])) assert.deepEqual(part, { events: [event], gone: [] })
  for await (const part of readEvents(pool, [{ ...tenant, mode: 'live', id }]))
    assert.deepEqual(part, { events: [], gone: [id] })
})

test('successes leave the queue, are recorded, and reset the failures of their endpoint', async (t) => {
  const { pool, queue, success, recorded, failures } = await start(t)
  await queue('webhook_queue', 'we_1', 'whd_1', 'whd_2')

  // another process recorded the second one and removed it from the queue
  await recordSuccesses(pool, [success('we_1', 'whd_1', 3), success('we_1', 'whd_gone', 3)])

  assert.deepEqual(await recorded(), [
    { endpoint_id: 'we_1', id: 'whd_1', status: 'delivered', attempts: 3, response_status: 204, duration_ms: 7 },
  ])
  assert.equal((await pool`select 1 from webhook_queue`).length, 1)
  assert.deepEqual(await failures(), [0, 3])
})

test('a failure that is recorded twice is skipped, even if its retry is due or made', async (t) => {
  const { pool, queue, success, recorded } = await start(t)
  const failure = (id: string) => ({
    ...tenant,
    event_id: eventId(1),
    event_type: 'message.sent',
    scheduled: true,
    created_at: '2026-01-01T00:00:00.000Z',
    ...success('we_1', id),
    status: null,
    response_status: 500,
    next_attempt_at: '2026-01-01T00:00:05.000Z',
  })
  await queue('webhook_queue', 'we_1', 'whd_due', 'whd_made')
  await recordSuccesses(pool, [success('we_1', 'whd_made', 3)])

  const written = await insertResults(pool, [failure('whd_due'), failure('whd_made'), failure('whd_new')])

  assert.deepEqual(
    [...written].map(({ id }) => id),
    ['whd_new'],
  )
  assert.deepEqual(
    [...(await pool`select id from webhook_retries`)].map(({ id }) => id),
    ['whd_new'],
  )
  assert.deepEqual(
    (await recorded()).map(({ id }) => id),
    ['whd_made'],
  )
})

const both = ['we_1', 'we_2']
const result = (endpoint_id: string) => ({
  endpoint_id,
  id: `whd_of_${endpoint_id}`,
  status: 'delivered' as const,
  attempts: 1,
  response_status: 200,
  duration_ms: 1,
  error: null,
  error_message: null,
  next_attempt_at: null,
})
const changes: Readonly<Record<string, (pool: Pool, at: string) => Promise<unknown>>> = {
  renewed: (pool, at) => renewLeases(pool, 'p', both, at),
  released: (pool) => releaseLeases(pool, 'p', both),
  cleared: (pool) => clearFailures(pool, both),
  counted: (pool) => lockFailures(pool, both),
  'cleared by successes': (pool) => recordSuccesses(pool, both.map(result)),
}

test('leases are locked in the order of their endpoints', async (t) => {
  const { pool, clock, database_url } = await startPlatform(t)
  const other = testPool(database_url, { max: 2 })
  closing(t, () => other.end({ timeout: 1 }))
  const wrong: string[] = []
  for (const [name, change] of Object.entries(changes)) {
    await pool`truncate webhook_leases`
    for (const id of both.toReversed())
      await pool`insert into webhook_leases (endpoint_id, process_id, failures) values (${id}, 'p', 3)`
    let changing: Promise<unknown> | undefined
    await holdOpen(pool, async (tx) => {
      await tx`select 1 from webhook_leases where endpoint_id = 'we_2' for update`
      changing = change(other, clock.iso())
      await until('the change to wait', () => lockWaits(pool))
      const free = await pool`select 1 from webhook_leases where endpoint_id = 'we_1' for update skip locked`
      if (free.length > 0) wrong.push(name)
    })
    await changing
  }

  assert.deepEqual(wrong, [])
})
