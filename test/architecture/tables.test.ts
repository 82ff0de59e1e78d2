/** A table is named only by the repositories of the module that owns it. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { modules, tables } from '../../src/app.ts'
import { accountColumn } from '../../src/platform/database/table-scope.ts'
import { root, sources, templates, withoutComments, type Source } from './sources.ts'

const read: Readonly<Record<string, { readonly by: readonly string[]; readonly reason: string }>> = {
  events: { by: ['webhooks'], reason: 'the feed is what webhooks deliver' },
  processes: {
    by: ['channels', 'contacts', 'media', 'messages', 'webhooks'],
    reason: 'what a dead process had in hand is taken over in the statement that finds it dead',
  },
}

const repositories = /(?:^|\/)(?:(?:[a-z-]+-)?repository|producer|invariants)\.ts$|\/sql\/\w+\.sql$/

/** Other modules use fragments that the owner exports. */
const ownerOf = new Map(modules.flatMap(({ name, tables: own }) => Object.keys(own).map((table) => [table, name])))

test('every table has one owner', () => {
  const schema = readFileSync(join(root, 'schema.sql'), 'utf8')
  const created = [...schema.matchAll(/^create table (\w+) \(/gm)].map((match) => match[1]!)
  const declared = modules.flatMap((module) => Object.keys(module.tables))

  assert.deepEqual(declared.toSorted(), created.toSorted())
})

test('the scope of every table names columns that exist', () => {
  const schema = readFileSync(join(root, 'schema.sql'), 'utf8')
  const columns = new Map(
    [...schema.matchAll(/^create table (\w+) \(\n([^]*?)^\)/gm)].map((match) => [match[1]!, match[2]!]),
  )
  const has = (table: string, column: string) => new RegExp(`^  "?${column}"? `, 'm').test(columns.get(table) ?? '')
  const wrong = Object.entries(tables).filter(
    ([table, whose]) =>
      (whose.to === 'account' && !has(table, accountColumn(tables, table))) ||
      (whose.to === 'parent' &&
        (!has(table, whose.column) || !has(whose.parent, whose.key) || tables[whose.parent]?.to !== 'account')),
  )

  assert.deepEqual(wrong, [])
})

test('only its owner names a table', () => {
  assert.deepEqual(foreign(), [])
})

test('in modules, only repositories, producers, sql/ and invariants contain SQL', () => {
  const elsewhere = files().filter(
    ({ path, text }) =>
      path.startsWith('src/modules/') &&
      !repositories.test(path) &&
      /\b(?:sql|tx|pool)(?:<[^`]*?>)?`/.test(withoutComments(text)),
  )

  assert.deepEqual(
    elsewhere.map(({ path }) => path),
    [],
  )
})

test('a repository opens no transaction of its own', () => {
  const opening = files().filter(
    ({ path, text }) =>
      /(?:^|\/)(?:[a-z-]+-)?repository\.ts$/.test(path) && /\btransact\(|\.begin\(/.test(withoutComments(text)),
  )

  assert.deepEqual(
    opening.map(({ path }) => path),
    [],
  )
})

test('a table is found in nested fragments', () => {
  const seen = (text: string) => foreignIn({ path: 'src/modules/messages/repository.ts', text })

  assert.deepEqual(seen('const one = sql`select 1 from wallets`'), ['src/modules/messages/repository.ts wallets'])
  assert.deepEqual(seen('const one = sql`select 1 ${some ? sql`from messages join grants` : sql``} where x`'), [
    'src/modules/messages/repository.ts grants',
  ])
  assert.deepEqual(
    seen("const no = '`'; const one = sql`select ${a({ b: `c` })} ${sql`${sql`insert into wallets`}`}`"),
    ['src/modules/messages/repository.ts wallets'],
  )
  assert.deepEqual(seen('/** As in `this. */ const one = /[`{]/; const two = tx`update wallets set x = 1`'), [
    'src/modules/messages/repository.ts wallets',
  ])
  assert.deepEqual(seen('const one = sql`select 1 from messages`; from(`wallets`)'), [])
})

const files = () => sources('src/**/*.{ts,sql}').filter(({ path }) => !path.endsWith('.test.ts'))

const foreign = (): string[] => files().flatMap(foreignIn)

function foreignIn({ path, text }: Source): string[] {
  const owner = /^src\/modules\/([^/]+)\//.exec(path)?.[1] ?? 'platform'
  const statements = path.endsWith('.sql')
    ? [text.replaceAll(/--.*$/gm, '')]
    : templates(text).map((template) => template.text)
  return [...ownerOf].flatMap(([table, its]) => {
    if (its === owner) return []
    const uses = (words: string) =>
      statements.some((statement) => new RegExp(`\\b(?:${words})\\s+(?:only\\s+)?${table}\\b`).test(statement))
    if (uses('into|update|delete from')) return [`${path} ${table}`]
    return uses('from|join|using|table') && read[table]?.by.includes(owner) !== true ? [`${path} ${table}`] : []
  })
}
