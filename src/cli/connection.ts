/** Opens the database and the service for one command. Loaded on demand, not for `--help`. */
import type { App } from '../app.ts'
import { readConfig, secretKeys, type Config } from '../config/config.ts'
import { systemClock } from '../lib/clock.ts'
import { connectEmbedded } from '../platform/database/embedded.ts'
import { migrate, missingMigrations } from '../platform/database/migrate.ts'
import { openPool } from '../platform/database/pool.ts'
import type { Pool } from '../platform/database/sql.ts'
import { makeLog } from '../platform/observability/log.ts'
import { openSecrets } from '../platform/secrets/secrets.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** With `behind` the database is not migrated. */
export async function withApp<T>(
  env: Environment,
  work: (app: App) => Promise<T>,
  behind?: (missing: readonly string[]) => T,
): Promise<T> {
  const config = readConfig(env)
  const log = makeLog('error')
  const clock = systemClock()
  const embedded =
    config.database_url === undefined ? await connectEmbedded({ dataDir: config.data_dir, log }) : undefined
  try {
    const pool = openPool(config.database_url ?? embedded!.url, { max: 3, application_name: 'posthorn command' })
    try {
      const missing = behind === undefined ? [] : await missingMigrations(pool)
      if (behind !== undefined && missing.length > 0) return behind(missing)
      await migrate(pool, clock)
      const { buildApp } = await import('../app.ts')
      const app = buildApp({
        pool,
        clock,
        settings: config,
        secrets: await openSecrets(pool, await secretKeys(config)),
        log,
        roles: [],
      })
      // notify running processes
      try {
        const result = await work(app)
        await app.flush()
        return result
      } finally {
        await app.services.channels.close()
      }
    } finally {
      await pool.end({ timeout: 5 })
    }
  } finally {
    await embedded?.stop()
  }
}

export async function withDatabase<T>(env: Environment, work: (pool: Pool, config: Config) => Promise<T>): Promise<T> {
  const config = readConfig(env)
  const embedded =
    config.database_url === undefined
      ? await connectEmbedded({ dataDir: config.data_dir, log: makeLog('error') })
      : undefined
  const pool = openPool(config.database_url ?? embedded!.url, { max: 2, application_name: 'posthorn command' })
  try {
    return await work(pool, config)
  } finally {
    await pool.end({ timeout: 5 })
    await embedded?.stop()
  }
}

export async function migrateConfigured(env: Environment) {
  return await withDatabase(env, (pool) => migrate(pool, systemClock()))
}
