import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { closing } from '../../../test/support/closing.ts'
import { testDatabase } from '../../../test/support/database.ts'
import { holdOpen } from '../../../test/support/open-transactions.ts'
import { testPool } from '../../../test/support/pool.ts'
import { systemClock } from '../../lib/clock.ts'
import {
  bringForward,
  migrate,
  missingMigrations,
  readSchemaFiles,
  type Migration,
  type SchemaFiles,
} from './migrate.ts'
import { OperatorError } from '../../lib/operator-error.ts'

const clock = systemClock()

test('many processes may migrate an empty database at once, and each file is applied once', async (t) => {
  const pool = await emptyDatabase(t)

  const reports = await Promise.all(Array.from({ length: 5 }, () => migrate(pool, clock)))

  const { migrations, functions } = await readSchemaFiles()
  const names = [...migrations.map(({ name }) => name), ...functions.functions.map(({ file }) => file)]
  assert.deepEqual(
    reports.flatMap(({ applied }) => applied),
    names,
  )
  assert.deepEqual(await missingMigrations(pool), [])
  assert.equal((await pool`select * from installation`).length, 1)
})

test('a migration that fails leaves nothing of itself behind', async (t) => {
  const pool = await emptyDatabase(t)
  const files = only(file(1, 'create table a (x int)'), file(2, 'create table b (x int); select nonsense'))

  await assert.rejects(migrate(pool, clock, files), /0002_it\.sql failed/)

  assert.deepEqual([...(await pool`select tablename from pg_tables where schemaname = 'public'`)], [])
})

test('a released file that changed, and a database newer than the program, are refused', async (t) => {
  const pool = await emptyDatabase(t)
  const [first, second] = [file(1, 'create table a (x int)'), file(2, 'create table b (x int)')]
  await migrate(pool, clock, only(first, second))

  await assert.rejects(migrate(pool, clock, only({ ...first, checksum: 'other' }, second)), OperatorError)
  await assert.rejects(migrate(pool, clock, only(first)), /newer than this program/)
})

test('a database restored onto another cluster, or ahead of it, begins a new feed epoch', async (t) => {
  const pool = await emptyDatabase(t)
  await migrate(pool, clock)

  await pool`update installation set system_identifier = '1'`
  await migrate(pool, clock)
  const [restored] = await pool`select feed_epoch from installation`
  await pool`insert into events (account_id, mode, id, type, object_id, object, created_at, position)
    values ('acc_1', 'test', 'evt_1', 'message.sent', 'msg_1', '{}', '2026-01-31T09:30:00Z', feed_position() + 1000000)`
  await migrate(pool, clock)
  const [ahead] =
    await pool`select feed_epoch, feed_position() > (select max(position) from events) as above from installation`
  await migrate(pool, clock)
  const [same] = await pool`select feed_epoch from installation`

  assert.deepEqual(
    [restored!['feed_epoch'], ahead!['feed_epoch'], ahead!['above'], same!['feed_epoch']],
    [1, 2, true, 2],
  )
})

test('a migration beside which others write events begins no new feed epoch', async (t) => {
  const pool = await emptyDatabase(t)
  await migrate(pool, clock)
  const files = await readSchemaFiles()

  await holdOpen(pool, async (sql) => {
    await sql`select pg_current_xact_id()`
    await pool`insert into events (account_id, mode, id, type, object_id, object, created_at, position)
      values ('acc_1', 'test', 'evt_1', 'message.sent', 'msg_1', '{}', '2026-01-31T09:30:00Z', feed_position())`
    await bringForward(sql, clock, files)
  })

  assert.equal((await pool`select feed_epoch from installation`)[0]!['feed_epoch'], 0)
})

async function emptyDatabase(t: TestContext) {
  const database = await testDatabase({ empty: true })
  closing(t, () => database.drop())
  const pool = testPool(database.url)
  closing(t, () => pool.end({ timeout: 1 }))
  return pool
}

const file = (number: number, text: string): Migration => ({
  number,
  name: `000${number}_it.sql`,
  text,
  checksum: text,
})

const only = (...migrations: Migration[]): SchemaFiles => ({
  migrations,
  functions: { version: '0.1.0', functions: [] },
})
