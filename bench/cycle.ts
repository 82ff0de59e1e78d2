/** The whole life of a message: accepted over HTTP, sent, delivered, and two webhook endpoints told of it, load generator and receiver on the same cores. */
import { recordEvents, type NewEvent } from '../src/platform/outbox.ts'
import { isoTime } from '../src/lib/clock.ts'
import { medianOf, sendRound, type Round } from './accept.ts'
import { delivered, scaleNote } from './dispatch.ts'
import { startDriver, type Driver } from './drive.ts'
import { compared, interleaved, median, single, type BenchOptions, type Figure, type Measurement } from './figures.ts'
import { plainOfTheDesign, startReference } from './references/start.ts'
import { receivedAll, startReceiver, type Receiver } from './receiver.ts'
import { call, serve, startService, type Running, type Service } from './service.ts'

const wanted_rate = 2500
const endpointsCount = 2
const allowing = (receiver: Receiver) => ({ POSTHORN_WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}` })
const endpoint = (service: Service, url: string, events: readonly string[]) =>
  call(service.port, service.keys[0]!, 'POST', '/v1/webhook_endpoints', { url, events })

export const cycle: Measurement = {
  name: 'cycle',
  title: 'Full life cycle with two webhook endpoints',
  async run(options) {
    const [driver, receiver] = [startDriver(), await startReceiver()]
    const service = await startService({ env: allowing(receiver) })
    const plain = await startReference('plain', service)
    try {
      for (let i = 0; i < endpointsCount; i++) await endpoint(service, receiver.url, ['message.delivered'])
      return await measure(options, driver, receiver, service, plain)
    } finally {
      await plain.stop()
      await service.stop()
      receiver.stop()
      driver.stop()
    }
  },
}

interface CycleRound {
  readonly rate: number
  readonly node_us: number
  readonly postgres_us: number
  readonly p50_ms: number
  readonly p99_ms: number
}

async function measure(
  { quick, say }: BenchOptions,
  driver: Driver,
  receiver: Receiver,
  service: Service,
  plain: Running,
): Promise<{ figures: Figure[]; notes: string[] }> {
  say('cycle: warming up')
  await drive(driver, receiver, service, quick ? 2 : 6)
  await sendRound(driver, service, plain, 1.5)
  say('cycle: closed loop')
  const rounds: CycleRound[] = []
  const scale: number[] = []
  for (let round = 0; round < (quick ? 2 : 5); round++) {
    rounds.push(await drive(driver, receiver, service, 3))
    scale.push((await sendRound(driver, service, plain, 1)).rate)
  }
  const of = (field: keyof CycleRound) => median(rounds.map((round) => round[field]))
  say('cycle: open loop')
  const open = await drive(driver, receiver, service, quick ? 5 : 10, of('rate') * 0.8)
  return {
    figures: [
      single('cycles', '/s', of('rate'), { least: wanted_rate }),
      compared('… over Fastify that only answers', '/s', of('rate'), { name: 'Fastify', value: median(scale) }, { least: wanted_rate / plainOfTheDesign }),
      single('PostgreSQL CPU for a cycle', 'µs', of('postgres_us'), { most: 160 }),
      compared(
        '… over the time of an answer of Fastify',
        'µs',
        of('postgres_us'),
        { name: 'Fastify', value: 1e6 / median(scale) },
        { most: (160 * plainOfTheDesign) / 1e6 },
      ),
      single('Node CPU for a cycle', 'µs', of('node_us')),
      { ...single('lag of deliveries at 80 %, p99', 'ms', open.p99_ms), reference: { name: 'median', value: open.p50_ms } },
    ],
    notes: [
      'A cycle: accepted, charged, handed to the simulator, `sent`, receipt stored, `delivered`, two deliveries of `message.delivered` posted, answered and marked. The lag runs from the event to the arrival of its delivery.',
      scaleNote,
    ],
  }
}

async function drive(driver: Driver, receiver: Receiver, service: Service, seconds: number, rate?: number): Promise<CycleRound> {
  await receiver.clear()
  const counted = service.countCpu()
  const began = performance.now()
  const { answers } = await sendRound(driver, service, service, seconds, rate === undefined ? {} : { rate })
  const { p50_ms, p99_ms } = await receivedAll(receiver, answers * endpointsCount)
  await delivered(service)
  const { node_us, postgres_us } = counted()
  return { rate: answers / ((performance.now() - began) / 1000), node_us: node_us / answers, postgres_us: postgres_us / answers, p50_ms, p99_ms }
}

const due = 100_000
const dueEndpoints = 20

export const drain: Measurement = {
  name: 'drain',
  title: 'Draining due deliveries',
  async run({ quick, say }) {
    const receiver = await startReceiver()
    const service = await startService({ roles: 'api', env: allowing(receiver) })
    try {
      const count = quick ? due / 10 : due
      for (let i = 0; i < dueEndpoints; i++) await endpoint(service, receiver.url, ['package.exhausted'])
      say(`drain: making ${count} deliveries`)
      await makeDue(service, count / dueEndpoints)
      say('drain: draining')
      const worker = await serve(service.data_dir, { roles: 'worker', env: allowing(receiver) })
      try {
        const { seconds } = await receivedAll(receiver, count)
        return {
          figures: [single('deliveries drained', '/s', count / seconds, { least: 5000 })],
          notes: [
            `${count.toLocaleString('en-US')} due deliveries of ${dueEndpoints} endpoints, a process that starts to work on them, and a receiver that answers at once.`,
          ],
        }
      } finally {
        await worker.stop()
      }
    } finally {
      await service.stop()
      receiver.stop()
    }
  },
}

/** Records events that every endpoint wants, and makes their deliveries without anyone posting them. */
async function makeDue({ app, pool, account_id }: Service, events: number): Promise<void> {
  const { ids, clock } = app.platform
  for (let done = 0; done < events; done += 1000) {
    const batch = Array.from({ length: Math.min(1000, events - done) }, (): NewEvent => {
      const id = ids('grant')
      return {
        account_id: account_id as NewEvent['account_id'],
        mode: 'live',
        id: ids('evt'),
        type: 'package.exhausted',
        object_id: id,
        object: { id, object: 'package', name: 'Bench', credits_total: 1000, credits_remaining: 0 },
        created_at: isoTime(clock.now()),
      }
    })
    await recordEvents(pool, batch)
  }
  while ((await app.lane('fan-out').tick()) > 0);
}

const manyEndpoints = 500

export const endpoints: Measurement = {
  name: 'endpoints',
  title: 'Five hundred webhook endpoints',
  async run({ quick, say }) {
    const [driver, receiver] = [startDriver(), await startReceiver()]
    const none = await startService({ roles: 'api', env: allowing(receiver) })
    const many = await startService({ roles: 'api', env: allowing(receiver) })
    try {
      say('endpoints: creating them')
      for (let i = 0; i < manyEndpoints; i++) await endpoint(many, receiver.url, ['message.sent', 'message.delivered', 'message.read', 'message.failed'])
      say('endpoints: accepting')
      const contenders = { none: () => sendRound(driver, none, none, 1), many: () => sendRound(driver, many, many, 1) }
      await interleaved(1, contenders)
      const found = await interleaved(quick ? 3 : 5, contenders)
      const cpu = (rounds: readonly Round[]) => medianOf(rounds, 'node_us') + medianOf(rounds, 'postgres_us')
      return {
        figures: [
          compared(
            'CPU for an accepted message, Node and PostgreSQL',
            'µs',
            cpu(found['many']!),
            { name: 'without endpoints', value: cpu(found['none']!) },
            { most: 1.1 },
          ),
        ],
        notes: [],
      }
    } finally {
      await many.stop()
      await none.stop()
      receiver.stop()
      driver.stop()
    }
  },
}
