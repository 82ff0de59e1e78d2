/** Brings a database to the schema of this code: migrations forward only, under a lock, each file once, then the functions; and keeps the `installation` row. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { isoTime, type Clock } from '../../lib/clock.ts'
import { applyFunctions, missingFunctions, readFunctions, type SqlFunctions } from './functions.ts'
import { advisoryLocks } from './locks.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import { transact, type Db, type Pool } from './sql.ts'
import { needsUpgrade, upgrade, upgradeName, type AppliedMigration } from './upgrade.ts'

/** The folder of the released migrations. */
export const migrationsFolder = new URL('../../../migrations/', import.meta.url)

export interface Migration {
  readonly number: number
  readonly name: string
  readonly text: string
  /** SHA-256 of the file, hex. */
  readonly checksum: string
}

/** All that a database is made of by one version of the program. */
export interface SchemaFiles {
  readonly migrations: readonly Migration[]
  readonly functions: SqlFunctions
}

export interface MigrationReport {
  /** What was done now, in order: the names of migrations, then the files of functions, then `drop of <function>`. */
  readonly applied: string[]
  /** The number that the database stands at. */
  readonly version: number
}

const versionMin = 160_000
const tryLockEveryMs = 100
const lockWaitMs = 120_000

/** The migrations and functions of this program. */
export async function readSchemaFiles(): Promise<SchemaFiles> {
  const [migrations, functions] = await Promise.all([readMigrations(), readFunctions()])
  return { migrations, functions }
}

/** The files of a folder by number. Fails when a name has no number or two share one. */
export async function readMigrations(folder: URL | string = migrationsFolder): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted()
  const read = await Promise.all(
    names.map(async (name) => ({ name, text: await readFile(fileIn(folder, name), 'utf8') })),
  )
  const migrations = read.map(({ name, text }) => ({ number: numberOf(name), name, text, checksum: checksumOf(text) }))
  const twice = migrations.find((migration, at) => migrations[at - 1]?.number === migration.number)
  if (twice !== undefined) throw new Error(`migrations: ${twice.name} has the number of another file`)
  return migrations
}

/**
 * Applies what is missing, migrations first and functions after them, all in one transaction, and updates the `installation` row. Any number of processes may
 * call it at once. Throws `OperatorError` for PostgreSQL below 16, for a released file that changed, and for a database that is newer than this code.
 */
export async function migrate(pool: Pool, clock: Clock, files?: SchemaFiles): Promise<MigrationReport> {
  const known = files ?? (await readSchemaFiles())
  await refuseOldServer(pool)
  const deadline = clock.now() + lockWaitMs
  for (;;) {
    const report = await transact(pool, async (sql) => {
      await sql`set local statement_timeout = 0`
      return (await lockMigrations(sql)) ? await bringForward(sql, clock, known) : undefined
    })
    if (report !== undefined) return report
    if (clock.now() > deadline)
      throw new OperatorError(
        'Another process has been migrating this database for two minutes: see what it is doing, then start again.',
        'database',
      )
    await clock.sleep(tryLockEveryMs)
  }
}

/** What `migrate` would apply, as it reports it; throws `OperatorError` as it does. Changes nothing. */
export async function missingMigrations(sql: Db, files?: SchemaFiles): Promise<string[]> {
  const known = files ?? (await readSchemaFiles())
  await refuseOldServer(sql)
  const applied = await appliedMigrations(sql)
  const migrations = needsUpgrade(applied)
    ? [upgradeName]
    : missing(known.migrations, applied).map((migration) => migration.name)
  return [...migrations, ...(await missingFunctions(sql, known.functions))]
}

/** The same in a transaction that is open, under the lock that the caller holds (`lockMigrations`). */
export async function bringForward(sql: Db, clock: Clock, known: SchemaFiles): Promise<MigrationReport> {
  await makeRecord(sql)
  const recorded = await appliedMigrations(sql)
  const upgraded = needsUpgrade(recorded)
  const applied = upgraded ? await upgrade(sql, clock, known.migrations) : recorded
  const todo = missing(known.migrations, applied)
  await applyMigrations(sql, clock, todo)
  const functions = await applyFunctions(sql, clock, known.functions)
  await keepInstallation(sql, clock)
  return {
    applied: [...(upgraded ? [upgradeName] : []), ...todo.map(({ name }) => name), ...functions],
    version: known.migrations.at(-1)?.number ?? 0,
  }
}

