/** Rounds of sending: rate, CPU and the end of all consequences. */
import { setTimeout as delay } from 'node:timers/promises'
import { countCpu } from './cpu.ts'
import type { Driver } from './drive.ts'
import { median } from './figures.ts'
import type { LoadReport } from './load.ts'
import { receivedAll, startReceiver, type Receiver } from './receiver.ts'
import { call, startService, type Running, type Service, type ServiceOptions } from './service.ts'

const pollMs = 40
const deliveredWithinMs = 60_000
/** A round also counts the CPU used in this time after its last delivery. */
const trailMs = 250

export interface Load {
  readonly seconds: number
  readonly messages?: number
  /** Messages a second; absent: closed loop. */
  readonly rate?: number
  readonly connections?: number
  readonly keyed?: boolean
  readonly content?: object
}

export interface Round extends LoadReport {
  /** Microseconds per answer. */
  readonly node_us: number
  readonly postgres_us: number
}

export const connections = 64

/** Measured until the last answer. */
export async function sendRound(driver: Driver, service: Service, server: Running, load: Load): Promise<Round> {
  const counted = countCpu(server.pid, service.postmaster)
  const report = await send(driver, service, server, load)
  const { node_us, postgres_us } = counted()
  return { ...report, node_us: node_us / report.answers, postgres_us: postgres_us / report.answers }
}

const send = (driver: Driver, { keys, channel }: Service, { port }: Running, load: Load): Promise<LoadReport> =>
  driver.run({
    host: '127.0.0.1',
    port,
    connections: load.connections ?? connections,
    seconds: load.seconds,
    keys,
    work: {
      kind: 'send',
      channel,
      keyed: load.keyed === true,
      ...(load.content === undefined ? {} : { content: load.content }),
    },
    ...(load.messages === undefined ? {} : { requests_max: load.messages }),
    ...(load.rate === undefined ? {} : { rate: load.rate }),
  })

export const medianOf = (
  rounds: readonly Round[],
  field: 'rate' | 'p50_ms' | 'p99_ms' | 'node_us' | 'postgres_us' | 'cpu_us',
): number => median(rounds.map((round) => round[field]))

export interface Path {
  readonly title: string
  readonly roles?: string
  readonly connections: number
  readonly delivers: boolean
  readonly endpoints: number
}

export const paths = {
  accept: { title: 'Accepting messages', roles: 'api', connections, delivers: false, endpoints: 0 },
  dispatch: { title: 'Dispatch: accepted to delivered', connections: 256, delivers: true, endpoints: 0 },
  cycle: { title: 'Full life cycle with two webhook endpoints', connections, delivers: true, endpoints: 2 },
} as const satisfies Record<string, Path>

export type PathName = keyof typeof paths

export interface PathService extends AsyncDisposable {
  readonly path: Path
  readonly service: Service
  readonly receiver: Receiver | undefined
}

export async function startPath(path: Path, options: ServiceOptions = {}): Promise<PathService> {
  await using parts = new AsyncDisposableStack()
  const receiver = path.endpoints === 0 ? undefined : parts.use(await startReceiver())
  const service = parts.use(
    await startService({
      ...options,
      ...(path.roles === undefined ? {} : { roles: path.roles }),
      env: { ...options.env, ...(receiver === undefined ? {} : allowing(receiver)) },
    }),
  )
  for (let i = 0; i < path.endpoints; i++) await makeEndpoint(service, receiver!.url, ['message.delivered'])
  const made = parts.move()
  return { path, service, receiver, [Symbol.asyncDispose]: () => made.disposeAsync() }
}

export const allowing = (receiver: Receiver) => ({ POSTHORN_WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}` })

export const makeEndpoint = (service: Service, url: string, events: readonly string[]) =>
  call(service.port, service.keys[0]!, 'POST', '/v1/webhook_endpoints', { url, events })

export interface PathRound {
  readonly messages: number
  /** Messages a second, from the first request to the end of the last message. */
  readonly rate: number
  readonly offered: number
  /** Microseconds per message, including `trailMs`. */
  readonly node_us: number
  readonly postgres_us: number
  readonly load_us: number
  /** Age of events on arrival; 0 without endpoints. */
  readonly lag_p50_ms: number
  readonly lag_p99_ms: number
}

export async function pathRound(
  driver: Driver,
  { path, service, receiver }: PathService,
  load: Load,
): Promise<PathRound> {
  await receiver?.clear()
  const counted = service.countCpu()
  const began = performance.now()
  const {
    answers,
    rate: offered,
    cpu_us,
  } = await send(driver, service, service, { connections: path.connections, ...load })
  const received = receiver === undefined ? undefined : await receivedAll(receiver, answers * path.endpoints)
  if (path.delivers) await delivered(service)
  const seconds = (performance.now() - began) / 1000
  await delay(trailMs)
  const { node_us, postgres_us } = counted()
  return {
    messages: answers,
    rate: answers / seconds,
    offered,
    node_us: node_us / answers,
    postgres_us: postgres_us / answers,
    load_us: cpu_us / answers,
    lag_p50_ms: received?.p50_ms ?? 0,
    lag_p99_ms: received?.p99_ms ?? 0,
  }
}

/** Uses the API, whose counts are up to date at every commit. */
export async function delivered(service: Service): Promise<void> {
  const until = performance.now() + deliveredWithinMs
  for (const status of ['queued', 'sending', 'sent']) {
    while (await hasMessage(service, status)) {
      if (performance.now() > until) throw new Error(`messages were still ${status} a minute after the last request`)
      await delay(pollMs)
    }
  }
}

async function hasMessage({ port, keys }: Service, status: string): Promise<boolean> {
  const page = await call<{ data: unknown[] }>(port, keys[0]!, 'GET', `/v1/messages?status=${status}&limit=1`)
  return page.data.length > 0
}
