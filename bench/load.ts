/** The load generator process: keep-alive connections without pipelining, bounded in time and requests. */
import { createHmac } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

/**
 * `send`: a fresh recipient for each request, and a text unless `content` is set. `get`: its paths in turn. `ingest`: a
 * signed shop webhook; each `{n}` becomes a fresh number of nine digits.
 */
export interface LoadPlan {
  readonly host: string
  readonly port: number
  readonly connections: number
  readonly seconds: number
  readonly requests_max?: number
  /** Per second, at fixed times; absent: each connection repeats as soon as it is answered. */
  readonly rate?: number
  readonly keys: readonly string[]
  readonly work:
    | { readonly kind: 'send'; readonly channel: string; readonly keyed: boolean; readonly content?: object }
    | { readonly kind: 'get'; readonly paths: readonly string[] }
    | {
        readonly kind: 'ingest'
        readonly path: string
        readonly headers: Readonly<Record<string, string>>
        readonly signed: string
        readonly secret: string
        readonly body: string
      }
}

export interface LoadReport {
  readonly answers: number
  readonly refused: Readonly<Record<string, number>>
  readonly seconds: number
  readonly rate: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly max_ms: number
  readonly cpu_us: number
}

const latenciesMax = 4_000_000
const answersPerSecondMax = 60_000
const drainWithinMs = 5000
const webhooksPerSecond = 4000
const webhooksMadeMax = 12_000

interface Run {
  readonly plan: LoadPlan
  readonly ended: AbortSignal
  readonly latencies: Float32Array
  readonly refused: Record<string, number>
  readonly nextText: (n: number) => string | Buffer
  readonly idle: Connection[]
  connections: readonly Connection[]
  asked: number
  answered: number
  running: number
  closed: boolean
  warming: number
  readonly allWarm: PromiseWithResolvers<void>
  readonly report: PromiseWithResolvers<LoadReport>
  began: number
  until: number
  cpuBefore: NodeJS.CpuUsage
}

function startRun(plan: LoadPlan, ended: AbortSignal): Run {
  const expected = Math.ceil(plan.seconds * (plan.rate ?? answersPerSecondMax)) + plan.connections
  return {
    plan,
    ended,
    latencies: new Float32Array(Math.min(latenciesMax, plan.requests_max ?? latenciesMax, expected)),
    refused: {},
    nextText: requestMaker(plan),
    idle: [],
    connections: [],
    asked: 0,
    answered: 0,
    running: 0,
    closed: false,
    warming: plan.rate === undefined ? 0 : plan.connections,
    allWarm: Promise.withResolvers(),
    report: Promise.withResolvers(),
    began: 0,
    until: 0,
    cpuBefore: { user: 0, system: 0 },
  }
}

const mayAsk = ({ closed, ended, asked, plan, until }: Run): boolean =>
  !closed && !ended.aborted && asked < (plan.requests_max ?? Infinity) && performance.now() < until

function finish(run: Run): void {
  if (run.closed) return
  run.closed = true
  const { user, system } = process.cpuUsage(run.cpuBefore)
  for (const connection of run.connections) connection.socket.destroy()
  const { latencies, answered, refused, began } = run
  const measured = latencies.subarray(0, Math.min(answered, latencies.length))
  run.report.resolve(reportOf(measured, answered, refused, (performance.now() - began) / 1000, user + system))
}

function onAnswer(run: Run, connection: Connection, status: number): void {
  if (run.warming > 0) {
    if (--run.warming === 0) run.allWarm.resolve()
    return
  }
  if (run.answered < run.latencies.length) run.latencies[run.answered] = performance.now() - connection.asked_at
  run.answered += 1
  run.running -= 1
  if (status !== 202 && status !== 200) run.refused[status] = (run.refused[status] ?? 0) + 1
  if (run.plan.rate !== undefined) run.idle.push(connection)
  else if (mayAsk(run)) ask(run, connection, performance.now())
  if (run.running === 0 && !mayAsk(run)) finish(run)
}

function ask(run: Run, connection: Connection, due: number): void {
  run.asked += 1
  run.running += 1
  connection.asked_at = due
  connection.socket.write(run.nextText(run.asked), 'latin1')
}

export async function runLoad(plan: LoadPlan, ended: AbortSignal): Promise<LoadReport> {
  const run = startRun(plan, ended)
  const { promise, reject } = run.report
  run.connections = Array.from({ length: plan.connections }, () =>
    openConnection(
      plan,
      (connection, status) => onAnswer(run, connection, status),
      (error) => (run.closed ? undefined : reject(error)),
    ),
  )
  const { connections } = run
  // opening connections must not count as latency
  await Promise.race([promise, Promise.all(connections.map(({ opened }) => opened))])
  // the service opens a connection fully only at its first request
  if (plan.rate !== undefined) {
    for (const connection of connections) connection.socket.write(run.nextText(0), 'latin1')
    await Promise.race([promise, run.allWarm.promise])
  }
  run.began = performance.now()
  run.cpuBefore = process.cpuUsage()
  run.until = run.began + plan.seconds * 1000
  if (plan.rate === undefined) for (const connection of connections) ask(run, connection, performance.now())
  else {
    run.idle.push(...connections)
    keepTimetable(run, plan.rate)
  }
  setTimeout(() => finish(run), plan.seconds * 1000 + drainWithinMs).unref()
  return promise
}

