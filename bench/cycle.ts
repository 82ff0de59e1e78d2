/** Bench `cycle`: accept, send, deliver and two webhooks per message, with all processes on the same cores. */
import { scaleNote } from './dispatch.ts'
import { startDriver, type Driver } from './drive.ts'
import { compared, median, single, type BenchOptions, type Figure, type Measurement } from './figures.ts'
import { plainOfTheDesign, startReference } from './references/start.ts'
import { pathRound, paths, sendRound, startPath, type PathRound, type PathService } from './rounds.ts'
import type { Running } from './service.ts'

const wantedRate = 2500
const wantedPostgresUs = 160

export const cycle: Measurement = {
  name: 'cycle',
  title: paths.cycle.title,
  async run(options) {
    using driver = startDriver()
    await using subject = await startPath(paths.cycle)
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
  say('cycle: warming up')
  await pathRound(driver, subject, { seconds: quick ? 2 : 6 })
  await sendRound(driver, service, plain, { seconds: 1.5 })
  say('cycle: closed loop')
  const rounds: PathRound[] = []
  const scale: number[] = []
  for (let round = 0; round < (quick ? 2 : 5); round++) {
    rounds.push(await pathRound(driver, subject, { seconds: 3 }))
    scale.push((await sendRound(driver, service, plain, { seconds: 1 })).rate)
  }
  const of = (field: keyof PathRound) => median(rounds.map((round) => round[field]))
  say('cycle: open loop')
  const open = await pathRound(driver, subject, { seconds: quick ? 5 : 10, rate: of('rate') * 0.8 })
  return {
    figures: [
      single('cycles', '/s', of('rate'), { least: wantedRate }),
      compared(
        '… over Fastify that only answers',
        '/s',
        of('rate'),
        { name: 'Fastify', value: median(scale) },
        { least: wantedRate / plainOfTheDesign },
      ),
      single('PostgreSQL CPU for a cycle', 'µs', of('postgres_us'), { most: wantedPostgresUs }),
      compared(
        '… over the time of an answer of Fastify',
        'µs',
        of('postgres_us'),
        { name: 'Fastify', value: 1e6 / median(scale) },
        { most: (wantedPostgresUs * plainOfTheDesign) / 1e6 },
      ),
      single('Node CPU for a cycle', 'µs', of('node_us')),
      {
        ...single('lag of deliveries at 80 %, p99', 'ms', open.lag_p99_ms),
        reference: { name: 'median', value: open.lag_p50_ms },
      },
    ],
    notes: [
      'A cycle: accepted, charged, sent to the simulator, `sent`, receipt stored, `delivered`, two deliveries of `message.delivered` posted, answered and marked. The lag runs from the event to the arrival of its delivery.',
      scaleNote,
    ],
  }
}
