/** Migrates a database: migrations under a lock, then functions. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { isoTime, type Clock } from '../../lib/clock.ts'
import { applyFunctions, missingFunctions, readFunctions, type SqlFunctions } from './functions.ts'
import { advisoryLocks } from './locks.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import { isPool, type Db, type Pool } from './sql.ts'
import { needsUpgrade, upgrade, upgradeName, type AppliedMigration } from './upgrade.ts'

export const migrationsFolder = new URL('../../../migrations/', import.meta.url)

export interface Migration {
  readonly number: number
  readonly name: string
  readonly text: string
  readonly checksum: string
  /** False for `-- no transaction`: each statement must be safe to repeat. */
  readonly transactional: boolean
}

export interface SchemaFiles {
  readonly migrations: readonly Migration[]
  readonly functions: SqlFunctions
}

export interface MigrationReport {
  /** Names of migrations, then files of functions, then `drop of <function>`. */
  readonly applied: string[]
  readonly version: number
}

const versionMin = 160_000
const tryLockEveryMs = 100
const lockWaitMs = 120_000

export async function readSchemaFiles(): Promise<SchemaFiles> {
  const [migrations, functions] = await Promise.all([readMigrations(), readFunctions()])
  return { migrations, functions }
}

export async function readMigrations(folder: URL | string = migrationsFolder): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted()
  const read = await Promise.all(
    names.map(async (name) => ({ name, text: await readFile(fileIn(folder, name), 'utf8') })),
  )
  const migrations = read.map(({ name, text }) => ({
    number: numberOf(name),
    name,
    text,
    checksum: checksumOf(text),
    transactional: !/^-- no transaction$/m.test(text),
  }))
  const twice = migrations.find((migration, at) => migrations[at - 1]?.number === migration.number)
  if (twice !== undefined) throw new Error(`migrations: ${twice.name} has the number of another file`)
  return migrations
}

/**
 * Concurrent calls wait for each other. Throws `OperatorError` for PostgreSQL below 16, a changed migration, or a newer
 * database.
 */
export async function migrate(pool: Pool, clock: Clock, files?: SchemaFiles): Promise<MigrationReport> {
  const known = files ?? (await readSchemaFiles())
  const session = await pool.reserve()
  try {
    await refuseOldServer(session)
    await lockSession(session, clock)
    await session`set statement_timeout = 0`
    return await applyMigrations(session, clock, known, (work) => ownTransaction(session, work))
  } finally {
    await unlockSession(session)
    session.release()
  }
}

export async function missingMigrations(sql: Db, files?: SchemaFiles): Promise<string[]> {
  const known = files ?? (await readSchemaFiles())
  await refuseOldServer(sql)
  const applied = await appliedMigrations(sql)
  const migrations = needsUpgrade(applied, known.migrations)
    ? [upgradeName]
    : missing(known.migrations, applied).map((migration) => migration.name)
  return [...migrations, ...(await missingFunctions(sql, known.functions))]
}

type Step = <T>(work: (sql: Db) => Promise<T>) => Promise<T>

/** Requires the migration lock. Without `step`, in the open transaction. */
export async function applyMigrations(
  sql: Db,
  clock: Clock,
  known: SchemaFiles,
  step: Step = (work) => work(sql),
): Promise<MigrationReport> {
  const recorded = await step(async (tx) => {
    await createMigrationTable(tx)
    return await appliedMigrations(tx)
  })
  const upgraded = needsUpgrade(recorded, known.migrations)
  const applied = upgraded ? await step((tx) => upgrade(tx, clock, known.migrations)) : recorded
  const todo = missing(known.migrations, applied)
  for (const migration of todo) {
    if (!migration.transactional) await runStatements(sql, migration, isPool(sql))
    await step(async (tx) => {
      if (migration.transactional) await run(tx, migration, migration.text)
      await record(tx, clock, migration)
    })
  }
  const functions = await step(async (tx) => {
    const changed = await applyFunctions(tx, clock, known.functions)
    await updateInstallation(tx, clock)
    return changed
  })
  return {
    applied: [...(upgraded ? [upgradeName] : []), ...todo.map(({ name }) => name), ...functions],
    version: known.migrations.at(-1)?.number ?? 0,
  }
}

