/** Bench `bulk`: the latency of requests while a campaign's messages are submitted to the same wallet. */
import { startProducer, type Producer } from './bulk-producer.ts'
import { startDriver, type Driver } from './drive.ts'
import { compared, median, single, type BenchOptions, type Figure, type Measurement } from './figures.ts'
import type { LoadReport } from './load.ts'
import { connections } from './rounds.ts'
import { startService, type Service } from './service.ts'

const itemsAll = 100_000
const itemsQuick = 10_000
const warmUpItems = 2000
const warmUpWithinMs = 5000
const rounds = 2
/** Per second: a tenth of a small machine's capacity. */
const rate = 500
const bulkWithinMs = 30_000

export const bulk: Measurement = {
  name: 'bulk',
  title: 'Bulk beside interactive',
  async run(options) {
    using driver = startDriver()
    await using service = await startService({ roles: 'api' })
    await using producer = await startProducer(service, warmUpItems + (options.quick ? itemsQuick : itemsAll))
    return await measure(options, driver, service, producer)
  },
}

async function measure(
  { quick, say }: BenchOptions,
  driver: Driver,
  service: Service,
  producer: Producer,
): Promise<{ figures: Figure[]; notes: string[] }> {
  const items = quick ? itemsQuick : itemsAll
  const seconds = quick ? 3 : 6
  const interactive = (load: { seconds: number; ended?: Promise<unknown> }): Promise<LoadReport> =>
    driver.run(
      {
        host: '127.0.0.1',
        port: service.port,
        connections,
        seconds: load.seconds,
        rate,
        keys: service.keys,
        work: { kind: 'send', channel: service.channel, keyed: false },
      },
      load.ended,
    )
  const beside = async (count: number, within_ms: number): Promise<Round> => {
    const submitted = producer.submit(count, within_ms)
    const report = await interactive({ seconds: (2 * within_ms) / 1000, ended: submitted })
    return { report, submitted: await submitted }
  }
  say('bulk: warming up')
  await interactive({ seconds: quick ? 2 : 4 })
  const warm = await beside(warmUpItems, warmUpWithinMs)
  const alone: LoadReport[] = []
  const together: Round[] = []
  for (let round = 0; round < rounds; round++) {
    say('bulk: requests alone')
    alone.push(await interactive({ seconds }))
    say(`bulk: requests beside ${items / rounds} bulk items`)
    together.push(await beside(items / rounds, bulkWithinMs))
  }
  alone.push(await interactive({ seconds }))
  const accepted = together.reduce((sum, { submitted }) => sum + submitted.accepted, 0)
  await verify(service, accepted + warm.submitted.accepted)
  return report(alone, together, accepted)
}

interface Round {
  readonly report: LoadReport
  readonly submitted: Awaited<ReturnType<Producer['submit']>>
}

function report(
  alone: readonly LoadReport[],
  together: readonly Round[],
  accepted: number,
): { figures: Figure[]; notes: string[] } {
  const of = (field: 'p50_ms' | 'p99_ms' | 'max_ms') => ({
    alone: { name: 'alone', value: median(alone.map((report) => report[field])) },
    beside: median(together.map(({ report }) => report[field])),
  })
  return {
    figures: [
      compared(`p99 answer, open loop at ${rate}/s, beside bulk`, 'ms', of('p99_ms').beside, of('p99_ms').alone, {
        most: 1.5,
      }),
      compared('median answer beside bulk', 'ms', of('p50_ms').beside, of('p50_ms').alone),
      compared('longest answer beside bulk', 'ms', of('max_ms').beside, of('max_ms').alone),
      single(
        'bulk items accepted beside requests',
        '/s',
        accepted / together.reduce((sum, { submitted }) => sum + submitted.seconds, 0),
      ),
    ],
    notes: [
      `${accepted.toLocaleString('en-US')} items of the same wallet, submitted by a second process. The service has only the role \`api\`, and all processes share the cores.`,
    ],
  }
}

/** Rejects unless each submitted row has exactly one message. */
async function verify({ pool }: Service, accepted: number): Promise<void> {
  const [row] = await pool<{ messages: number; rows: number }[]>`
    select (select count(*) from messages where submission_key is not null)::int as messages,
      (select count(*) from bench_recipients r join messages m on m.id = r.message_id and m.submission_key = r.submission_key)::int as rows`
  if (row!.messages !== accepted || row!.rows !== accepted)
    throw new Error(
      `${accepted} items were accepted, with ${row!.messages} messages and ${row!.rows} rows that name theirs`,
    )
}
