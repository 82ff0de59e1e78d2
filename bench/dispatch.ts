/** Bench `dispatch`: from the 202 to `delivered` through the simulator, sustained, in one process. */
import { startDriver, type Driver } from './drive.ts'
import { compared, median, single, type BenchOptions, type Figure, type Measurement } from './figures.ts'
import { plainOfTheDesign, startReference } from './references/start.ts'
import { pathRound, paths, sendRound, startPath, type PathRound, type PathService } from './rounds.ts'
import type { Running, Service } from './service.ts'

export const scaleNote = `The target rate is absolute. If it is missed, the ratio shows the machine's share: bare Fastify made ${plainOfTheDesign.toLocaleString('en-US')}/s on the machine that set the target.`

const wantedRate = 3500

export const dispatch: Measurement = {
  name: 'dispatch',
  title: paths.dispatch.title,
  async run(options) {
    using driver = startDriver()
    await using subject = await startPath(paths.dispatch)
    await using plain = await startReference('plain', subject.service)
    return await measure(options, driver, subject, plain)
  },
}

async function measure(
  { quick, say }: BenchOptions,
  driver: Driver,
  subject: PathService,
  plain: Running,
): Promise<{ figures: Figure[]; notes: string[] }> {
  const { service } = subject
  // until compilers and query plans are stable
  say('dispatch: warming up')
  await pathRound(driver, subject, { seconds: quick ? 2 : 6 })
  say('dispatch: finding the rate')
  const rates: number[] = []
  const scale: number[] = []
  await sendRound(driver, service, plain, { seconds: 1.5 })
  for (let round = 0; round < (quick ? 2 : 3); round++) {
    rates.push((await pathRound(driver, subject, { seconds: quick ? 3 : 4 })).rate)
    scale.push((await sendRound(driver, service, plain, { seconds: 1.5 })).rate)
  }
  const capacity = median(rates)
  // the wanted rate, if the machine allows it
  const offered = Math.max(capacity * 0.9, Math.min(wantedRate, capacity * 0.97))
  say(`dispatch: ${quick ? 10 : 60} s at ${Math.round(offered)}/s`)
  const sustained = await sustain(driver, subject, quick ? 10 : 60, offered)
  const half = sustained.waiting.length >> 1
  const growth = median(sustained.waiting.slice(half)) / Math.max(median(sustained.waiting.slice(0, half)), 1)
  const updates = await hotUpdates(service)
  return {
    figures: [
      single('accepted to delivered, closed loop', '/s', capacity, { least: wantedRate }),
      compared(
        '… over Fastify that only answers',
        '/s',
        capacity,
        { name: 'Fastify', value: median(scale) },
        { least: wantedRate / plainOfTheDesign },
      ),
      single(`sustained for ${quick ? 10 : 60} s, open loop at ${Math.round(offered)}/s`, '/s', sustained.rate),
      single('jobs waiting in the second half', '', median(sustained.waiting.slice(half))),
      single('… over those of the first half', '×', growth, { most: 2 }),
      single('Node CPU for a message', 'µs', sustained.node_us),
      single('PostgreSQL CPU for a message', 'µs', sustained.postgres_us),
      single('heap-only updates of messages', '%', updates, { least: 95 }),
    ],
    notes: [
      'Each message is accepted over HTTP, charged, sent to the simulator, marked `sent`, and marked `delivered` by a receipt that is stored first; two events are recorded.',
      `The load generator, with ${paths.dispatch.connections} connections, shares the cores.`,
      scaleNote,
    ],
  }
}

async function sustain(
  driver: Driver,
  subject: PathService,
  seconds: number,
  rate: number,
): Promise<PathRound & { readonly waiting: readonly number[] }> {
  const waiting: number[] = []
  const watch = setInterval(() => void countWaiting(subject.service).then((count) => waiting.push(count)), 1000)
  const round = await pathRound(driver, subject, { seconds, rate }).finally(() => clearInterval(watch))
  return { ...round, waiting }
}

async function countWaiting({ pool }: Service): Promise<number> {
  const [row] = await pool<
    { n: number }[]
  >`select (select count(*) from dispatch_jobs) + (select count(*) from callback_items) as n`
  return row!.n
}

async function hotUpdates({ pool }: Service): Promise<number> {
  const [row] = await pool<{ share: number }[]>`
    select (100.0 * sum(n_tup_hot_upd) / greatest(sum(n_tup_upd), 1))::float8 as share
    from pg_stat_user_tables
    where relname like 'messages%'`
  return row!.share
}
