/** Upgrades a database from before the squash of migrations (docs/decisions/squashed-migrations.md). */
import { readFile } from 'node:fs/promises'
import { limits } from '../../api/limits.ts'
import { isoTime, type Clock } from '../../lib/clock.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import type { Db } from './sql.ts'

export interface AppliedMigration {
  number: number
  name: string
  checksum: string
}

const lastBefore = '0045_integrations.sql'
const squashedTo = 12
const file = new URL('../../../migrations/upgrade/0045.sql', import.meta.url)

export const upgradeName = 'upgrade/0045.sql'

/** Throws `OperatorError` for an older development version. */
export function needsUpgrade(applied: readonly AppliedMigration[], known: readonly AppliedMigration[]): boolean {
  const squashed = new Map(known.filter(({ number }) => number <= squashedTo).map(({ number, name }) => [number, name]))
  if (applied.every(({ number, name }) => (squashed.get(number) ?? name) === name)) return false
  const last = applied.at(-1)!.name
  if (last === lastBefore) return true
  throw new OperatorError(
    `The database was made by a development version whose last migration is ${last}. Start the version whose last migration is ${lastBefore} on it once, then this one; or begin with an empty database.`,
    'database',
  )
}

/** Requires the migration lock. Throws `OperatorError` while processes of the old version run. */
export async function upgrade(sql: Db, clock: Clock, known: readonly AppliedMigration[]): Promise<AppliedMigration[]> {
  await refuseRunning(sql, clock)
  const text = await readFile(file, 'utf8')
  await sql.unsafe(text).catch((error: unknown) => {
    throw new Error(`migrations/${upgradeName} failed: ${String(error)}`, { cause: error })
  })
  const squashed = known
    .filter(({ number }) => number <= squashedTo)
    .map(({ number, name, checksum }) => ({ number, name, checksum }))
  await sql`delete from schema_migrations`
  for (const { number, name, checksum } of squashed)
    await sql`insert into schema_migrations (number, name, checksum, applied_at) values (${number}, ${name}, ${checksum}, ${isoTime(clock.now())})`
  return squashed
}

async function refuseRunning(sql: Db, clock: Clock): Promise<void> {
  const alive_since = isoTime(clock.now() - limits.process_silent_ms)
  const running = await sql<{ id: string }[]>`select id from processes where beat_at > ${alive_since} order by id`
  if (running.length === 0) return
  const names = running.map(({ id }) => id).join(', ')
  const seconds = limits.process_silent_ms / 1000
  throw new OperatorError(
    `Processes of the old version are still running (${names}). Stop them, then start this one; a process that was killed counts as running for ${seconds} seconds.`,
    'database',
  )
}
