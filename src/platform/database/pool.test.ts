import assert from 'node:assert/strict'
import { once } from 'node:events'
import { EventEmitter } from 'node:events'
import test from 'node:test'
import { closing } from '../../../test/support/closing.ts'
import { holdOpen } from '../../../test/support/open-transactions.ts'
import { testPool } from '../../../test/support/pool.ts'
import { until, within } from '../../../test/support/waiting.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { isoText, listen, openDerivedPool, openPool, poolUse } from './pool.ts'

test('values are converted to the forms of the API', async (t) => {
  const { pool } = await startPlatform(t)

  const [row] = await pool`
    select 9007199254740991::bigint as big, '2026-01-31 10:30:00.1239+01'::timestamptz as at, array['2026-01-31 09:30Z']::timestamptz[] as times,
      ${'2026-01-31T09:30:00.000Z'}::timestamptz as back, '2026-01-31'::date as day, '{"a": [1]}'::json as tree, null::timestamptz as none`

  assert.deepEqual(
    { ...row },
    {
      big: 9007199254740991,
      at: '2026-01-31T09:30:00.123Z',
      times: ['2026-01-31T09:30:00.000Z'],
      back: '2026-01-31T09:30:00.000Z',
      day: '2026-01-31',
      tree: { a: [1] },
      none: null,
    },
  )
})

test('a time has milliseconds and Z, whatever PostgreSQL omits', () => {
  assert.equal(isoText('2026-01-31 09:30:00+00'), '2026-01-31T09:30:00.000Z')
  assert.equal(isoText('2026-01-31 09:30:00.5+00'), '2026-01-31T09:30:00.500Z')
  assert.equal(isoText('2026-01-31 09:30:00.123456+00'), '2026-01-31T09:30:00.123Z')
  assert.equal(isoText('infinity'), 'infinity')
})

test('a listener reconnects and reports that it may have missed notifications', async (t) => {
  const { pool } = await startPlatform(t)
  const heard = new EventEmitter()
  let missed = 0
  const listening = await listen(
    pool,
    'news',
    (payload) => heard.emit('news', payload),
    () => {
      missed += 1
      heard.emit('missed')
    },
  )
  closing(t, () => listening.stop())

  const first = once(heard, 'news')
  await pool`select pg_notify('news', 'one')`
  const lost = once(heard, 'missed').then(() => once(heard, 'missed'))
  assert.deepEqual(await within('the first notification', first), ['one'])
  await pool`select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%' and datname = current_database()`
  await within('the loss and the way back', lost)
  const second = once(heard, 'news')
  await pool`select pg_notify('news', 'two')`

  assert.deepEqual(await within('the second notification', second), ['two'])
  assert.equal(missed, 2)
})

test('a transaction whose connection dies is rejected, and does not affect the next one', async (t) => {
  const { database_url } = await startPlatform(t)
  const [pool, killer] = [testPool(database_url, { max: 1 }), testPool(database_url, { max: 1 })]
  closing(t, () => Promise.all([pool.end({ timeout: 1 }), killer.end({ timeout: 1 })]))
  await pool`create table kept (word text)`

  for (const during of ['query', 'pause'] as const) {
    const { promise: died, resolve: die } = Promise.withResolvers<void>()
    const late: Promise<unknown>[] = []
    const first = pool.begin(async (tx) => {
      const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
      const killing = killer`select pg_terminate_backend(${row!.pid})`.execute()
      if (during === 'query') await tx`select pg_sleep(10)`.catch(() => undefined)
      await killing
      await within('the next transaction to be under way', died)
      // this transaction is dead, but its code continues
      late.push(tx`insert into kept values ('dead')`.catch((error: Error) => error.message))
      await Promise.all(late)
    })
    await assert.rejects(first, /CONNECTION_CLOSED|terminating connection|ECONNRESET/)
    await holdOpen(pool, async (tx) => {
      await tx`insert into kept values (${during})`
      die()
      await until('the dead transaction to go on', () => late.length > 0)
      await tx`select 1`
    })
    assert.match(String(await late[0]), /CONNECTION_CLOSED|terminating connection|ECONNRESET/)
  }

  assert.deepEqual(
    (await pool<{ word: string }[]>`select word from kept`).map(({ word }) => word),
    ['query', 'pause'],
  )
})

test('a reservation whose connection dies is rejected, and can be released', async (t) => {
  const { database_url } = await startPlatform(t)
  const [pool, killer] = [testPool(database_url, { max: 1 }), testPool(database_url, { max: 1 })]
  closing(t, () => Promise.all([pool.end({ timeout: 1 }), killer.end({ timeout: 1 })]))

  for (let round = 0; round < 3; round++) {
    const held = await pool.reserve()
    const [row] = await held<{ pid: number }[]>`select pg_backend_pid() as pid`
    await Promise.all([
      held`select pg_sleep(10)`.catch(() => undefined),
      killer`select pg_terminate_backend(${row!.pid})`,
    ])
    await assert.rejects(held`select 1`.execute())
    held.release()
    assert.deepEqual([...(await pool`select 1 as one`)], [{ one: 1 }])
  }
})

test('a statement counts as waiting while its connection is opened', async (t) => {
  const { database_url } = await startPlatform(t)
  const pool = testPool(database_url, { max: 1 })
  closing(t, () => pool.end({ timeout: 1 }))

  const asked = pool`select 1`.execute()
  // the driver sends it a moment later
  for (let moments = 0; moments < 3; moments++) await Promise.resolve()
  const during = poolUse(pool)
  await asked

  assert.deepEqual(
    [during, poolUse(pool)],
    [
      { in_use: 0, waiting: 1, max: 1 },
      { in_use: 0, waiting: 0, max: 1 },
    ],
  )
})

test('a separate pool uses neither JIT nor parallel workers, and has its own statement timeout', async (t) => {
  const { pool } = await startPlatform(t)
  const beside = openDerivedPool(pool, { name: 'reads', max: 1, statement_timeout_ms: 15_000 })
  closing(t, () => beside.end({ timeout: 1 }))

  const [row] = await beside`
    select current_setting('jit') as jit, current_setting('max_parallel_workers_per_gather') as workers, current_setting('plan_cache_mode') as plans,
      current_setting('statement_timeout') as timeout, current_setting('application_name') like '% reads' as named`

  assert.deepEqual({ ...row }, { jit: 'off', workers: '0', plans: 'force_custom_plan', timeout: '15s', named: true })
})

test('the connect timeout is five seconds or that of the pool, also for a second pool', async (t) => {
  const { pool, database_url } = await startPlatform(t)
  const pools = [
    openPool(database_url),
    openPool(database_url, { connect_timeout_ms: 20_000 }),
    openDerivedPool(pool, { name: 'beside', max: 1, statement_timeout_ms: 1_000 }),
  ]
  closing(t, () => Promise.all(pools.map((one) => one.end({ timeout: 0 }))))

  assert.deepEqual(
    pools.map(({ options }) => options.connect_timeout),
    [5, 20, 60],
  )
})
