/** The application of this checkout on a service's database, without server or workers. */
import { buildApp, type App } from '../src/app.ts'
import { readConfig, secretKeys } from '../src/config/config.ts'
import { systemClock } from '../src/lib/clock.ts'
import { makeLog } from '../src/platform/observability/log.ts'
import { openSecrets } from '../src/platform/secrets/secrets.ts'
import type { Service } from './service.ts'

export async function openApplication({ env, pool }: Pick<Service, 'env' | 'pool'>): Promise<App> {
  const config = readConfig(env)
  return buildApp({
    pool,
    clock: systemClock(),
    settings: config,
    secrets: await openSecrets(pool, await secretKeys(config)),
    log: makeLog('error'),
  })
}
