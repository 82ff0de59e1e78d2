/** Bench `accept`: messages of one account, with every answer committed to disk. */
import { countCpu } from './cpu.ts'
import { startDriver, type Driver } from './drive.ts'
import { compared, interleaved, single, type BenchOptions, type Figure, type Measurement } from './figures.ts'
import { hasKannel, startKannel, type Kannel } from './references/kannel.ts'
import { startReference } from './references/start.ts'
import { connections, medianOf, paths, sendRound, type Round } from './rounds.ts'
import { startService, type Running, type Service } from './service.ts'

export const accept: Measurement = {
  name: 'accept',
  title: paths.accept.title,
  async run(options) {
    using driver = startDriver()
    await using service = await startService({ roles: paths.accept.roles })
    await using plain = await startReference('plain', service)
    await using bare = await startReference('bare', service)
    await using transaction = await startReference('transaction', service)
    await using statement = await startReference('statement', service)
    await using kannel = hasKannel() ? await startKannel() : undefined
    return await measure(options, driver, service, { plain, bare, transaction, statement, kannel })
  },
}

interface References {
  readonly plain: Running
  readonly bare: Running
  readonly transaction: Running
  readonly statement: Running
  readonly kannel: Kannel | undefined
}

async function kannelRound(driver: Driver, service: Service, kannel: Kannel, seconds: number): Promise<Round> {
  const counted = countCpu(kannel.pid, service.postmaster)
  const report = await driver.run({
    host: '127.0.0.1',
    port: kannel.port,
    connections,
    seconds,
    keys: [''],
    work: { kind: 'get', paths: kannel.paths },
  })
  return { ...report, node_us: counted().node_us / report.answers, postgres_us: 0 }
}

async function measure(
  { quick, say }: BenchOptions,
  driver: Driver,
  service: Service,
  references: References,
): Promise<{ figures: Figure[]; notes: string[] }> {
  const { plain, bare, transaction, statement, kannel } = references
  const seconds = 1.25
  const rounds = quick ? 3 : 5
  const contenders = {
    plain: () => sendRound(driver, service, plain, { seconds }),
    bare: () => sendRound(driver, service, bare, { seconds }),
    product: () => sendRound(driver, service, service, { seconds }),
    keyed: () => sendRound(driver, service, service, { seconds, keyed: true }),
    transaction: () => sendRound(driver, service, transaction, { seconds }),
    statement: () => sendRound(driver, service, statement, { seconds }),
    ...(kannel === undefined ? {} : { kannel: () => kannelRound(driver, service, kannel, seconds) }),
  }
  say('accept: warming up')
  await interleaved(1, contenders)
  await interleaved(1, { bare: contenders.bare, product: contenders.product, keyed: contenders.keyed })
  say(`accept: ${rounds} rounds`)
  const found = await interleaved(rounds, contenders)
  say('accept: open loop')
  const offered = medianOf(found['product']!, 'rate') * 0.7
  const open: Round[] = []
  for (let round = 0; round < rounds; round++)
    open.push(await sendRound(driver, service, service, { seconds, rate: offered }))
  return {
    figures: figuresOf(
      found,
      single(`p99 answer, open loop at 70 % (${Math.round(offered)}/s)`, 'ms', medianOf(open, 'p99_ms'), { most: 30 }),
    ),
    notes: [
      'The service has only the role `api`, so accepted messages stay in the database. Dispatch is measured separately.',
      'Bare Fastify authenticates, limits, validates and serialises with the same modules and stores nothing.',
      ...(kannel === undefined
        ? ['Kannel is left out: `bearerbox` and `smsbox` are not installed.']
        : ['Kannel writes its spool folder without fsync, and has no validation, charges or keys.']),
    ],
  }
}

function figuresOf(found: Readonly<Record<string, readonly Round[]>>, open: Figure): Figure[] {
  const of = (name: string, field: Parameters<typeof medianOf>[1]) => medianOf(found[name]!, field)
  const bare = (field: Parameters<typeof medianOf>[1]) => ({ name: 'bare Fastify', value: of('bare', field) })
  const capacity = of('product', 'rate')
  return [
    compared('messages a second, without key', '/s', capacity, bare('rate'), { least: 0.45 }),
    compared('messages a second, fresh Idempotency-Key', '/s', of('keyed', 'rate'), bare('rate'), { least: 0.35 }),
    compared(
      '… over a transaction for each message',
      '/s',
      capacity,
      { name: 'transaction', value: of('transaction', 'rate') },
      { least: 10 },
    ),
    compared(
      '… over one statement for each message',
      '/s',
      capacity,
      { name: 'statement', value: of('statement', 'rate') },
      { least: 5 },
    ),
    ...(found['kannel'] === undefined
      ? []
      : [compared('… over Kannel’s `sendsms`', '/s', capacity, { name: 'Kannel', value: of('kannel', 'rate') })]),
    single('for scale: Fastify that only answers', '/s', of('plain', 'rate')),
    compared('Node CPU for a message', 'µs', of('product', 'node_us'), bare('node_us')),
    single('PostgreSQL CPU for a message', 'µs', of('product', 'postgres_us')),
    compared('Node CPU for a keyed message', 'µs', of('keyed', 'node_us'), bare('node_us')),
    single('PostgreSQL CPU for a keyed message', 'µs', of('keyed', 'postgres_us')),
    compared('median answer, closed loop', 'ms', of('product', 'p50_ms'), bare('p50_ms')),
    compared('p99 answer, closed loop', 'ms', of('product', 'p99_ms'), bare('p99_ms')),
    open,
  ]
}
