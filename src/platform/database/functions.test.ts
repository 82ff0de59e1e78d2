import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { closing } from '../../../test/support/closing.ts'
import { testDatabase } from '../../../test/support/database.ts'
import { testPool } from '../../../test/support/pool.ts'
import { systemClock } from '../../lib/clock.ts'
import { readFunctions, type SqlFunction, type SqlFunctions } from './functions.ts'
import { migrate, missingMigrations, type SchemaFiles } from './migrate.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import type { Pool } from './sql.ts'

const clock = systemClock()

test('a function is applied after the migrations, and again only when its text has changed', async (t) => {
  const pool = await emptyDatabase(t)
  const [first, second] = [program('1.0.0', answering('answer', 1)), program('1.0.0', answering('answer', 2))]

  const reports = [await migrate(pool, clock, first), await migrate(pool, clock, first)]
  const missing = await missingMigrations(pool, second)
  const before = await answer(pool)
  reports.push(await migrate(pool, clock, second))

  assert.deepEqual(
    reports.map(({ applied }) => applied),
    [['0001_numbers.sql', 'modules/it/sql/answer.sql'], [], ['modules/it/sql/answer.sql']],
  )
  assert.deepEqual(
    [missing, before, await answer(pool), await missingMigrations(pool, second)],
    [['modules/it/sql/answer.sql'], 1, 2, []],
  )
})

test('only one of many starting processes applies a function', async (t) => {
  const pool = await emptyDatabase(t)
  await migrate(pool, clock, program('1.0.0', answering('answer', 1)))

  const reports = await Promise.all(
    Array.from({ length: 5 }, () => migrate(pool, clock, program('1.0.0', answering('answer', 2)))),
  )

  assert.deepEqual(
    reports.flatMap(({ applied }) => applied),
    ['modules/it/sql/answer.sql'],
  )
  assert.equal(await answer(pool), 2)
})

test('a function without a file is dropped with all overloads, and may return', async (t) => {
  const pool = await emptyDatabase(t)
  const { text } = answering('answer', 1)
  const shapes = sqlFunction(
    'answer',
    `${text}\ncreate or replace function answer(p_of int) returns int language sql as 'select 1';`,
  )
  await migrate(pool, clock, program('1.0.0', shapes, answering('other', 1)))

  const without = program('1.0.0', answering('other', 1))
  const missing = await missingMigrations(pool, without)
  const reports = [await migrate(pool, clock, without), await migrate(pool, clock, without)]
  const left = await pool`select proname from pg_proc where pronamespace = 'public'::regnamespace`
  await migrate(pool, clock, program('1.0.0', shapes, answering('other', 1)))

  assert.deepEqual(
    [missing, reports.map(({ applied }) => applied), left.map((row) => row['proname'])],
    [['drop of answer'], [['drop of answer'], []], ['other']],
  )
  assert.equal(await answer(pool), 1)
})

test('while two versions run, the functions of the newer one stay, whichever starts last', async (t) => {
  const pool = await emptyDatabase(t)
  const [older, newer] = [
    program('1.9.0', answering('answer', 1)),
    program('1.10.0', answering('answer', 2), answering('later', 1)),
  ]

  const reports = []
  for (const version of [older, newer, older, newer, older]) reports.push(await migrate(pool, clock, version))

  assert.deepEqual(
    reports.map(({ applied }) => applied.length),
    [2, 2, 0, 0, 0],
  )
  assert.deepEqual([await answer(pool), await missingMigrations(pool, older)], [2, []])
})

test('a function that two versions share is not changed by a version in between', async (t) => {
  const pool = await emptyDatabase(t)
  for (const version of ['1.0.0', '3.0.0']) await migrate(pool, clock, program(version, answering('answer', 1)))

  const { applied } = await migrate(pool, clock, program('2.0.0', answering('answer', 2)))

  assert.deepEqual([applied, await answer(pool)], [[], 1])
})

test('an older version is refused where a newer one has dropped a function that it needs', async (t) => {
  const pool = await emptyDatabase(t)
  const older = program('1.0.0', answering('answer', 1))
  await migrate(pool, clock, older)
  await migrate(pool, clock, program('1.1.0'))

  const refused = (error: unknown) =>
    error instanceof OperatorError && /newer than this program: version 1\.1\.0 dropped answer/.test(error.message)
  await assert.rejects(migrate(pool, clock, older), refused)
  await assert.rejects(missingMigrations(pool, older), refused)
})

test('a function that the database has lost is applied again', async (t) => {
  const pool = await emptyDatabase(t)
  const files = program('1.0.0', answering('answer', 1))
  await migrate(pool, clock, files)
  await pool`drop function answer()`

  const missing = await missingMigrations(pool, files)
  await migrate(pool, clock, files)

  assert.deepEqual([missing, await answer(pool)], [['modules/it/sql/answer.sql'], 1])
})

test('a failing function is named, and no function of that start is applied', async (t) => {
  const pool = await emptyDatabase(t)

  await assert.rejects(
    migrate(pool, clock, program('1.0.0', answering('answer', 1), sqlFunction('wrong', 'create nonsense'))),
    /modules\/it\/sql\/wrong\.sql failed/,
  )

  assert.deepEqual([...(await pool`select proname from pg_proc where pronamespace = 'public'::regnamespace`)], [])
})

test('functions are read from the folders named sql, those of the platform before those of the features, and share one space of names', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-functions-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const write = async (path: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), `-- ${path}`)
  }
  for (const path of [
    'modules/b/sql/last.sql',
    'modules/a/sql/second.sql',
    'modules/a/sql/notes.md',
    'modules/c/store.ts',
    'platform/z/sql/third.sql',
  ])
    await write(path)

  const { functions } = await readFunctions(folder)
  await write('modules/b/sql/third.sql')

  assert.deepEqual(
    functions.map(({ name, file }) => [name, file]),
    [
      ['third', 'platform/z/sql/third.sql'],
      ['second', 'modules/a/sql/second.sql'],
      ['last', 'modules/b/sql/last.sql'],
    ],
  )
  await assert.rejects(readFunctions(folder), /modules\/b\/sql\/third\.sql has the name of another function/)
})

async function emptyDatabase(t: TestContext): Promise<Pool> {
  const database = await testDatabase({ empty: true })
  closing(t, () => database.drop())
  const pool = testPool(database.url)
  closing(t, () => pool.end({ timeout: 1 }))
  return pool
}

const answer = async (pool: Pool) => (await pool`select answer()`)[0]!['answer']

const sqlFunction = (name: string, text: string): SqlFunction => ({
  name,
  file: `modules/it/sql/${name}.sql`,
  text,
  checksum: text,
})

/** Reads a table, so that migrations must have run. */
const answering = (name: string, value: number): SqlFunction =>
  sqlFunction(
    name,
    `create or replace function ${name}() returns int language sql as 'select ${value} + count(*)::int from numbers';`,
  )

function program(version: string, ...list: SqlFunction[]): SchemaFiles {
  const functions: SqlFunctions = { version, functions: list }
  return {
    migrations: [
      { number: 1, name: '0001_numbers.sql', transactional: true, text: 'create table numbers (n int)', checksum: '1' },
    ],
    functions,
  }
}
