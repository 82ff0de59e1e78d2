/** Two API and two worker processes, with PostgreSQL, Redis and a simulated Twilio. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { systemClock } from '../../src/lib/clock.ts'
import type { Pool } from '../../src/platform/database/sql.ts'
import { closing } from './closing.ts'
import { testDatabase } from './database.ts'
import { ownPort } from './own-port.ts'
import { testPool } from './pool.ts'
import { serviceProcess, type ServiceProcess } from './service.ts'
import { simulateTwilio, type TwilioSimulator } from './simulators/twilio.ts'
import { tcpLine, type TcpLine } from './tcp-line.ts'
import { until, within } from './waiting.ts'
import { testSecretKeys } from './world.ts'

const program = ['/usr/bin/redis-server', '/usr/local/bin/redis-server'].find((path) => existsSync(path))
/** In CI a missing Redis fails instead. */
export const skipWithoutRedis =
  program === undefined && process.env['CI'] === undefined && 'needs Redis (Debian: `apt install redis-server`)'

const account_sid = 'AC0123456789abcdef0123456789abcdef'
const auth_token = 'f00dfeedf00dfeedf00dfeedf00dfeed'
const numberOf = (n: number): string => `+1415555${String(100 + n).padStart(4, '0')}`
const channelsMax = 8

export interface Fleet {
  readonly apis: readonly [ServiceProcess, ServiceProcess]
  readonly workers: readonly [ServiceProcess, ServiceProcess]
  readonly line: TcpLine
  readonly pool: Pool
  readonly twilio: TwilioSimulator
  account(credit_micros: number): Promise<{ id: string; key: string }>
  channels(key: string, count: number, per_second: number): Promise<string[]>
  command: ServiceProcess['command']
}

export async function startFleet(t: TestContext, settings: Readonly<Record<string, string>>): Promise<Fleet> {
  const database = await testDatabase()
  closing(t, () => database.drop())
  const pool = testPool(database.url, { max: 2, application_name: 'test' })
  closing(t, () => pool.end({ timeout: 1 }))
  const numbers = Array.from({ length: channelsMax }, (_, n) => numberOf(n))
  const twilio = await simulateTwilio(t, { account_sid, auth_token, numbers, now: () => systemClock().now() })
  const server = new URL(database.url)
  const line = await tcpLine(t, { host: server.hostname, port: Number(server.port) })
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-fleet-'))
  closing(t, () => rmSync(folder, { recursive: true, force: true }))
  const shared = {
    DATABASE_URL: database.url,
    REDIS_URL: await startRedis(t, folder),
    POSTHORN_SECRET_KEY: testSecretKeys.current,
    POSTHORN_TWILIO_URL: twilio.url,
    POSTHORN_LOG_LEVEL: 'error',
    ...settings,
  }
  const throughLine = Object.assign(new URL(database.url), { host: `127.0.0.1:${line.port}` }).href
  const begin = async (role: 'api' | 'worker', DATABASE_URL = database.url) => {
    const service = await serviceProcess(join(folder, 'data'), { ...shared, DATABASE_URL }, undefined, [
      '--roles',
      role,
    ])
    closing(t, () => service.kill('service'))
    return service
  }
  const apis = [await begin('api'), await begin('api')] as const
  const workers = [await begin('worker'), await begin('worker', throughLine)] as const
  await Promise.all([...apis, ...workers].map((service) => service.start()))
  const { command } = apis[0]
  return {
    apis,
    workers,
    line,
    pool,
    twilio,
    command,
    async account(credit_micros) {
      const { id } = JSON.parse(printed(await command('accounts', 'create', '--name', 'Shop', '--json'))) as {
        id: string
      }
      printed(await command('wallet', 'credit', '--account', id, '--amount-micros', String(credit_micros)))
      const made = await command('keys', 'create', '--account', id, '--mode', 'live', '--scopes', 'all', '--json')
      const { key } = JSON.parse(printed(made)) as { key: string }
      return { id, key }
    },
    channels: (key, count, per_second) =>
      Promise.all(numbers.slice(0, count).map((number) => connectChannel(apis[0], key, number, per_second))),
  }
}

async function connectChannel(
  api: ServiceProcess,
  key: string,
  identifier: string,
  max_messages_per_second: number,
): Promise<string> {
  const credentials = { account_sid, auth_token }
  const channel = {
    type: 'sms',
    provider: 'twilio',
    name: identifier,
    identifier,
    credentials,
    settings: { max_messages_per_second },
  }
  const { status, body } = await api.api(key).post('/v1/channels', channel)
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.id
}

export function printed({ status, stdout, stderr }: { status: number | null; stdout: string; stderr: string }): string {
  if (status !== 0) throw new Error(stderr)
  return stdout
}

async function startRedis(t: TestContext, folder: string): Promise<string> {
  const port = await ownPort()
  const child = spawn(
    program!,
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder],
    { stdio: 'ignore' },
  )
  closing(t, async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await within('Redis to end', once(child, 'exit'))
  })
  await until('Redis to listen', () => listens(port), Boolean)
  return `redis://127.0.0.1:${port}`
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
