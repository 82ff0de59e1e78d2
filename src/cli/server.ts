/** `posthorn serve`: runs the service until it is stopped. */
import { createServer } from 'node:net'
import type { SpanRecorder } from '../platform/observability/tracing.ts'
import { advisoryLocks } from '../platform/database/locks.ts'
import type { Command } from 'commander'
import type { App, AppParts } from '../app.ts'
import { readConfig, secretKeys, type Config } from '../config/config.ts'
import { systemClock, type Clock, type SteadyClock } from '../lib/clock.ts'
import { descriptorLimit, freePort } from '../lib/system.ts'
import { followClock, syncClock } from '../platform/database/clock-sync.ts'
import { startEmbedded, type Embedded } from '../platform/database/embedded.ts'
import { migrate } from '../platform/database/migrate.ts'
import { openPool } from '../platform/database/pool.ts'
import { refuseSharedConnections } from '../platform/database/pooler.ts'
import { OperatorError } from '../lib/operator-error.ts'
import { withinDescriptors } from '../platform/http/connections.ts'
import type { RateLimiter } from '../platform/http/rate-limit.ts'
import { makeLog, type Log } from '../platform/observability/log.ts'
import type { Metrics } from '../platform/observability/metrics.ts'
import type { Role } from '../platform/platform.ts'
import { openSecrets } from '../platform/secrets/secrets.ts'
import type { Cli } from './program.ts'

import posthorn from '../../package.json' with { type: 'json' }

/** Of 10 s in all (behaviour: command-line 2.2); the database gets the rest. */
const stopWithinMs = 8_500
const finishWithinMs = 6_500
/** For workers after the stop timed out. */
const abandonWithinMs = 500
/** Every connection plans the hot statements for itself, so few are better; each keyed request holds one. */
const poolConnections = 12
/** Longer than the pool's `statement_timeout`. */
const silenceTimeoutMs = 40_000
const sameSignalMs = 1_000

export type ServedParts = Pick<AppParts, 'projections'>

/** Ends the process at SIGTERM or SIGINT. Throws an OperatorError for what the operator can fix. */
export async function serve(cli: Cli, command: Command, roles: readonly Role[], parts: ServedParts): Promise<void> {
  const config = await withPort(readConfig(cli.terminal.env))
  const log = makeLog(config.log_level, config.log_format)
  const clock = systemClock()
  const stop = stopSignals(log, clock)
  const { embedded, buildApp, makeMetrics } = await load(config, log)
  const url = config.database_url ?? embedded!.url
  const pool = openPool(url, {
    max: poolConnections,
    application_name: 'posthorn',
    silence_timeout_ms: silenceTimeoutMs,
  })
  let stopBy: number | undefined
  try {
    if (embedded === undefined) await refuseSharedConnections(pool, clock)
    const { applied } = await migrateOnOwnPool(url, clock)
    if (applied.length > 0) log.info({ applied }, 'the database was migrated')
    await syncClock(pool, clock)
    const secrets = await openSecrets(pool, await secretKeys(config))
    const metrics = makeMetrics(true)
    embedded?.onRestarted(() => metrics.embedded_restarts.inc())
    const settings = { ...config, connection_limit: withinDescriptors(config.connection_limit, descriptorLimit(), log) }
    const app = buildApp({
      pool,
      clock,
      settings,
      secrets,
      log,
      metrics,
      roles,
      local_database: embedded !== undefined,
      ...parts,
      ...(await sharedLimits(config, clock, log, metrics)),
      ...(await recordedSpans(config, clock, log)),
    })
    try {
      await run(cli, command, app, config, stop, log)
      void followClock(pool, clock, stop, (error) => log.warn({ err: error }, 'the database did not tell its time'))
      await stopped(stop)
    } finally {
      // also after a partial start
      stopBy = clock.elapsed() + stopWithinMs
      await finish(app, log)
    }
  } finally {
    // a hanging database must not keep the process
    const closed = await inTime(clock, (stopBy ?? clock.elapsed() + stopWithinMs) - clock.elapsed(), log, async () => {
      await pool.end({ timeout: 1 })
      await embedded?.stop()
    })
    if (!closed) log.warn('the database connections did not close in time')
  }
  // open handles, such as a DNS look-up, would keep the process alive; this also flushes the log
  process.exit(0)
}

