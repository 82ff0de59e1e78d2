/** Dispatch: from the answer 202 to `delivered` through the simulator, in one process with everything on, sustained. */
import { sendRound } from './accept.ts'
import { startDriver, type Driver } from './drive.ts'
import { compared, median, single, type BenchOptions, type Figure, type Measurement } from './figures.ts'
import { plainOfTheDesign, startReference } from './references/start.ts'
import { startService, type Running, type Service } from './service.ts'

export const scaleNote = `The rate is wanted as it stands. Where it is missed, the ratio tells how much of that is the machine: bare Fastify made ${plainOfTheDesign.toLocaleString('en-US')}/s where the rate was set.`

/** How a round of the whole path went. */
export interface PathRound {
  /** Delivered a second, from the first request until the last delivery. */
  readonly rate: number
  readonly offered: number
  readonly node_us: number
  readonly postgres_us: number
  /** Jobs waiting, every second. */
  readonly waiting: readonly number[]
}

const wanted_rate = 3500
const pollMs = 40
/** The more callers there are, the more messages a commit holds: a busy service has more of them than the 64 by which accepting is measured. */
const connections = 256
const drainWithinMs = 60_000

export const dispatch: Measurement = {
  name: 'dispatch',
  title: 'Dispatch: accepted to delivered',
  async run(options) {
    const driver = startDriver()
    const service = await startService()
    const plain = await startReference('plain', service)
    try {
      return await measure(options, driver, service, plain)
    } finally {
      await plain.stop()
      await service.stop()
      driver.stop()
    }
  },
}

async function measure({ quick, say }: BenchOptions, driver: Driver, service: Service, plain: Running): Promise<{ figures: Figure[]; notes: string[] }> {
  // until the compiler and the plans of every connection are at rest: what is wanted is a rate that lasts
  say('dispatch: warming up')
  await sendRound(driver, service, service, quick ? 2 : 6, { connections })
  await delivered(service)
  say('dispatch: finding the rate')
  const rates: number[] = []
  const scale: number[] = []
  await sendRound(driver, service, plain, 1.5)
  for (let round = 0; round < (quick ? 2 : 3); round++) {
    rates.push((await drive(driver, service, quick ? 3 : 4)).rate)
    scale.push((await sendRound(driver, service, plain, 1.5)).rate)
  }
  const capacity = median(rates)
  // what is wanted, where there is room for it
  const offered = Math.max(capacity * 0.9, Math.min(wanted_rate, capacity * 0.97))
  say(`dispatch: ${quick ? 10 : 60} s at ${Math.round(offered)}/s`)
  const sustained = await drive(driver, service, quick ? 10 : 60, offered)
  const half = sustained.waiting.length >> 1
  const growth = median(sustained.waiting.slice(half)) / Math.max(median(sustained.waiting.slice(0, half)), 1)
  const updates = await hotUpdates(service)
  return {
    figures: [
      single('accepted to delivered, closed loop', '/s', capacity, { least: wanted_rate }),
      compared('… over Fastify that only answers', '/s', capacity, { name: 'Fastify', value: median(scale) }, { least: wanted_rate / plainOfTheDesign }),
      single(`sustained for ${quick ? 10 : 60} s, open loop at ${Math.round(offered)}/s`, '/s', sustained.rate),
      single('jobs waiting in the second half', '', median(sustained.waiting.slice(half))),
      single('… over those of the first half', '×', growth, { most: 2 }),
      single('Node CPU for a message', 'µs', sustained.node_us),
      single('PostgreSQL CPU for a message', 'µs', sustained.postgres_us),
      single('heap-only updates of messages', '%', updates, { least: 95 }),
    ],
    notes: [
      'Each message is accepted over HTTP, charged, handed to the simulator, marked `sent`, and marked `delivered` by a receipt that is stored first; two events are recorded.',
      `The load generator, with ${connections} connections, shares the cores.`,
      scaleNote,
    ],
  }
}

/** Sends for so long, then waits until everything is delivered. */
export async function drive(driver: Driver, service: Service, seconds: number, rate?: number): Promise<PathRound> {
  const counted = service.countCpu()
  const began = performance.now()
  const waiting: number[] = []
  const watch = setInterval(() => void countWaiting(service).then((count) => waiting.push(count)), 1000)
  const { answers, rate: offered } = await sendRound(driver, service, service, seconds, { connections, ...(rate === undefined ? {} : { rate }) })
  clearInterval(watch)
  await delivered(service)
  const took = (performance.now() - began) / 1000
  const { node_us, postgres_us } = counted()
  return { rate: answers / took, offered, node_us: node_us / answers, postgres_us: postgres_us / answers, waiting }
}

async function countWaiting({ pool }: Service): Promise<number> {
  const [row] = await pool<{ n: number }[]>`select (select count(*) from dispatch_jobs) + (select count(*) from provider_reports) as n`
  return row!.n
}

/** Resolves once nothing waits for dispatch or for its receipt. */
export async function delivered(service: Service): Promise<void> {
  const until = performance.now() + drainWithinMs
  while ((await countWaiting(service)) > 0) {
    if (performance.now() > until) throw new Error('messages still waited for their delivery a minute after the last request')
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

async function hotUpdates({ pool }: Service): Promise<number> {
  const [row] = await pool<{ share: number }[]>`
    select (100.0 * sum(n_tup_hot_upd) / greatest(sum(n_tup_upd), 1))::float8 as share from pg_stat_user_tables where relname like 'messages%'`
  return row!.share
}
