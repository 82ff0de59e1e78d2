/** A world for one test: a database of its own, a clock in hand, ids by a seed, and the whole service on a real port. Helpers return data; tests assert. */
import { tracing } from '../../src/platform/observability/tracing.ts'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import type { App, Services } from '../../src/app.ts'
import type { Mode } from '../../src/api/caller.ts'
import type { Scope } from '../../src/api/scopes.ts'
import { buildModules, type Module, type ModuleContext, type ModuleParts } from '../../src/module.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Provider } from '../../src/providers/provider.ts'
import type { ProducerFragment } from '../../src/modules/messages/accept/producers.ts'
import type { Projection } from '../../src/modules/messages/projections.ts'
import { idMaker } from '../../src/lib/ids.ts'
import { advisoryLocks } from '../../src/platform/database/locks.ts'
import { readPool } from '../../src/platform/database/read-pool.ts'
import { makeMetrics } from '../../src/platform/observability/metrics.ts'
import { retentionClock } from '../../src/platform/jobs/retention-clock.ts'
import { writeHealth, writeHealthWorker } from '../../src/platform/database/failures.ts'
import { roles, type Platform } from '../../src/platform/platform.ts'
import { domainEvents } from '../../src/platform/events/domain-events.ts'
import { recentEvents } from '../../src/platform/events/recent-events.ts'
import { openSecrets } from '../../src/platform/secrets/secrets.ts'
import type { Settings } from '../../src/config/settings.ts'
import type { Pool } from '../../src/platform/database/sql.ts'
import { apiClient, type Api } from './api.ts'
import { closing } from './closing.ts'
import { fakeClock, type FakeClock } from './clock.ts'
import { testDatabase, type TestDatabase } from './database.ts'
import { testPool } from './pool.ts'
import { seeded, type Random } from './random.ts'
import { receiverHost, type Receiver } from './receiver.ts'
import { watchIdle, type IdleWatch } from './idle-watch.ts'
import { until, within } from './waiting.ts'

export interface PlatformOptions {
  /** Of ids and of everything else random; by default the test's name. */
  readonly seed?: string | number
  readonly settings?: Partial<Settings>
  /** Where the service listens; by default on a free port. */
  readonly port?: number
  /** Who follows what becomes of messages, in every process of the world. */
  readonly projections?: readonly Projection[]
  /** Who submits messages with rows of its own, in every process of the world. */
  readonly producers?: readonly ProducerFragment[]
  /** Providers beside the product's, in every process of the world. */
  readonly providers?: readonly Provider[]
  /** One that is there already, which the world drops at its end; by default a fresh one. */
  readonly database?: TestDatabase
}

export interface PlatformWorld {
  readonly platform: Platform
  readonly pool: Pool
  readonly clock: FakeClock
  /** How time goes on while something is done that waits for it. */
  readonly idleWatch: IdleWatch
  readonly random: Random
  /** The workers woken since the last look. */
  readonly woken: string[]
  /** Where a second process would connect. */
  readonly database_url: string
  readonly projections: readonly Projection[]
  readonly producers: readonly ProducerFragment[]
  readonly providers: readonly Provider[]
  /** A recording server whose host may be called by webhooks. */
  receiver(): Receiver
}

/** The secret keys of every world. */
export const testSecretKeys = { current: Buffer.alloc(32, 7).toString('base64'), previous: [] }

