/** The API without workers, with its own database and the real clock. */
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { buildApp, type App } from '../../src/app.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Tenant } from '../../src/api/caller.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Pool } from '../../src/platform/database/sql.ts'
import { makeLog } from '../../src/platform/observability/log.ts'
import { openSecrets } from '../../src/platform/secrets/secrets.ts'
import { apiClient, type Api } from './api.ts'
import { closing } from './closing.ts'
import { testDatabase } from './database.ts'
import { testPool } from './pool.ts'
import { testSecretKeys } from './world.ts'

export interface ApiAlone {
  readonly app: App
  readonly pool: Pool
  readonly database_url: string
  readonly api: Api
  readonly tenant: Tenant
}

export async function startApiAlone(
  t: TestContext,
  environment: Readonly<Record<string, string>>,
  credit_micros: number,
): Promise<ApiAlone> {
  const database = await testDatabase()
  closing(t, () => database.drop())
  const pool = testPool(database.url, { max: 6, application_name: 'test' })
  closing(t, () => pool.end({ timeout: 1 }))
  const settings = { ...readConfig(environment), rate_limit_default: 1_000_000 }
  const app = buildApp({
    pool,
    clock: systemClock(),
    settings,
    secrets: await openSecrets(pool, testSecretKeys),
    log: makeLog('error'),
    roles: ['api'],
  })
  await app.start()
  closing(t, () => app.stop())
  await app.server.listen({ host: '127.0.0.1', port: 0 })
  const { accounts, billing } = app.services
  const account = await accounts.create({ name: 'Shop' })
  await billing.creditWallet(pool, account.id, credit_micros, null)
  const { key } = await accounts.createKey({ account_id: account.id, mode: 'live' })
  const api = apiClient(`http://127.0.0.1:${(app.server.server.address() as AddressInfo).port}`, key)
  return {
    app,
    pool,
    database_url: database.url,
    api,
    tenant: { account_id: account.id as Tenant['account_id'], mode: 'live' },
  }
}
