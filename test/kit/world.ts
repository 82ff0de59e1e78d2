/** A world for one test: a database of its own, a clock in hand, ids by a seed, and the parts of the platform. */
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { idMaker } from '../../src/lib/ids.ts'
import { openPool } from '../../src/platform/database/pool.ts'
import { makeMetrics } from '../../src/platform/metrics.ts'
import type { Platform } from '../../src/platform/platform.ts'
import { reactions } from '../../src/platform/reactions.ts'
import { openSecrets } from '../../src/platform/secrets.ts'
import type { Settings } from '../../src/platform/settings.ts'
import type { Pool } from '../../src/platform/database/sql.ts'
import { fakeClock, type FakeClock } from './clock.ts'
import { testDatabase } from './database.ts'
import { seeded, type Random } from './random.ts'
import { receiverHost, type Receiver } from './receiver.ts'

export interface PlatformOptions {
  /** Of ids and of everything else random; by default the test's name. */
  readonly seed?: string | number
  readonly settings?: Partial<Settings>
}

export interface PlatformWorld {
  readonly platform: Platform
  readonly pool: Pool
  readonly clock: FakeClock
  readonly random: Random
  /** The lanes woken since the last look. */
  readonly woken: string[]
  /** Where a second process would connect. */
  readonly database_url: string
  /** A recording server whose host may be called by webhooks. */
  receiver(): Receiver
}

/** The platform alone: for tests of stores and services below the app. All of it ends with the test. */
export async function startPlatform(t: TestContext, options: PlatformOptions = {}): Promise<PlatformWorld> {
  const clock = fakeClock()
  const random = seeded(options.seed ?? t.name)
  const host = await receiverHost()
  t.after(() => host.close())
  const database = await testDatabase()
  t.after(() => database.drop())
  const pool = openPool(database.url, { max: 10, application_name: 'test' })
  t.after(() => pool.end({ timeout: 1 }))
  const woken: string[] = []
  const platform: Platform = {
    pool,
    clock,
    ids: idMaker(clock, random.fill),
    settings: { ...testSettings, webhook_allowed_hosts: [host.host], ...options.settings },
    secrets: await openSecrets(pool, { current: Buffer.alloc(32, 7).toString('base64'), previous: [] }),
    log: pino({ level: 'silent' }),
    metrics: makeMetrics(),
    reactions: reactions(),
    process_id: `process_${random.below(1e9)}`,
    wake: (...lanes) => void woken.push(...lanes),
  }
  return { platform, pool, clock, random, woken, database_url: database.url, receiver: () => host.receiver() }
}

const testSettings: Settings = {
  base_url: 'http://127.0.0.1:8080',
  rate_limit_messages: 1_000_000,
  rate_limit_default: 1_000_000,
  contact_limit: 1_000_000,
  campaign_recipient_limit: 1_000_000,
  import_bytes_max: 50 * 1024 * 1024,
  webhook_endpoint_limit: 500,
  webhook_timeout_ms: 10_000,
  webhook_disable_after: 50,
  webhook_retry_delays: [30, 120, 600, 3600, 21_600, 86_400, 86_400],
  webhook_allowed_hosts: [],
  trusted_proxies: [],
  smtp_url: undefined,
  opt_out_keywords: ['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'OPTOUT', 'OPT-OUT', 'REVOKE', 'REMOVE', 'ARRET'],
  opt_in_keywords: ['START', 'YES', 'UNSTOP'],
  help_keywords: ['HELP', 'INFO'],
  simulator: true,
}
