/** Test databases, cloned from a template with the migrated schema. */
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
  /** The number of idle sessions that have this advisory lock. */
  idleHolders(lock: number): Promise<number>
  drop(): Promise<void>
}

const templateLock = 7_067_411_803

export async function testDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  // the runner starts one server for all files; without the runner each file starts its own
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

/** Repeats a change that PostgreSQL refuses with 55006 because a session is still connected. PostgreSQL itself waits five seconds, too short on a busy machine. */
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
      // another run has just removed it (3D000) or is still connected (55006)
      if (!['3D000', '55006'].includes(sqlState(error) ?? '') || tries > 50) throw error
    }
  }
}

const schema = once(async (): Promise<{ files: SchemaFiles; template: string }> => {
  const files = await readSchemaFiles()
  // code that writes into a new database besides the schema files
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

/** The name derives from migrations, functions and the code that applies them. The first process that needs it creates it. */
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