/** Waits for nobody: false where another process migrates now. To the end of the transaction. */
export async function lockMigrations(sql: Db): Promise<boolean> {
  const [lock] = await sql<{ held: boolean }[]>`select pg_try_advisory_xact_lock(${advisoryLocks.migrate}) as held`
  return lock!.held
}

async function makeRecord(sql: Db): Promise<void> {
  await sql`
    create table if not exists schema_migrations (
      number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null
    )`
}

/** Of a database in which there is nothing: these migrations, without the functions that go with them. */
export async function makeSchema(sql: Db, clock: Clock, migrations: readonly Migration[]): Promise<void> {
  await makeRecord(sql)
  await applyMigrations(sql, clock, migrations)
}

async function applyMigrations(sql: Db, clock: Clock, todo: readonly Migration[]): Promise<void> {
  for (const { number, name, text, checksum } of todo) {
    await sql.unsafe(text).catch((error: unknown) => {
      throw new Error(`migrations/${name} failed: ${String(error)}`, { cause: error })
    })
    await sql`insert into schema_migrations (number, name, checksum, applied_at) values (${number}, ${name}, ${checksum}, ${isoTime(clock.now())})`
  }
}

export async function appliedMigrations(sql: Db): Promise<AppliedMigration[]> {
  const [table] = await sql<{ there: boolean }[]>`select to_regclass('schema_migrations') is not null as there`
  return table!.there
    ? await sql<AppliedMigration[]>`select number, name, checksum from schema_migrations order by number`
    : []
}

/** Those of `known` that have not been applied. Throws `OperatorError` where one was applied that is not known, or is another by now. */
export function missing(known: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const byNumber = new Map(known.map((migration) => [migration.number, migration]))
  for (const row of applied) {
    const file = byNumber.get(row.number)
    if (file === undefined)
      throw new OperatorError(
        `The database is newer than this program: it has ${row.name}. Start the newer version.`,
        'database',
      )
    if (file.checksum !== row.checksum)
      throw new OperatorError(
        `migrations/${file.name} was changed after it had been applied to this database. Restore the file; put changes in a new one.`,
        'database',
      )
  }
  const done = new Set(applied.map((row) => row.number))
  return known.filter((migration) => !done.has(migration.number))
}

async function refuseOldServer(sql: Db): Promise<void> {
  const [server] = await sql<{ version: number; name: string }[]>`
    select current_setting('server_version_num')::int as version, current_setting('server_version') as name`
  if (server!.version < versionMin)
    throw new OperatorError(`PostgreSQL 16 or newer is needed; DATABASE_URL leads to ${server!.name}.`, 'database')
}

/**
 * The row that orders the event feed. A restored dump starts counting transactions anew, so a cluster that is not the one
 * that wrote here last, or a feed that is ahead of the cluster, begins a new epoch: later events stay behind earlier ones.
 * Ahead of the cluster, and not of this transaction: while it migrates, others go on and write events behind it. A new epoch then would lose the events that
 * are about to be committed in the old one, for readers have passed them.
 */
async function keepInstallation(sql: Db, clock: Clock): Promise<void> {
  const [there] = await sql<{ tables: boolean }[]>`
    select to_regclass('installation') is not null and to_regclass('events') is not null as tables`
  if (!there!.tables) return
  await sql`
    insert into installation (system_identifier, created_at)
    select system_identifier::text, ${isoTime(clock.now())} from pg_control_system()
    on conflict do nothing`
  await sql`
    update installation set feed_epoch = feed_epoch + 1, system_identifier = system.system_identifier::text
    from pg_control_system() as system
    where installation.system_identifier <> system.system_identifier::text
      or (select max(position) from events) > (feed_epoch::bigint << 48) + greatest(
        pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1, pg_current_xact_id_if_assigned()::text::bigint)`
}

function numberOf(name: string): number {
  const digits = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]
  if (digits === undefined) throw new Error(`migrations: ${name} is not named like 0001_accounts.sql`)
  return Number(digits)
}

const checksumOf = (text: string): string => createHash('sha256').update(text).digest('hex')

const fileIn = (folder: URL | string, name: string): URL | string =>
  typeof folder === 'string' ? `${folder}/${name}` : new URL(name, folder)
