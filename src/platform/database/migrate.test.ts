import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { closing } from '../../../test/support/closing.ts'
import { testDatabase } from '../../../test/support/database.ts'
import { holdOpen } from '../../../test/support/open-transactions.ts'
import { testPool } from '../../../test/support/pool.ts'
import { systemClock } from '../../lib/clock.ts'
import {
  applyMigrations,
  migrate,
  missingMigrations,
  readSchemaFiles,
  type Migration,
  type SchemaFiles,
} from './migrate.ts'
import type { Pool } from './sql.ts'
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

test('a migration that fails leaves nothing of itself behind, those before it stay, and the next start continues there', async (t) => {
  const pool = await emptyDatabase(t)
  const first = file(1, 'create table a (x int)')
  const tables = async () =>
    [...(await pool<{ name: string }[]>`select tablename as name from pg_tables where schemaname = 'public'`)].map(
      ({ name }) => name,
    )

  await assert.rejects(
    migrate(pool, clock, only(first, file(2, 'create table b (x int); select nonsense'))),
    /0002_it\.sql failed/,
  )
  assert.deepEqual((await tables()).toSorted(), ['a', 'schema_migrations'])
  const again = await migrate(pool, clock, only(first, file(2, 'create table b (x int)')))

  assert.deepEqual(again.applied, ['0002_it.sql'])
  assert.deepEqual((await tables()).toSorted(), ['a', 'b', 'schema_functions', 'schema_migrations'])
})

test('a file without a transaction may build an index concurrently, also when it is repeated and when a backup is restored', async (t) => {
  const [pool, restored] = [await emptyDatabase(t), await emptyDatabase(t)]
  const files = only(
    file(1, 'create table a (x int)'),
    file(
      2,
      '-- why: speed\n-- no transaction\ncreate index concurrently if not exists a_x on a (x);\ncreate index concurrently if not exists a_y on a ((x + 1));\n',
      false,
    ),
  )
  const indexes = async (of: Pool) =>
    [...(await of<{ name: string }[]>`select indexname as name from pg_indexes where tablename = 'a'`)].length

  const reports = await Promise.all([migrate(pool, clock, files), migrate(pool, clock, files)])
  await pool`delete from schema_migrations where number = 2`
  const repeated = await migrate(pool, clock, files)
  await restored.begin((tx) => applyMigrations(tx, clock, files))

  assert.deepEqual(reports.flatMap(({ applied }) => applied).toSorted(), ['0001_it.sql', '0002_it.sql'])
  assert.deepEqual(repeated.applied, ['0002_it.sql'])
  assert.deepEqual([await indexes(pool), await indexes(restored)], [2, 2])
})

test('a session returns to its pool without the lock and with its statement timeout', async (t) => {
  const pool = await emptyDatabase(t)
  await migrate(pool, clock, only(file(1, 'create table a (x int)')))
  await assert.rejects(migrate(pool, clock, only(file(1, 'select nonsense'))))

  const [locks] = await pool<{ held: number }[]>`
    select count(*)::int as held from pg_locks l join pg_database d on d.oid = l.database
    where l.locktype = 'advisory' and d.datname = current_database()`
  const [timeout] = await pool<{ value: string }[]>`select current_setting('statement_timeout') as value`
  assert.deepEqual([locks!.held, timeout!.value === '0'], [0, false])
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

test('a migration during concurrent writes of events begins no new feed epoch', async (t) => {
  const pool = await emptyDatabase(t)
  await migrate(pool, clock)
  const files = await readSchemaFiles()

  await holdOpen(pool, async (sql) => {
    await sql`select pg_current_xact_id()`
    await pool`insert into events (account_id, mode, id, type, object_id, object, created_at, position)
      values ('acc_1', 'test', 'evt_1', 'message.sent', 'msg_1', '{}', '2026-01-31T09:30:00Z', feed_position())`
    await applyMigrations(sql, clock, files)
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

const file = (number: number, text: string, transactional = true): Migration => ({
  transactional,
  number,
  name: `000${number}_it.sql`,
  text,
  checksum: text,
})

const only = (...migrations: Migration[]): SchemaFiles => ({
  migrations,
  functions: { version: '0.1.0', functions: [] },
})
