/** The platform knows nothing of the product. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { productSources, root, withoutComments } from './sources.ts'

const ownTables = [
  'events',
  'events_default',
  'idempotency_keys',
  'installation',
  'processes',
  'schema_functions',
  'schema_migrations',
]

/** Without `message`, `channel` and `account`, which also mean errors, NOTIFY and callers. */
const productWords = /campaign|contact|recipient|segment|sms\b|telegram|wallet|webhook|whatsapp/i

const productPaths = /\/v1\/(?!me\b)\w+/

const exceptions: Readonly<Record<string, string>> = {
  'src/config/settings.ts': 'one table of settings, each read by the feature that it is for',
  'src/platform/observability/metrics.ts':
    'one table of what /metrics shows, each counted by the feature that it is of',
}

test('the platform names no path, table or word of a module', () => {
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