function keepTimetable(run: Run, rate: number): void {
  const nextDue = () => run.began + (run.asked * 1000) / rate
  const step = () => {
    if (!mayAsk(run)) {
      if (run.running === 0) finish(run)
      return
    }
    const now = performance.now()
    for (let due = nextDue(); due <= now; due = nextDue()) {
      // in turn: the service closes idle connections after a minute
      const connection = run.idle.shift()
      if (connection === undefined) break
      ask(run, connection, due)
    }
    setTimeout(step, 1)
  }
  step()
}

interface Connection {
  readonly socket: Socket
  readonly opened: Promise<unknown>
  asked_at: number
}

function openConnection(
  plan: LoadPlan,
  onAnswer: (connection: Connection, status: number) => void,
  onError: (error: Error) => void,
): Connection {
  const socket = connect({ host: plan.host, port: plan.port, noDelay: true })
  const opened = new Promise((resolve) => socket.once('connect', resolve))
  const connection: Connection = { socket, opened, asked_at: 0 }
  let rest: Buffer | undefined
  socket.on('data', (chunk) => {
    let bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk])
    rest = undefined
    while (bytes.length > 0) {
      const head = bytes.indexOf('\r\n\r\n', 0, 'latin1')
      const length = head === -1 ? -1 : contentLength(bytes, head)
      if (head === -1 || bytes.length < head + 4 + length) {
        rest = bytes
        return
      }
      const status = (bytes[9]! - 48) * 100 + (bytes[10]! - 48) * 10 + bytes[11]! - 48
      bytes = bytes.subarray(head + 4 + length)
      onAnswer(connection, status)
    }
  })
  socket.on('error', onError)
  socket.on('close', () => onError(new Error('the service closed a connection of the load generator')))
  return connection
}

function contentLength(bytes: Buffer, head: number): number {
  const at = bytes.indexOf('ontent-', 0, 'latin1')
  if (at === -1 || at > head) return 0
  const digits = /ontent-length: *(\d+)/i.exec(bytes.toString('latin1', at, head))
  return digits === null ? 0 : Number(digits[1])
}

function requestMaker({ keys, work, port, seconds, rate }: LoadPlan): (n: number) => string | Buffer {
  const heads = keys.map((key) => `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n`)
  if (work.kind === 'get')
    return (n) => `GET ${work.paths[n % work.paths.length]!} HTTP/1.1\r\n${heads[n % heads.length]!}\r\n`
  const run = Math.random().toString(36).slice(2, 10)
  const first = Math.floor(Math.random() * 8e8)
  if (work.kind === 'ingest') {
    const make = webhookMaker(work, port, first)
    // signing is expensive, so most is done before measuring
    const made = Array.from(
      { length: Math.min(webhooksMadeMax, Math.ceil(seconds * (rate ?? webhooksPerSecond))) },
      (_, n) => Buffer.from(make(n), 'latin1'),
    )
    return (n) => made[n] ?? make(n)
  }
  const given = work.content === undefined ? undefined : JSON.stringify(work.content).slice(1, -1)
  return (n) => {
    const to = `+1${2_100_000_000 + ((first + n * 7919) % 800_000_000)}`
    const content = given ?? `"type":"text","text":{"body":"Your parcel ${n % 10} is on its way and arrives today."}`
    const body = `{"channel":"${work.channel}","to":"${to}",${content},"reference":"order-${n % 1000}","metadata":{"order":"${n % 1000}"}}`
    const key = work.keyed ? `Idempotency-Key: ${run}-${n}\r\n` : ''
    return `POST /v1/messages HTTP/1.1\r\n${heads[n % heads.length]!}Content-Type: application/json\r\n${key}Content-Length: ${body.length}\r\n\r\n${body}`
  }
}

function webhookMaker(
  { path, headers, signed, secret, body }: Extract<LoadPlan['work'], { kind: 'ingest' }>,
  port: number,
  first: number,
): (n: number) => string {
  const fixed = Object.entries({ host: `127.0.0.1:${port}`, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  const head = `POST ${path} HTTP/1.1\r\n${fixed.join('')}`.split('{n}')
  const parts = Buffer.from(body, 'utf8').toString('latin1').split('{n}')
  return (n) => {
    const number = String(100_000_000 + ((first + n * 7919) % 800_000_000))
    const fresh = parts.join(number)
    return `${head.join(number)}${signed}: ${createHmac('sha256', secret).update(fresh, 'latin1').digest('base64')}\r\nContent-Length: ${fresh.length}\r\n\r\n${fresh}`
  }
}

function reportOf(
  latencies: Float32Array,
  answers: number,
  refused: Record<string, number>,
  seconds: number,
  cpu_us: number,
): LoadReport {
  const sorted = latencies.toSorted()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return {
    answers,
    refused,
    seconds,
    rate: answers / seconds,
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    max_ms: sorted.at(-1) ?? 0,
    cpu_us,
  }
}

if (process.send !== undefined && process.argv[2] === 'child') {
  let running = new AbortController()
  process.on('message', (plan: LoadPlan | 'end') => {
    if (plan === 'end') return running.abort()
    running = new AbortController()
    runLoad(plan, running.signal).then(
      (report) => process.send!({ report }),
      (error: unknown) => process.send!({ error: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit(0))
}