/** On a separate pool without time limits. */
async function migrateOnOwnPool(url: string, clock: Clock) {
  const pool = openPool(url, { max: 1, application_name: 'posthorn' })
  try {
    return await migrate(pool, clock)
  } finally {
    await pool.end({ timeout: 1 })
  }
}

/** Starts the database while the application loads: each takes half a second. */
async function load(config: Config, log: Log) {
  const { promise: started, resolve: onStarted } = Promise.withResolvers<void>()
  const starting: Promise<Embedded> | undefined =
    config.database_url === undefined ? startEmbedded({ dataDir: config.data_dir, log, onStarted }) : undefined
  await Promise.race([started, starting])
  const [embedded, { buildApp }, { makeMetrics }] = await Promise.all([
    starting,
    import('../app.ts'),
    import('../platform/observability/metrics.ts'),
  ])
  return { embedded, buildApp, makeMetrics }
}

async function sharedLimits(
  config: Config,
  clock: SteadyClock,
  log: Log,
  metrics: Metrics,
): Promise<{ limiter?: RateLimiter }> {
  if (config.redis_url === undefined) return {}
  const { redisRateLimiter } = await import('../platform/http/redis-rate-limit.ts')
  return { limiter: redisRateLimiter(config.redis_url, clock, log, metrics) }
}

async function recordedSpans({ traces }: Config, clock: Clock, log: Log): Promise<{ spans?: SpanRecorder }> {
  if (traces === undefined) return {}
  const { openTelemetry } = await import('../platform/observability/opentelemetry.ts')
  return { spans: openTelemetry(traces, posthorn.version, clock, log) }
}

/** On an empty database it creates the first account. */
async function run(cli: Cli, command: Command, app: App, config: Config, stop: AbortSignal, log: Log): Promise<void> {
  // a failed start could not print the keys it created, or would replace the setup link
  await freeAddress(config)
  const first = await firstAccount(app)
  const people = await consoleLinks(app, config)
  await app.start()
  await app.server.listen({ host: oneAddress(config.host), port: config.port }).catch((error: unknown) => {
    throw notListening(config, error)
  })
  // print created keys even when stopping
  if (stop.aborted && first === undefined) return
  log.info({ base_url: config.base_url }, 'listening')
  const json = { base_url: config.base_url, ...people, ...first }
  const text = `Posthorn is running at ${config.base_url}. The API reference is at ${config.base_url}/docs.\n${inLines(people)}`
  cli.print(command, { json, text: first === undefined ? text.trimEnd() : `\n${text}${welcome(config, first)}` })
}

const notListening = (config: Config, error: unknown): OperatorError =>
  new OperatorError(
    `Posthorn cannot listen on ${config.host}:${config.port}: ${(error as Error).message}. Set HOST or PORT.`,
  )

interface FirstAccount {
  readonly account: { readonly id: string; readonly name: string }
  readonly live_key: string
  readonly test_key: string
}

/** In an empty database, by one of several processes: an account with a key of each mode. */
async function firstAccount(app: App): Promise<FirstAccount | undefined> {
  const { accounts } = app.services
  if ((await accounts.list()).length > 0) return undefined
  const lock = await app.platform.pool.reserve()
  try {
    await lock`select pg_advisory_lock(${advisoryLocks.first_account})`
    if ((await accounts.list()).length > 0) return undefined
    const account = await accounts.create({ name: 'First account' })
    const live = await accounts.createKey({ account_id: account.id, mode: 'live', name: 'First live key' })
    const test = await accounts.createKey({ account_id: account.id, mode: 'test', name: 'First test key' })
    return { account: { id: account.id, name: account.name }, live_key: live.key, test_key: test.key }
  } finally {
    await lock`select pg_advisory_unlock(${advisoryLocks.first_account})`
    lock.release()
  }
}

