/**
 * Freezes the migrations of a release: writes their checksums to `migrations/released.json`. Refuses when a released
 * one changed.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { migrationsFolder, readMigrations } from '../src/platform/database/migrate.ts'

const file = join(migrationsFolder.pathname, 'released.json')
const released = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as Record<string, string>
const now = Object.fromEntries((await readMigrations()).map(({ name, checksum }) => [name, checksum]))
const changed = Object.keys(released).filter((name) => now[name] !== released[name])
if (changed.length > 0) {
  console.error(`released already, and changed since: ${changed.join(', ')}`)
  process.exit(1)
}
await writeFile(file, `${JSON.stringify(now, null, 2)}\n`)
console.log(`frozen: ${Object.keys(now).length} migrations`)
