/** A file in `sql/` contains one function. */
import assert from 'node:assert/strict'
import { posix } from 'node:path'
import test from 'node:test'
import { sources, type Source } from './sources.ts'

const linesMax = 60

const files = (): Source[] => sources('src/**/*.sql')

test('SQL files are in the folder sql of a module or a platform part', () => {
  const elsewhere = files().filter(
    ({ path }) => !/^src\/(modules|platform)\/[^/]+\/sql\/[a-z][a-z0-9_]*\.sql$/.test(path),
  )

  assert.deepEqual(
    elsewhere.map(({ path }) => path),
    [],
  )
})

test('a file in sql/ says why its function is in the database', () => {
  const silent = files().filter(({ text }) => !/^-- why: \S/.test(text))

  assert.deepEqual(
    silent.map(({ path }) => path),
    [],
  )
})

test('a file in sql/ only replaces the function that it is named after, and drops older signatures', () => {
  assert.deepEqual(files().flatMap(strangers), [])
})

test('other statements in sql/ are reported', () => {
  const text = `-- why: a sample; of nothing\ndrop function if exists it(int);\ncreate or replace function it() returns text language sql as $$ select 'a;b'; $$;\n`

  assert.deepEqual(
    [text, `${text}create table t (x int);`, `${text}drop function if exists other(int);`, '-- why: empty'].map(
      (sample) => strangers({ path: 'src/modules/a/sql/it.sql', text: sample }),
    ),
    [
      [],
      ['src/modules/a/sql/it.sql: create table t (x int)'],
      ['src/modules/a/sql/it.sql: drop function if exists other(int)'],
      ['src/modules/a/sql/it.sql: no function it'],
    ],
  )
})

test('a statement reads the horizon of the feed once, in a sub-select or variable, not for each row', () => {
  const asking = sources('src/**/*.{ts,sql}').filter(
    ({ path }) => !path.endsWith('.test.ts') && !path.endsWith('/feed_horizon.sql'),
  )
  const lines = asking.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line) =>
        line.includes('feed_horizon()') && !/^\s*--|^ ?\*|\bselect feed_horizon\(\)|:= feed_horizon\(\)/.test(line)
          ? [`${path}: ${line.trim()}`]
          : [],
      ),
  )

  assert.deepEqual(lines, [])
})

test('a function in sql/ has at most 60 lines', () => {
  const long = files().flatMap(({ path, text }) =>
    text
      .split(/^(?=create or replace function)/m)
      .slice(1)
      .map((part) => ({ path, lines: part.trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > linesMax),
  )

  assert.deepEqual(long, [])
})

function strangers({ path, text }: Source): string[] {
  const name = posix.basename(path, '.sql')
  const statements = text
    .replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .replaceAll(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim().replaceAll(/\s+/g, ' '))
    .filter((statement) => statement !== '')
  const creates = new RegExp(`^create or replace function ${name} ?\\(`)
  const drops = new RegExp(`^drop function if exists ${name} ?\\(`)
  const strange = statements
    .filter((statement) => !creates.test(statement) && !drops.test(statement))
    .map((statement) => `${path}: ${statement}`)
  return statements.some((statement) => creates.test(statement))
    ? strange
    : [...strange, `${path}: no function ${name}`]
}