interface ConsoleLinks {
  readonly console_url?: string
  /** Only while there is no user. */
  readonly setup_url?: string
}

async function consoleLinks(app: App, config: Config): Promise<ConsoleLinks> {
  if (!app.hasConsole) return {}
  const setup_url = await app.services.operators.offerSetup()
  return { console_url: `${config.base_url}/console`, ...(setup_url === null ? {} : { setup_url }) }
}

const inLines = ({ console_url, setup_url }: ConsoleLinks): string =>
  [
    console_url === undefined ? '' : `\nConsole  ${console_url}\n`,
    setup_url === undefined ? '' : `Set up  ${setup_url}\n`,
  ].join('')

const welcome = (config: Config, first: FirstAccount): string => `
A first account was made. Its keys are shown this once:

  live  ${first.live_key}
  test  ${first.test_key}

Send a message with the test key; nothing is delivered or billed:

  curl ${config.base_url}/v1/messages -H 'Authorization: Bearer ${first.test_key}' -H 'Content-Type: application/json' -d '{"channel":"ch_test_whatsapp","to":"+15005550006","type":"text","text":{"body":"Hello from Posthorn"}}'

Then, step by step: ${config.base_url}/docs/guides/first-message, or in TypeScript ${config.base_url}/docs/guides/typescript
`

/** Replaces port 0 by a free one. */
async function withPort(config: Config): Promise<Config> {
  if (config.port !== 0) return config
  const port = await freePort(config.host).catch((error: unknown) => {
    throw notListening(config, error)
  })
  return { ...config, port, base_url: config.base_url.replace(/:0$/, `:${port}`) }
}

/** For this name Fastify opens a second server, whose connections are not limited. */
const oneAddress = (host: string): string => (host === 'localhost' ? '127.0.0.1' : host)

/** Throws an OperatorError if it cannot listen. */
async function freeAddress(config: Config): Promise<void> {
  const probe = createServer()
  await new Promise<void>((resolve, reject) =>
    probe.once('error', reject).listen(config.port, oneAddress(config.host), resolve),
  ).catch((error: unknown) => {
    throw notListening(config, error)
  })
  await new Promise((resolve) => probe.close(resolve))
}

/** A signal within a second of the first is the same one, sent to the group and by npm. */
function stopSignals(log: Log, clock: Pick<SteadyClock, 'elapsed'>): AbortSignal {
  const stop = new AbortController()
  let first = 0
  const onSignal = (signal: NodeJS.Signals) => {
    if (!stop.signal.aborted) {
      first = clock.elapsed()
      log.info({ signal }, 'stopping: work in progress is being finished')
      stop.abort()
    } else if (clock.elapsed() - first > sameSignalMs) process.exit(1)
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  return stop.signal
}

const stopped = (stop: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (stop.aborted) resolve()
    else stop.addEventListener('abort', () => resolve(), { once: true })
  })

/** False when the work fails or times out. */
async function inTime(clock: Clock, ms: number, log: Log, work: () => Promise<void>): Promise<boolean> {
  const late = new AbortController()
  const failed = (error: unknown) => {
    log.warn({ err: error }, 'an error occurred while stopping')
    return false
  }
  return await Promise.race([work().then(() => true, failed), clock.sleep(ms, late.signal).then(() => false)]).finally(
    () => late.abort(),
  )
}

async function finish(app: App, log: Log): Promise<void> {
  const finished = await inTime(app.platform.clock, finishWithinMs, log, () => app.stop())
  if (finished) return log.info('stopped')
  log.warn('work in progress did not finish in time; it continues after the next start')
  // their database is closed next
  await inTime(app.platform.clock, abandonWithinMs, log, () => app.abandon())
}