/** The platform alone: for tests of stores and services below the app. All of it ends with the test. */
export async function startPlatform(t: TestContext, options: PlatformOptions = {}): Promise<PlatformWorld> {
  const clock = fakeClock()
  const random = seeded(options.seed ?? t.name)
  const host = await receiverHost()
  closing(t, () => host.close())
  const database = options.database ?? (await testDatabase())
  closing(t, () => database.drop())
  const pool = testPool(database.url, { max: 10, application_name: 'test' })
  closing(t, () => pool.end({ timeout: 1 }))
  const woken: string[] = []
  const metrics = makeMetrics()
  // made by what is first to write there
  const data_dir = join(tmpdir(), `posthorn-test-${process.pid}-${randomUUID()}`)
  closing(t, () => rm(data_dir, { recursive: true, force: true }))
  const settings = { ...testSettings, data_dir, webhook_allowed_hosts: [host.host], ...options.settings }
  const reads = readPool({ pool, clock, metrics, connections: settings.read_connections, local: false })
  closing(t, () => reads.close())
  const log = pino({ level: 'silent' })
  const platform: Platform = {
    pool,
    reads,
    clock,
    ids: idMaker(clock, random.fill),
    settings,
    secrets: await openSecrets(pool, testSecretKeys),
    log,
    metrics,
    domain_events: domainEvents(),
    recent_events: recentEvents(),
    tracing: tracing(undefined),
    retention_clock: retentionClock({ pool, clock, log, wakePeers: () => void woken.push('heartbeat') }),
    storage: writeHealth({ pool, log, wake: () => void woken.push(writeHealthWorker) }),
    process_id: `process_${random.below(1e9)}`,
    notify: (...workers) => void woken.push(...workers),
    wake: (...workers) => void woken.push(...workers),
  }
  const idleWatch = watchIdle(clock, pool, () => database.idleHolders(advisoryLocks.processes))
  return {
    platform,
    pool,
    clock,
    idleWatch,
    random,
    woken,
    database_url: database.url,
    projections: options.projections ?? [],
    producers: options.producers ?? [],
    providers: options.providers ?? [],
    receiver: () => host.receiver(),
  }
}

/** One module alone on the platform of a test; `services` are those of the modules before it that it needs. */
export function buildModule<Needs extends object, Services extends object>(
  { platform, providers, producers, projections }: PlatformWorld,
  module: Module<Needs, Services>,
  services: Needs,
): ModuleParts<Services> {
  const contributions = { providers, producers, projections, sendTimes: [] }
  const context: ModuleContext = { platform, roles, alone: () => false, contributions }
  return buildModules([module], context, services).built[0] as unknown as ModuleParts<Services>
}

export interface World extends PlatformWorld {
  readonly app: App
  readonly services: Services
  /** Without `/v1`. */
  readonly base_url: string
  /** Speaks with this key; without one, with none. `world.api(account)` takes what `world.account` returned. */
  api(key?: string | { readonly key: string }): Api
  /** A new account with a key. */
  account(options?: AccountOptions): Promise<TestAccount>
  /** One pass of each of these workers, in order, at this very moment; resolves to the number of jobs worked on. */
  tick(...workers: string[]): Promise<number>
  /** As `tick`, for work that waits for a hanging peer: the clock advances whenever nothing else happens. */
  tickWhileTimePasses(...workers: string[]): Promise<number>
  /** Passes of these workers, by default of all but heartbeat and periodic jobs, until none finds work. */
  settle(...workers: string[]): Promise<void>
  /** Stops the service in order, while time goes on. The end of the test does so as well. */
  stop(): Promise<void>
  /** Runs every periodic job once, whether due or not. */
  periodicJobs(): Promise<void>
  /** Proves what `posthorn doctor` proves; fails with the first breaches. */
  invariants(): Promise<void>
}

export interface AccountOptions {
  /** Default: test. */
  readonly mode?: Mode
  readonly name?: string
  readonly credit_micros?: number
  /** Default: all. */
  readonly scopes?: readonly Scope[]
  readonly ip_allowlist?: readonly string[]
}

export interface TestAccount {
  readonly id: string
  readonly mode: Mode
  readonly key: string
  readonly key_id: string
  readonly api: Api
}

/** The transaction id within the position of an event. */
const xidMask = 2 ** 48 - 1
const maintenanceWorkers = ['heartbeat', 'periodic-jobs', 'storage']

