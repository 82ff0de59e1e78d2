/** The product under measurement: its real process on an embedded database in a folder of its own, with one account ready to send. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { nodeFlags } from '../scripts/node-flags.mjs'
import { buildApp, type App } from '../src/app.ts'
import { readConfig, secretKeys } from '../src/config.ts'
import { systemClock } from '../src/lib/clock.ts'
import { connectEmbedded } from '../src/platform/database/embedded.ts'
import { openPool } from '../src/platform/database/pool.ts'
import type { Pool } from '../src/platform/database/sql.ts'
import { makeLog } from '../src/platform/log.ts'
import { openSecrets } from '../src/platform/secrets.ts'
import { countCpu, type CpuUse } from './cpu.ts'

const root = join(import.meta.dirname, '..')
const main = join(root, 'src', 'main.ts')
const keysCount = 45
const price_micros = 5000
const credit_micros = 1_000_000_000_000
const startWithinMs = 60_000

/** A process that answers HTTP. */
export interface Running {
  readonly pid: number
  readonly port: number
  stop(): Promise<void>
}

export interface Service extends Running {
  readonly data_dir: string
  readonly env: NodeJS.ProcessEnv
  /** Milliseconds from its start until it answered. */
  readonly ready_ms: number
  /** The whole application beside the running one, without server or lanes; and the database. */
  readonly app: App
  readonly pool: Pool
  readonly database_url: string
  readonly postmaster: number
  readonly account_id: string
  /** Live keys. */
  readonly keys: readonly string[]
  /** A live channel of the simulator. */
  readonly channel: string
  /** Starts to count CPU of the service and its database. */
  countCpu(): () => CpuUse
}

export interface ServiceOptions {
  readonly roles?: string
  readonly env?: Readonly<Record<string, string>>
  /** For profiles: arguments of Node. */
  readonly node_args?: readonly string[]
}

export function environment(data_dir: string, more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(POSTHORN_|DATABASE_URL|REDIS_URL|HOST$|PORT$|NODE_ENV$)/.test(name)))
  return {
    ...inherited,
    PORT: '0',
    POSTHORN_DATA_DIR: data_dir,
    POSTHORN_LOG_LEVEL: 'warn',
    POSTHORN_SIMULATOR: 'true',
    POSTHORN_RATE_LIMIT_MESSAGES: '1000000',
    POSTHORN_RATE_LIMIT_DEFAULT: '1000000',
    ...more,
  }
}

/** Starts `node file arguments…` as the product is started, or another program, which prints one line of JSON when it is ready. */
export async function startProcess(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  program?: string,
): Promise<{ child: ChildProcess; line: Record<string, unknown>; ready_ms: number }> {
  const began = performance.now()
  const child = spawn(program ?? process.execPath, program === undefined ? [...nodeFlags, ...args] : args, {
    env,
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const failed = once(child, 'exit').then(() => Promise.reject(new Error(`${args.join(' ')} ended before it was ready`)))
  const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error(`${args.join(' ')} was not ready within a minute`)), startWithinMs).unref())
  const [text] = (await Promise.race([once(createInterface(child.stdout!), 'line'), failed, late])) as [string]
  failed.catch(() => undefined)
  late.catch(() => undefined)
  return { child, line: JSON.parse(text) as Record<string, unknown>, ready_ms: performance.now() - began }
}

export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const kill = setTimeout(() => child.kill('SIGKILL'), 12_000)
  await ended
  clearTimeout(kill)
}

/** The product's process alone; `stop` leaves its folder. */
export async function serve(data_dir: string, options: ServiceOptions = {}): Promise<Running & { ready_ms: number; line: Record<string, unknown> }> {
  const args = [...(options.node_args ?? []), main, 'serve', '--json', ...(options.roles === undefined ? [] : ['--roles', options.roles])]
  const { child, line, ready_ms } = await startProcess(args, environment(data_dir, options.env))
  return { pid: child.pid!, port: Number(new URL(line['base_url'] as string).port), ready_ms, line, stop: () => endProcess(child) }
}

/** `npm start`, as a user types it. */
export async function npmStart(data_dir: string): Promise<{ ready_ms: number; stop(): Promise<void> }> {
  const { child, ready_ms } = await startProcess(['start', '--silent', '--', '--json'], environment(data_dir), process.platform === 'win32' ? 'npm.cmd' : 'npm')
  return { ready_ms, stop: () => endProcess(child) }
}

export const freshFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'posthorn-bench-'))

/** Starts a service on a fresh folder, with an account that has a wallet, keys and a channel. `stop` removes everything. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const data_dir = await freshFolder()
  const running = await serve(data_dir, options)
  const { pid, port, ready_ms, line } = running
  const account_id = (line['account'] as { id: string }).id
  const env = environment(data_dir, options.env)
  const config = readConfig(env)
  const log = makeLog('error')
  const embedded = await connectEmbedded({ dataDir: data_dir, log })
  const pool = openPool(embedded.url, { max: 4, application_name: 'posthorn bench', statement_timeout_ms: 300_000 })
  const app = buildApp({ pool, clock: systemClock(), settings: config, secrets: await openSecrets(pool, await secretKeys(config)), log })
  const keys = await prepareAccount(app, pool, account_id)
  await app.flush()
  const channel = await connectChannel(port, keys[0]!)
  return {
    pid,
    port,
    ready_ms,
    data_dir,
    env,
    app,
    pool,
    account_id,
    keys,
    channel,
    database_url: embedded.url,
    postmaster: embedded.pid,
    countCpu: () => countCpu(pid, embedded.pid),
    async stop() {
      await running.stop()
      await pool.end({ timeout: 1 })
      await embedded.stop()
      await rm(data_dir, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

async function prepareAccount({ services: { accounts, billing } }: App, pool: Pool, account_id: string): Promise<string[]> {
  await billing.prices.setPrice(pool, null, 'sms', price_micros)
  await billing.creditWallet(pool, account_id, credit_micros, null)
  const keys: string[] = []
  for (let i = 0; i < keysCount; i++) keys.push((await accounts.createKey({ account_id, mode: 'live', name: `Bench ${i}` })).key)
  return keys
}

async function connectChannel(port: number, key: string): Promise<string> {
  const channel = await call<{ id: string }>(port, key, 'POST', '/v1/channels', {
    type: 'sms',
    provider: 'simulator',
    name: 'Bench',
    identifier: '+12025550100',
    credentials: {},
    settings: { max_messages_per_second: 100_000 },
  })
  return channel.id
}

/** One call of the API; rejects at every refusal. */
export async function call<T>(port: number, key: string, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
  return JSON.parse(text) as T
}
