/** Bench `flat`: accepting, lists and look-ups with a million messages beside an empty database. */
import { startDriver, type Driver } from './drive.ts'
import { compared, interleaved, single, type BenchOptions, type Figure, type Measurement } from './figures.ts'
import { loadMessages, type Loaded } from './million.ts'
import { medianOf, sendRound } from './rounds.ts'
import { startService, type Service } from './service.ts'

export const flat: Measurement = {
  name: 'flat',
  title: 'Flat with a million messages',
  async run(options) {
    using driver = startDriver()
    await using empty = await startService({ roles: 'api' })
    await using full = await startService({ roles: 'api' })
    return await measure(options, driver, empty, full)
  },
}

async function measure(
  { quick, say }: BenchOptions,
  driver: Driver,
  empty: Service,
  full: Service,
): Promise<{ figures: Figure[]; notes: string[] }> {
  const count = quick ? 100_000 : 1_000_000
  say(`flat: loading ${count} messages`)
  const loaded = await loadMessages(full, count)
  say('flat: reading')
  const reads = await readFigures(driver, full, loaded, quick ? 200 : 500)
  say('flat: accepting')
  const seconds = 1.5
  const contenders = {
    empty: () => sendRound(driver, empty, empty, { seconds }),
    full: () => sendRound(driver, full, full, { seconds }),
  }
  await interleaved(1, contenders)
  const found = await interleaved(quick ? 3 : 5, contenders)
  const cpu = (name: string) => medianOf(found[name]!, 'node_us') + medianOf(found[name]!, 'postgres_us')
  return {
    figures: [
      compared(
        'CPU for an accepted message, Node and PostgreSQL',
        'µs',
        cpu('full'),
        { name: 'empty', value: cpu('empty') },
        { most: 1.15 },
      ),
      compared('PostgreSQL CPU for an accepted message', 'µs', medianOf(found['full']!, 'postgres_us'), {
        name: 'empty',
        value: medianOf(found['empty']!, 'postgres_us'),
      }),
      compared('messages accepted a second', '/s', medianOf(found['full']!, 'rate'), {
        name: 'empty',
        value: medianOf(found['empty']!, 'rate'),
      }),
      ...reads,
    ],
    notes: [
      `${count.toLocaleString('en-US')} messages and their ledger entries of one account, in three days. "Oldest" means that only the oldest thirty match the filter.`,
    ],
  }
}

async function readFigures(
  driver: Driver,
  service: Service,
  { rare, ids }: Loaded,
  requests: number,
): Promise<Figure[]> {
  const query = (filters: Record<string, string>) => `/v1/messages?${new URLSearchParams(filters).toString()}`
  const middle = ids[ids.length >> 1]!
  const reads: Record<string, readonly string[]> = {
    retrieve: ids.map((id) => `/v1/messages/${id}`),
    list: [query({})],
    'list, a page from the middle': [query({ starting_after: middle })],
    'list by channel, oldest': [query({ channel: rare.channel })],
    'list by channel, newest': [query({ channel: service.channel })],
    'list by direction, oldest': [query({ direction: 'inbound' })],
    'list by status, oldest': [query({ status: 'failed' })],
    'list by status, none': [query({ status: 'queued' })],
    'list by status, nearly all': [query({ status: 'delivered' })],
    'list by to, oldest': [query({ to: rare.to })],
    'list by reference, oldest': [query({ reference: rare.reference })],
    'list by created_before, oldest': [query({ created_before: rare.created_before })],
    'list by updated_after, oldest': [query({ updated_after: rare.updated_after })],
  }
  const figures: Figure[] = []
  for (const [name, paths] of Object.entries(reads)) {
    const plan = {
      host: '127.0.0.1',
      port: service.port,
      connections: 1,
      seconds: 10,
      requests_max: requests,
      keys: service.keys,
      work: { kind: 'get', paths },
    } as const
    await driver.run({ ...plan, requests_max: 20 })
    const { p50_ms, p99_ms } = await driver.run(plan)
    figures.push({
      ...single(`${name}, p99`, 'ms', p99_ms, { most: 10 }),
      reference: { name: 'median', value: p50_ms },
    })
  }
  return figures
}
