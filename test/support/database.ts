/** Databases for tests: clones of a template that holds the migrated schema. */
import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { systemClock } from '../../src/lib/clock.ts'
import { once } from '../../src/lib/concurrency.ts'
import { migrate, readSchemaFiles, type SchemaFiles } from '../../src/platform/database/migrate.ts'
import { sqlState, type Pool } from '../../src/platform/database/sql.ts'
import { testCluster } from './cluster.ts'
import { testPool } from './pool.ts'

export interface TestDatabase {
  readonly url: string
  /** Counts its idle sessions that hold this advisory lock. */
  idleHolders(lock: number): Promise<number>
  /** Removes it and disconnects from the server. */
  drop(): Promise<void>
}

const templateLock = 7_067_411_803

/** A fresh database with every migration applied (`empty: true`: with none). */
export async function testDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  // the runner starts one server for all files; a file that runs without the runner starts its own
  const shared = process.env['POSTHORN_TEST_DATABASE_URL']
  const own = shared === undefined ? await testCluster() : undefined
  const url = shared ?? own!.url
  const admin = testPool(url, { max: 1 })
  const name = `w_${process.pid}_${randomBytes(5).toString('hex')}`
  try {
    if (options.empty === true) await admin.unsafe(`create database ${name} template template0`)
    else await clone(admin, url, name)
  } catch (error) {
    await admin.end()
    await own?.stop()
    throw error
  }
  return {
    url: withName(url, name),
    async idleHolders(lock) {
      const [row] = await admin<{ holders: number }[]>`
        select count(distinct pid)::int as holders from pg_locks l join pg_stat_activity a using (pid)
        where l.locktype = 'advisory' and l.granted and l.classid::bigint = ${lock}::bigint >> 32 and l.objid::bigint = ${lock}::bigint & 4294967295
          and a.datname = ${name} and a.state = 'idle'`
      return row!.holders
    },
    drop: once(async () => {
      try {
        await whenUnused(() => admin.unsafe(`drop database if exists ${name} with (force)`))
      } finally {
        await admin.end()
        await own?.stop()
      }
    }),
  }
}

/** Repeats a change that PostgreSQL refuses while a session is still connected (55006): it waits five seconds for a session to end, which may take longer on a busy machine. */
async function whenUnused(change: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return void (await change())
    } catch (error) {
      if (sqlState(error) !== '55006' || tries > 20) throw error
    }
  }
}

async function clone(admin: Pool, url: string, name: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const template = await ensureTemplate(admin, url)
    try {
      return void (await admin.unsafe(`create database ${name} template ${template} strategy file_copy`))
    } catch (error) {
      // another run has just removed it (3D000), or is still connected to it (55006)
      if (!['3D000', '55006'].includes(sqlState(error) ?? '') || tries > 50) throw error
    }
  }
}

const schema = once(async (): Promise<{ files: SchemaFiles; template: string }> => {
  const files = await readSchemaFiles()
  // what writes into a database besides the files of its schema
  const code = await Promise.all(
    ['migrate.ts', 'functions.ts'].map((file) =>
      readFile(new URL(`../../src/platform/database/${file}`, import.meta.url), 'utf8'),
    ),
  )
  const parts = [
    ...[...files.migrations, ...files.functions.functions].map((file) => `${file.name} ${file.checksum}`),
    ...code,
  ]
  return { files, template: `template_${createHash('sha256').update(parts.join()).digest('hex').slice(0, 16)}` }
})

/** Its name depends on the migrations, the functions and the code that applies them; the first process that needs it makes it. */
async function ensureTemplate(admin: Pool, url: string): Promise<string> {
  const { files, template } = await schema()
  if (await exists(admin, template)) return template
  await admin`select pg_advisory_lock(${templateLock})`
  try {
    if (await exists(admin, template)) return template
    const fresh = `fresh_${randomBytes(5).toString('hex')}`
    await admin.unsafe(`create database ${fresh} template template0`)
    const pool = testPool(withName(url, fresh), { max: 1 })
    try {
      await migrate(pool, systemClock(), files)
    } catch (error) {
      await pool.end()
      await whenUnused(() => admin.unsafe(`drop database ${fresh} with (force)`))
      throw error
    }
    await pool.end()
    await whenUnused(() => admin.unsafe(`alter database ${fresh} rename to ${template}`))
    return template
  } finally {
    await admin`select pg_advisory_unlock(${templateLock})`
  }
}

async function exists(admin: Pool, name: string): Promise<boolean> {
  const [row] = await admin`select 1 from pg_database where datname = ${name}`
  return row !== undefined
}

function withName(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