type Session = Awaited<ReturnType<Pool['reserve']>>

async function ownTransaction<T>(session: Session, work: (sql: Db) => Promise<T>): Promise<T> {
  await session.unsafe('begin')
  try {
    const result = await work(session)
    await session.unsafe('commit')
    return result
  } catch (error) {
    await session.unsafe('rollback').catch(() => undefined) // the connection may be what failed
    throw error
  }
}

async function lockSession(session: Session, clock: Clock): Promise<void> {
  const deadline = clock.now() + lockWaitMs
  for (;;) {
    const [lock] = await session<
      { acquired: boolean }[]
    >`select pg_try_advisory_lock(${advisoryLocks.migrate}) as acquired`
    if (lock!.acquired) return
    if (clock.now() > deadline)
      throw new OperatorError(
        'Another process has been migrating this database for two minutes. See what it is doing, then start again.',
        'database',
      )
    await clock.sleep(tryLockEveryMs)
  }
}

/** Also without the lock, to reset the session's settings. */
async function unlockSession(session: Session): Promise<void> {
  await session
    .unsafe(`reset statement_timeout; select pg_advisory_unlock(${advisoryLocks.migrate})`)
    .catch(() => undefined) // a lost connection holds no lock
}

/** Until the end of the transaction. False while another process migrates. */
export async function lockMigrations(sql: Db): Promise<boolean> {
  const [lock] = await sql<
    { acquired: boolean }[]
  >`select pg_try_advisory_xact_lock(${advisoryLocks.migrate}) as acquired`
  return lock!.acquired
}

async function createMigrationTable(sql: Db): Promise<void> {
  await sql`
    create table if not exists schema_migrations (
      number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null
    )`
}

export async function createSchema(sql: Db, clock: Clock, migrations: readonly Migration[]): Promise<void> {
  await createMigrationTable(sql)
  for (const migration of migrations) {
    if (migration.transactional) await run(sql, migration, migration.text)
    else await runStatements(sql, migration, false)
    await record(sql, clock, migration)
  }
}

async function run(sql: Db, { name }: Migration, text: string): Promise<void> {
  await sql.unsafe(text).catch((error: unknown) => {
    throw new Error(`migrations/${name} failed: ${String(error)}`, { cause: error })
  })
}

async function runStatements(sql: Db, migration: Migration, concurrently: boolean): Promise<void> {
  const text = migration.text.replaceAll(/^\s*--.*$/gm, '')
  const statements = text.split(/;[ \t]*$/m).filter((statement) => statement.trim() !== '')
  for (const statement of statements)
    await run(sql, migration, concurrently ? statement : statement.replaceAll(/\bconcurrently\b/gi, ''))
}

async function record(sql: Db, clock: Clock, { number, name, checksum }: Migration): Promise<void> {
  await sql`
    insert into schema_migrations (number, name, checksum, applied_at)
    values (${number}, ${name}, ${checksum}, ${isoTime(clock.now())})`
}

export async function appliedMigrations(sql: Db): Promise<AppliedMigration[]> {
  const [table] = await sql<{ there: boolean }[]>`select to_regclass('schema_migrations') is not null as there`
  return table!.there
    ? await sql<AppliedMigration[]>`select number, name, checksum from schema_migrations order by number`
    : []
}

/** Throws `OperatorError` for an applied migration that is unknown or has changed. */
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
 * Another cluster, or positions ahead of this one, begin a new epoch: a restored dump counts transactions anew.
 * Positions of running transactions are not ahead.
 */
async function updateInstallation(sql: Db, clock: Clock): Promise<void> {
  const [there] = await sql<{ tables: boolean }[]>`
    select to_regclass('installation') is not null and to_regclass('events') is not null as tables`
  if (!there!.tables) return
  await sql`
    insert into installation (system_identifier, created_at)
    select system_identifier::text, ${isoTime(clock.now())}
    from pg_control_system()
    on conflict do nothing`
  await sql`
    update installation
    set feed_epoch = feed_epoch + 1, system_identifier = system.system_identifier::text
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
