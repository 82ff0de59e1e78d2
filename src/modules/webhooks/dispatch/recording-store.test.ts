/** The functions that stay in the database: what is due, and what success leaves behind. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { lockWaits } from '../../../../test/support/lock-waits.ts'
import { holdOpen } from '../../../../test/support/open-transactions.ts'
import { until } from '../../../../test/support/waiting.ts'
import { startPlatform } from '../../../../test/support/world.ts'
import {
  countRecorded,
  dropHandoffs,
  listLostHandoffs,
  lockHandoffs,
  queueHandoffs,
  removeRecorded,
} from '../fan-out/handoff-store.ts'
import { encodeHandoff } from '../fan-out/handoff.ts'
import { readEvents } from '../feed/store.ts'
import { recordEvents } from '../../../platform/events/outbox.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { listDueEndpoints, readDue } from './queue-store.ts'
import {
  insertResults,
  recordHandedOffSuccesses,
  recordQueuedSuccesses,
  type HandedOffResult,
} from './recording-store.ts'

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
  /** Writes a batch of deliveries of the process `p`, one to each of these endpoints; resolves to them as successes. */
  const handOff = async (batch: number, ...endpoint_ids: string[]): Promise<HandedOffResult[]> => {
    const deliveries = endpoint_ids.map((endpoint_id, i) => {
      const event_id = eventId(batch * 10 + i)
      return {
        id: `whd_${event_id.slice(4, 18)}0000000000${batch}${i}`,
        endpoint_id,
        ...tenant,
        event_id,
        event_type: 'message.sent',
        next_run_at: at,
      }
    })
    const { endpoints, deliveries: lines } = encodeHandoff(deliveries)
    await pool`
      insert into webhook_handoffs (process_id, id, created_at, endpoints, deliveries, size)
      values ('p', ${batch}, ${at}, ${endpoints}, ${lines}, ${deliveries.length})`
    return deliveries.map(({ id, endpoint_id, event_id, event_type }) => ({
      group: { batch, endpoint_id, ...tenant, event_type, created_at: at },
      event_id,
      result: success(endpoint_id, id),
    }))
  }
  const batches = async () =>
    (await pool`select id, dropped from webhook_handoffs order by id`).map((row) => ({ ...row }))
  return { pool, at, platform, queue, success, recorded, failures, handOff, batches }
}

const idsOf = (done: readonly HandedOffResult[]) => done.map(({ result }) => result.id)

