/** The platform is PostgreSQL and HTTP: what the product is made of is told to it by routes, arguments and settings. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { productSources, root, withoutComments } from './sources.ts'

/** Tables of the platform itself; every other one belongs to a feature. */
const ownTables = [
  'events',
  'events_default',
  'idempotency_keys',
  'installation',
  'processes',
  'schema_functions',
  'schema_migrations',
]

/** Words of the product. `message` and `channel` are words of errors and of NOTIFY as well, and `account` is who calls. */
const productWords = /campaign|contact|recipient|segment|sms\b|telegram|wallet|webhook|whatsapp/i

/** `GET /v1/me` shows who calls, which is the platform's own knowledge. */
const productPaths = /\/v1\/(?!me\b)\w+/

/** Where the platform names what it should not know, and why. */
const exceptions: Readonly<Record<string, string>> = {
  'src/config/settings.ts': 'one table of settings, each read by the feature that it is for',
  'src/platform/observability/metrics.ts':
    'one table of what /metrics shows, each counted by the feature that it is of',
}

test('the platform names no path, table or word of a feature', () => {
  const tables = [...readFileSync(join(root, 'schema.sql'), 'utf8').matchAll(/^create table (\w+)/gm)].map(
    ([, name]) => name!,
  )
  const tableNames = new RegExp(String.raw`\b(${tables.filter((name) => !ownTables.includes(name)).join('|')})\b`)
  const breaches = productSources()
    .filter(({ path }) => path.startsWith('src/platform/') && exceptions[path] === undefined)
    .flatMap(({ path, text }) => {
      const code = withoutComments(text).split('\n')
      return text.split('\n').flatMap((line, at) => {
        const found = productPaths.exec(line) ?? tableNames.exec(code[at]!) ?? productWords.exec(line)
        return found === null ? [] : [`${path}:${at + 1} ${found[0]}`]
      })
    })

  assert.deepEqual(breaches, [])
})
