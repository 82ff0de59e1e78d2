/**
 * Brings forward a database of the version before the first release, whose 33 migrations were squashed to one file an owner: one file of differences, and the
 * squashed migrations are on record as if they had made it (docs/decisions/squashed-migrations.md).
 */
import { readFile } from 'node:fs/promises'
import { limits } from '../../api/limits.ts'
import { isoTime, type Clock } from '../../lib/clock.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import type { Db } from './sql.ts'

/** A migration as a database has it on record. */
export interface AppliedMigration {
  number: number
  name: string
  checksum: string
}

/** The first and the last migration of the version that is brought forward. */
const before = { first: '0001_installation.sql', last: '0059_entry_order.sql' }
/** The last of the squashed migrations. */
const squashedTo = 7
const file = new URL('../../../migrations/upgrade/0059.sql', import.meta.url)

/** How the upgrade is reported, beside the names of migrations. */
export const upgradeName = 'upgrade/0059.sql'

/** Whether the database was made before the squash. Throws `OperatorError` where it is of a state in between, which nothing brings forward. */
export function needsUpgrade(applied: readonly AppliedMigration[]): boolean {
  if (applied[0]?.name !== before.first) return false
  const last = applied.at(-1)!.name
  if (last === before.last) return true
  const first =
    last < before.last
      ? `Start the version whose last migration is ${before.last} on it once, then this one; or begin`
      : 'Begin'
  throw new OperatorError(
    `The database was made by a development version whose last migration is ${last}. ${first} with an empty database.`,
    'database',
  )
}

/** Makes the differences, and puts the squashed migrations on record. The caller holds the lock of migrations. Throws `OperatorError` while processes of the version before run. */
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

/** The processes of the version before know none of the new names. */
async function refuseRunning(sql: Db, clock: Clock): Promise<void> {
  const alive_since = isoTime(clock.now() - limits.process_silent_ms)
  const running = await sql<{ id: string }[]>`select id from processes where heartbeat_at > ${alive_since} order by id`
  if (running.length === 0) return
  const names = running.map(({ id }) => id).join(', ')
  const seconds = limits.process_silent_ms / 1000
  throw new OperatorError(
    `Processes of the version before are still running (${names}): stop them first, then start this one. One that was killed counts as running for ${seconds} seconds.`,
    'database',
  )
}