test('the endpoints with something due are listed once each, with who holds their lease, behind where the last look ended', async (t) => {
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

test('what is due is read for each endpoint behind the id read last, oldest first, up to its own limit', async (t) => {
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

test('events are read by their own account and mode, with the object as the text that was stored', async (t) => {
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

  const found = await readEvents(pool, [{ ...tenant, id }])

  assert.deepEqual(
    { ...found[0] },
    { id, mode: 'test', type: 'message.sent', created_at: at, object: '{"b":1,"a":"x"}' },
  )
  assert.deepEqual([...(await readEvents(pool, [{ ...tenant, mode: 'live', id }]))], [])
})

test('successes from the queue leave it, are on record, and end the failures in a row of their endpoint', async (t) => {
  const { pool, queue, success, recorded, failures } = await start(t)
  await queue('webhook_queue', 'we_1', 'whd_1', 'whd_2')

  // the second was recorded by someone else, and is no longer in the queue
  await recordQueuedSuccesses(pool, [success('we_1', 'whd_1', 3), success('we_1', 'whd_gone', 3)])

  assert.deepEqual(await recorded(), [
    { endpoint_id: 'we_1', id: 'whd_1', status: 'delivered', attempts: 3, response_status: 204, duration_ms: 7 },
  ])
  assert.equal((await pool`select 1 from webhook_queue`).length, 1)
  assert.deepEqual(await failures(), [0, 3])
})

test('successes of a handoff batch are recorded once; those of a batch that is gone, or of an endpoint dropped from it, are passed over', async (t) => {
  const { pool, recorded, failures, handOff, batches } = await start(t)
  const done = await handOff(1, 'we_1', 'we_2')
  const gone = await handOff(2, 'we_1')
  await pool`delete from webhook_handoffs where id = 2`
  await dropHandoffs(pool, 'we_2')
  const dropped = await lockHandoffs(pool, 'p', [1, 2])

  await recordHandedOffSuccesses(pool, 'p', [...done, ...gone], [1])

  assert.deepEqual([...dropped], [[1, ['we_2']]])
  assert.deepEqual(
    (await recorded()).map(({ id, status, attempts }) => [id, status, attempts]),
    [
      [done[0]!.result.id, 'delivered', 1],
      [done[1]!.result.id, 'failed', 0],
    ],
  )
  assert.deepEqual(await failures(), [0, 0])
  assert.deepEqual(await batches(), [])
  await pool`delete from webhook_deliveries where endpoint_id = 'we_2'`
  await handOff(1, 'we_1', 'we_2')
  await assert.rejects(recordHandedOffSuccesses(pool, 'p', done.slice(0, 1), []), { code: '23505' })
})

for (const way of ['in one statement', 'step by step']) {
  const record = async (sql: Db, { group, event_id, result }: HandedOffResult, ended: number[] = []) => {
    if (way === 'in one statement')
      return await recordHandedOffSuccesses(sql, 'p', [{ group, event_id, result }], ended)
    const dropped = await lockHandoffs(sql, 'p', [group.batch])
    const ours =
      dropped.get(group.batch)?.includes(group.endpoint_id) === false
        ? [{ ...group, event_id, scheduled: true, ...result }]
        : []
    const written = await insertResults(sql, ours)
    await countRecorded(sql, [{ process_id: 'p', id: group.batch, recorded: written.length }])
    await removeRecorded(sql, 'p', ended)
  }

  test(`a batch of which a crash took outcomes is not removed with the last of it, and what they were of is queued again; recorded ${way}`, async (t) => {
    const { pool, at, recorded, handOff } = await start(t)
    const [first, lost, last] = await handOff(1, 'we_1', 'we_1', 'we_1')

    await record(pool, first!)
    // answered, and taken by a crash
    await assert.rejects(
      pool.begin(async (tx) => await record(tx, lost!).then(() => Promise.reject(new Error('a crash')))),
      /a crash/,
    )
    await record(pool, last!, [1])
    const found = await listLostHandoffs(pool, 'p', [], at)
    await pool.begin(async (tx) => await queueHandoffs(tx, found))

    assert.deepEqual([...found], [{ process_id: 'p', id: 1 }])
    assert.deepEqual(
      (await recorded()).map(({ id }) => id),
      idsOf([first!, last!]),
    )
    assert.deepEqual(
      [...(await pool`select id from webhook_queue`)].map(({ id }) => id),
      idsOf([lost!]),
    )
  })

  test(`a batch is removed with the last of it, also where that was dropped with its endpoint, and nothing is left of its count; recorded ${way}`, async (t) => {
    const { pool, recorded, handOff, batches } = await start(t)
    const [first, second, dropped] = await handOff(1, 'we_1', 'we_1', 'we_2')
    const inTransaction = async (done: HandedOffResult, ended: number[] = []) =>
      await pool.begin(async (tx) => await record(tx, done, ended))

    await inTransaction(first!)
    await inTransaction(second!)
    await dropHandoffs(pool, 'we_2')
    const before = await batches()
    await inTransaction(dropped!, [1])

    assert.deepEqual(before, [{ id: 1, dropped: ['we_2'] }])
    assert.deepEqual(
      (await recorded()).map(({ id, status }) => [id, status]),
      idsOf([first!, second!, dropped!]).map((id, i) => [id, i < 2 ? 'delivered' : 'failed']),
    )
    assert.deepEqual(await batches(), [])
    assert.equal((await pool`select 1 from webhook_handoff_counts`).length, 0)
  })
}

test('dropping an endpoint passes over a batch that is written while it waits for another: its process brings that to the queue', async (t) => {
  const { pool, recorded, handOff, batches } = await start(t)
  const [old] = await handOff(1, 'we_1')
  let dropping: Promise<void> | undefined
  await holdOpen(pool, async (tx) => {
    await lockHandoffs(tx, 'p', [1])
    dropping = dropHandoffs(pool, 'we_1')
    await until(
      'the locks',
      () => lockWaits(pool),
      (waiting) => waiting > 0,
    )
    await handOff(2, 'we_1')
  })
  await dropping

  assert.deepEqual(await batches(), [
    { id: 1, dropped: ['we_1'] },
    { id: 2, dropped: [] },
  ])
  assert.deepEqual(
    (await recorded()).map(({ id, status }) => [id, status]),
    [[old!.result.id, 'failed']],
  )
  assert.deepEqual(
    [...(await pool`select id from webhook_failures`)].map(({ id }) => id),
    idsOf([old!]),
  )
})

test('a failure that is recorded once more, its first commit unanswered, is passed over where its retry has come due or been made', async (t) => {
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
  await recordQueuedSuccesses(pool, [success('we_1', 'whd_made', 3)])

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
