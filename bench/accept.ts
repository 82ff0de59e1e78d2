/** Accepting: one account, one wallet, 45 keys, 64 connections, every answer committed to disk; beside servers that store nothing or commit each message by itself. */
import { countCpu } from './cpu.ts'
import { startDriver, type Driver } from './drive.ts'
import { compared, interleaved, median, single, type BenchOptions, type Figure, type Measurement } from './figures.ts'
import type { LoadReport } from './load.ts'
import { startReference } from './references/start.ts'
import { startService, type Running, type Service } from './service.ts'

export const connections = 64

export interface Round extends LoadReport {
  /** Microseconds of CPU for each answer. */
  readonly node_us: number
  readonly postgres_us: number
}

/** One round of sending to a server of this service's keys and channel. */
export async function sendRound(
  driver: Driver,
  service: Service,
  server: Running,
  seconds: number,
  options: { keyed?: boolean; rate?: number } = {},
): Promise<Round> {
  const counted = countCpu(server.pid, service.postmaster)
  const report = await driver.run({
    host: '127.0.0.1',
    port: server.port,
    connections,
    seconds,
    keys: service.keys,
    work: { kind: 'send', channel: service.channel, keyed: options.keyed === true },
    ...(options.rate === undefined ? {} : { rate: options.rate }),
  })
  const { node_us, postgres_us } = counted()
  return { ...report, node_us: node_us / report.answers, postgres_us: postgres_us / report.answers }
}

/** The median round by a field. */
export const medianOf = (rounds: readonly Round[], field: 'rate' | 'p50_ms' | 'p99_ms' | 'node_us' | 'postgres_us' | 'cpu_us'): number =>
  median(rounds.map((round) => round[field]))

export const accept: Measurement = {
  name: 'accept',
  title: 'Accepting messages',
  async run(options) {
    const driver = startDriver()
    const service = await startService({ roles: 'api' })
    const servers: Running[] = []
    try {
      for (const kind of ['bare', 'transaction', 'statement'] as const) servers.push(await startReference(kind, service))
      return await measure(options, driver, service, servers as [Running, Running, Running])
    } finally {
      for (const server of servers) await server.stop()
      await service.stop()
      driver.stop()
    }
  },
}

async function measure(
  { quick, say }: BenchOptions,
  driver: Driver,
  service: Service,
  [bare, transaction, statement]: readonly [Running, Running, Running],
): Promise<{ figures: Figure[]; notes: string[] }> {
  const seconds = quick ? 1.5 : 2.5
  const rounds = quick ? 3 : 5
  const contenders = {
    bare: () => sendRound(driver, service, bare, seconds),
    product: () => sendRound(driver, service, service, seconds),
    keyed: () => sendRound(driver, service, service, seconds, { keyed: true }),
    transaction: () => sendRound(driver, service, transaction, seconds),
    statement: () => sendRound(driver, service, statement, seconds),
  }
  say('accept: warming up')
  await interleaved(1, contenders)
  say(`accept: ${rounds} rounds`)
  const found = await interleaved(rounds, contenders)
  const rate = (name: keyof typeof contenders) => medianOf(found[name]!, 'rate')
  const capacity = rate('product')
  say('accept: open loop')
  const open: Round[] = []
  for (let round = 0; round < rounds; round++) open.push(await sendRound(driver, service, service, seconds, { rate: capacity * 0.7 }))
  const [plain, keyed] = [found['product']!, found['keyed']!]
  return {
    figures: [
      compared('messages a second, without key', '/s', capacity, { name: 'bare Fastify', value: rate('bare') }, { least: 0.45 }),
      compared('messages a second, fresh Idempotency-Key', '/s', rate('keyed'), { name: 'bare Fastify', value: rate('bare') }, { least: 0.35 }),
      compared('… over a transaction for each message', '/s', capacity, { name: 'transaction', value: rate('transaction') }, { least: 10 }),
      compared('… over one statement for each message', '/s', capacity, { name: 'statement', value: rate('statement') }, { least: 5 }),
      compared('Node CPU for a message', 'µs', medianOf(plain, 'node_us'), { name: 'bare Fastify', value: medianOf(found['bare']!, 'node_us') }),
      single('PostgreSQL CPU for a message', 'µs', medianOf(plain, 'postgres_us')),
      compared('Node CPU for a keyed message', 'µs', medianOf(keyed, 'node_us'), { name: 'bare Fastify', value: medianOf(found['bare']!, 'node_us') }),
      single('PostgreSQL CPU for a keyed message', 'µs', medianOf(keyed, 'postgres_us')),
      compared('median answer, closed loop', 'ms', medianOf(plain, 'p50_ms'), { name: 'bare Fastify', value: medianOf(found['bare']!, 'p50_ms') }),
      compared('p99 answer, closed loop', 'ms', medianOf(plain, 'p99_ms'), { name: 'bare Fastify', value: medianOf(found['bare']!, 'p99_ms') }),
      single(`p99 answer, open loop at 70 % (${Math.round(capacity * 0.7)}/s)`, 'ms', medianOf(open, 'p99_ms'), { most: 30 }),
    ],
    notes: ['The service runs with the role `api` alone: what is accepted waits in the database. Dispatch has figures of its own.'],
  }
}