/** The whole service on a port of 127.0.0.1, its workers at rest: `tick` and `settle` move them. All of it ends with the test. */
export async function startWorld(t: TestContext, options: PlatformOptions = {}): Promise<World> {
  // loaded here, so that a fault in one feature fails the tests that need the whole, not those of the platform
  const { buildApp } = await import('../../src/app.ts')
  const parts = await startPlatform(t, options)
  const { pool, clock, platform, woken } = parts
  const { settings, secrets, log, ids } = platform
  const { projections, producers, providers } = parts
  const app = buildApp({
    pool,
    clock,
    settings,
    secrets,
    log,
    ids,
    process_id: platform.process_id,
    projections,
    producers,
    providers,
  })
  parts.idleWatch.pools.add(app.platform.reads.pool)
  parts.idleWatch.ingests.add(app.services.ingest)
  await app.server.listen({ host: '127.0.0.1', port: options.port ?? 0 })
  let stopped: Promise<void> | undefined
  const stop = () => (stopped ??= parts.idleWatch.whileTimePasses(() => app.stop(), 100))
  closing(t, stop)
  const base_url = `http://127.0.0.1:${(app.server.server.address() as AddressInfo).port}`
  const api = (key?: string | { key: string }) =>
    apiClient(base_url, typeof key === 'object' ? key.key : key, async (path) => {
      if (path.startsWith('/v1/events')) await feedIsComplete(pool)
    })
  const tick = async (...workers: string[]) => {
    let jobs = 0
    for (const worker of workers) jobs += await within(`a pass of ${worker}`, app.worker(worker).tick())
    return jobs
  }
  const allWorkers = app.workers.map((worker) => worker.name).filter((name) => !maintenanceWorkers.includes(name))
  return {
    ...parts,
    woken,
    platform: app.platform,
    app,
    services: app.services,
    base_url,
    api,
    tick,
    account: (wanted = {}) => makeAccount(app, api, wanted),
    tickWhileTimePasses: (...workers) => parts.idleWatch.whileTimePasses(() => tick(...workers)),
    async settle(...workers) {
      const names = workers.length > 0 ? workers : allWorkers
      await until(
        `${names.join(', ')} to find no more work`,
        () => tick(...names),
        (jobs) => jobs === 0,
      )
    },
    stop,
    async periodicJobs() {
      for (const periodicJob of app.periodicJobs) await periodicJob.run()
    },
    invariants: () => proveInvariants(app),
  }
}

/**
 * Resolves once the event feed shows all that was written: it holds back what lies above the oldest transaction of the whole server, and those of
 * other tests are on it too. What a transaction of this database holds back stays so, unless it is autovacuum's, which no test begins.
 */
async function feedIsComplete(pool: Pool): Promise<void> {
  await until(
    'transactions elsewhere on the server to let go of the event feed',
    async () => {
      const [row] = await pool<{ held_back: boolean }[]>`
        select exists (
          select from pg_stat_activity
          where (datname is distinct from current_database() or backend_type = 'autovacuum worker')
            and backend_xid::text::bigint <= (select max(position) & ${xidMask} from events)
        ) as held_back`
      return row!.held_back
    },
    (held_back) => !held_back,
  )
}

async function makeAccount(app: App, api: World['api'], options: AccountOptions): Promise<TestAccount> {
  const { accounts, billing } = app.services
  const mode = options.mode ?? 'test'
  const account = await accounts.create({ name: options.name ?? 'Test account' })
  if (options.credit_micros !== undefined)
    await billing.creditWallet(app.platform.pool, account.id, options.credit_micros, null)
  const key = await accounts.createKey({
    account_id: account.id,
    mode,
    ...(options.scopes === undefined ? {} : { scopes: options.scopes }),
    ...(options.ip_allowlist === undefined ? {} : { ip_allowlist: options.ip_allowlist }),
  })
  return { id: account.id, mode, key: key.key, key_id: key.id, api: api(key.key) }
}

/** All of them in one snapshot, as `doctor` does. */
async function proveInvariants(app: App): Promise<void> {
  const breaches = await app.platform.pool.begin('isolation level repeatable read read only', async (sql) => {
    const found: string[] = []
    for (const invariant of app.invariants)
      found.push(...(await invariant.breaches(sql)).map((breach) => `${invariant.name}: ${breach}`))
    return found
  })
  assert.deepEqual(breaches, [])
}

/** The defaults of the service, but for what would only be in the way. */
const testSettings: Settings = {
  ...readConfig({ POSTHORN_SIMULATOR: 'true' }),
  rate_limit_messages: 1_000_000,
  rate_limit_default: 1_000_000,
}
