/** The measured product: its real process on an embedded database, with one account ready to send. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { nodeFlags } from '../scripts/node-flags.mjs'
import { keyHash, newKey } from '../src/modules/accounts/keys.ts'
import { openPool } from '../src/platform/database/pool.ts'
import type { Pool } from '../src/platform/database/sql.ts'
import { commandLine, posthorn, thisCheckout, type Checkout } from './checkout.ts'
import { childrenOf, countCpu, type CpuUse } from './cpu.ts'
import { databaseOf, endDatabase } from './database.ts'

const keysCount = 45
const priceMicros = 5000
const creditMicros = 1_000_000_000_000
const startWithinMs = 60_000

export interface Running extends AsyncDisposable {
  readonly pid: number
  readonly port: number
  stop(): Promise<void>
}

export interface Service extends Running {
  readonly data_dir: string
  readonly env: NodeJS.ProcessEnv
  readonly pool: Pool
  readonly database_url: string
  readonly postmaster: number
  readonly account_id: string
  readonly setup_url: string | undefined
  readonly keys: readonly string[]
  readonly channel: string
  countCpu(): () => CpuUse
}

export interface ServiceOptions {
  readonly checkout?: Checkout
  /** A file of the benchmark with arguments, in place of the checkout's command line. */
  readonly program?: readonly string[]
  readonly roles?: string
  readonly env?: Readonly<Record<string, string>>
  readonly keys?: number
  readonly node_args?: readonly string[]
}

/** Without the caller's settings, with limits that are never reached. */
export function environment(data_dir: string, more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(POSTHORN_|DATABASE_URL|REDIS_URL|HOST$|PORT$|NODE_ENV$)/.test(name),
    ),
  )
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

const started = new Set<ChildProcess>()
// an interrupted run leaves nothing running
process.on('exit', () => {
  for (const child of started) child.kill('SIGTERM')
})

/** The program prints one line of JSON when it is ready. */
export async function startProcess(
  program: string,
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd?: string },
): Promise<{ child: ChildProcess; line: Record<string, unknown>; ready_ms: number }> {
  const began = performance.now()
  const child = spawn(program, args, {
    env: options.env,
    cwd: options.cwd ?? thisCheckout.root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.add(child)
  child.once('exit', () => started.delete(child))
  const failed = once(child, 'exit').then(() =>
    Promise.reject(new Error(`${args.join(' ')} ended before it was ready`)),
  )
  const late = new Promise<never>((_, reject) =>
    setTimeout(() => reject(new Error(`${args.join(' ')} was not ready within a minute`)), startWithinMs).unref(),
  )
  for (const either of [failed, late]) either.catch(() => undefined)
  try {
    const [text] = (await Promise.race([once(createInterface(child.stdout!), 'line'), failed, late])) as [string]
    return { child, line: JSON.parse(text) as Record<string, unknown>, ready_ms: performance.now() - began }
  } catch (error) {
    await endProcess(child)
    throw error
  }
}

export const startFile = (file: string, args: readonly string[], env: NodeJS.ProcessEnv) =>
  startProcess(process.execPath, [...nodeFlags, file, ...args], { env })

export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const kill = setTimeout(() => child.kill('SIGKILL'), 12_000)
  await ended
  clearTimeout(kill)
}

export function runningOf(child: ChildProcess, port: number, pid = child.pid!): Running {
  const stop = () => endProcess(child)
  return { pid, port, stop, [Symbol.asyncDispose]: stop }
}

export async function serve(
  data_dir: string,
  options: ServiceOptions = {},
): Promise<Running & { line: Record<string, unknown> }> {
  const { checkout = thisCheckout, program, roles, node_args = [] } = options
  const args = [
    ...(program === undefined ? [commandLine(checkout)] : [...nodeFlags, ...program]),
    'serve',
    '--json',
    ...(roles === undefined ? [] : ['--roles', roles]),
  ]
  const env = {
    ...environment(data_dir, options.env),
    ...(node_args.length === 0 ? {} : { NODE_OPTIONS: node_args.join(' ') }),
  }
  const { child, line } = await startProcess(process.execPath, args, { env, cwd: checkout.root })
  // the command line starts the pinned Node as its child
  const pid = program === undefined ? (childrenOf(child.pid!)[0] ?? child.pid!) : child.pid!
  return { ...runningOf(child, Number(new URL(line['base_url'] as string).port), pid), line }
}

export async function npmStart(data_dir: string): Promise<{ ready_ms: number; stop(): Promise<void> }> {
  const program = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const { child, ready_ms } = await startProcess(program, ['start', '--silent', '--', '--json'], {
    env: environment(data_dir),
  })
  return { ready_ms, stop: () => endProcess(child) }
}

export const freshFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'posthorn-bench-'))

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  await using parts = new AsyncDisposableStack()
  const data_dir = await freshFolder()
  parts.defer(() => rm(data_dir, { recursive: true, force: true, maxRetries: 3 }))
  parts.defer(() => endDatabase(data_dir))
  const env = environment(data_dir, options.env)
  const { pid, port, line } = parts.use(await serve(data_dir, options))
  const account_id = (line['account'] as { id: string }).id
  const { url: database_url, pid: postmaster } = await databaseOf(data_dir)
  const pool = openPool(database_url, { max: 4, application_name: 'posthorn bench', statement_timeout_ms: 300_000 })
  parts.defer(() => pool.end({ timeout: 1 }))
  const checkout = options.checkout ?? thisCheckout
  await posthorn(checkout, env, ['prices', 'set', '--channel-type', 'sms', '--amount-micros', String(priceMicros)])
  await posthorn(checkout, env, ['wallet', 'credit', '--account', account_id, '--amount-micros', String(creditMicros)])
  const keys = await makeKeys(pool, line['live_key'] as string, options.keys ?? keysCount)
  const channel = await connectChannel(port, keys[0]!)
  const made = parts.move()
  const stop = () => made.disposeAsync()
  return {
    pid,
    port,
    data_dir,
    env,
    pool,
    account_id,
    setup_url: line['setup_url'] as string | undefined,
    keys,
    channel,
    database_url,
    postmaster,
    countCpu: () => countCpu(pid, postmaster),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** Copies of the first key: the command takes a second each. */
async function makeKeys(pool: Pool, first: string, count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, () => newKey('live'))
  const rows = keys.map((key, n) => ({
    id: `key_bench${n}`,
    name: `Bench ${n}`,
    hash: keyHash(key),
    last_four: key.slice(-4),
  }))
  await pool`
    insert into api_keys
    select (jsonb_populate_record(k, made)).*
    from api_keys k, jsonb_array_elements(${JSON.stringify(rows)}::text::jsonb) made
    where k.hash = ${keyHash(first)}`
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
