/**
 * Released migrations are frozen by checksum in `migrations/released.json` (`node scripts/run.mjs scripts/freeze.ts`).
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { readMigrations } from '../../src/platform/database/migrate.ts'
import { root } from './sources.ts'

test('a released migration is never edited, renamed or removed', async () => {
  const released = JSON.parse(readFileSync(join(root, 'migrations/released.json'), 'utf8')) as Record<string, string>
  const now = Object.fromEntries((await readMigrations()).map(({ name, checksum }) => [name, checksum]))

  const changed = Object.entries(released).filter(([name, checksum]) => now[name] !== checksum)

  assert.deepEqual(
    changed.map(([name]) => name),
    [],
  )
})

test('a migration begins with its reason', async () => {
  const silent = (await readMigrations()).filter(({ text }) => !text.startsWith('-- why:'))

  assert.deepEqual(
    silent.map(({ name }) => name),
    [],
  )
})
