/** A database of one's own in milliseconds: cloned from a template that holds the migrated schema. */
import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { systemClock } from '../../src/lib/clock.ts'
import { migrate, readSchemaFiles } from '../../src/platform/database/migrate.ts'
import { sqlState, type Pool } from '../../src/platform/database/sql.ts'
import { testCluster } from './cluster.ts'
import { testPool } from './pool.ts'

export interface TestDatabase {
  readonly url: string
  /** How many of its sessions hold this advisory lock and have nothing to do. */
  idleHolders(lock: number): Promise<number>
  /** Removes it, and lets go of the server. */
  drop(): Promise<void>
}

const templateLock = 7_067_411_803

/** A fresh database with every migration applied (`empty: true`: with none). */
export async function testDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const shared = process.env['POSTHORN_TEST_DATABASE_URL']
  const own = shared === undefined ? await testCluster() : undefined
  const server = shared ?? own!.url
  const admin = testPool(server, { max: 1 })
  const name = `w_${process.pid}_${randomBytes(5).toString('hex')}`
  await clone(admin, server, name, options.empty === true)
  return {
    url: withName(server, name),
    async idleHolders(lock) {
      const [row] = await admin<{ holders: number }[]>`
        select count(distinct pid)::int as holders from pg_locks l join pg_stat_activity a using (pid)
        where l.locktype = 'advisory' and l.granted and l.classid::bigint = ${lock}::bigint >> 32 and l.objid::bigint = ${lock}::bigint & 4294967295
          and a.datname = ${name} and a.state = 'idle'`
      return row!.holders
    },
    async drop() {
      await onceLeft(() => admin.unsafe(`drop database if exists ${name} with (force)`))
      await admin.end()
      await own?.stop()
    },
  }
}

/** Repeats what is refused while somebody is still in the database (55006): the server waits five seconds for a session to leave, which may take longer on a busy machine. */
async function onceLeft(change: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return void (await change())
    } catch (error) {
      if (sqlState(error) !== '55006' || tries > 20) throw error
    }
  }
}

async function clone(admin: Pool, server: string, name: string, empty: boolean): Promise<void> {
  if (empty) return void (await admin.unsafe(`create database ${name} template template0`))
  for (let tries = 0; ; tries++) {
    const template = await ensureTemplate(admin, server)
    try {
      return void (await admin.unsafe(`create database ${name} template ${template} strategy file_copy`))
    } catch (error) {
      // another run has just removed it (3D000), or is still connected to it (55006)
      if (!['3D000', '55006'].includes(sqlState(error) ?? '') || tries > 50) throw error
    }
  }
}

/** What writes into a database besides the files of its schema. */
const writers = ['migrate.ts', 'functions.ts'].map(
  (file) => new URL(`../../src/platform/database/${file}`, import.meta.url),
)

/** Made once per set of migrations, functions and code that applies them, whoever comes first. */
async function ensureTemplate(admin: Pool, server: string): Promise<string> {
  const files = await readSchemaFiles()
  const code = await Promise.all(writers.map((file) => readFile(file, 'utf8')))
  const name = `template_${createHash('sha256')
    .update(
      [
        ...[...files.migrations, ...files.functions.functions].map((file) => `${file.name} ${file.checksum}`),
        ...code,
      ].join(),
    )
    .digest('hex')
    .slice(0, 16)}`
  if (await exists(admin, name)) return name
  await admin`select pg_advisory_lock(${templateLock})`
  try {
    if (await exists(admin, name)) return name
    const fresh = `fresh_${randomBytes(5).toString('hex')}`
    await admin.unsafe(`create database ${fresh} template template0`)
    const pool = testPool(withName(server, fresh), { max: 1 })
    try {
      await migrate(pool, systemClock(), files)
    } catch (error) {
      await pool.end()
      await onceLeft(() => admin.unsafe(`drop database ${fresh} with (force)`))
      throw error
    }
    await pool.end()
    await onceLeft(() => admin.unsafe(`alter database ${fresh} rename to ${name}`))
    return name
  } finally {
    await admin`select pg_advisory_unlock(${templateLock})`
  }
}

async function exists(admin: Pool, name: string): Promise<boolean> {
  const [row] = await admin`select 1 from pg_database where datname = ${name}`
  return row !== undefined
}

/** Removes what runs that were killed have left. */
export async function removeLeftovers(server: string): Promise<void> {
  const admin = testPool(server, { max: 1 })
  const rows = await admin<
    { datname: string }[]
  >`select datname from pg_database where datname like 'w\\_%' or datname like 'fresh\\_%'`
  for (const { datname } of rows) {
    const pid = Number(/^w_(\d+)_/.exec(datname)?.[1] ?? 0)
    if (pid > 0 && !isAlive(pid)) await onceLeft(() => admin.unsafe(`drop database if exists ${datname} with (force)`))
  }
  await admin.end()
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    // no such process
    return false
  }
}

function withName(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
