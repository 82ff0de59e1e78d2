/**
 * Bench `campaign-sending`: the rates of campaigns that use half of the capacity, and the latency of requests
 * meanwhile.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { CpuUse } from './cpu.ts'
import { startDriver, type Driver } from './drive.ts'
import { compared, median, single, type BenchOptions, type Figure, type Measurement } from './figures.ts'
import type { LoadReport } from './load.ts'
import { connections, pathRound, paths, startPath, type PathRound } from './rounds.ts'
import { call, type Service } from './service.ts'

const campaignRate = 100
/** Of the closed-loop rate of `dispatch` less a tenth. */
const share = 0.5 * 0.9
const channelsCount = 4
/** Per second: low enough that requests do not wait for each other. */
const requestRate = 100
const settlingMs = 5000
const startWithinMs = 60_000
const endWithinMs = 60_000
/** No campaign may end while it is measured. */
const spareSeconds = 35

export const campaignSending: Measurement = {
  name: 'campaign-sending',
  title: 'Campaigns side by side, and requests beside them',
  async run(options) {
    using driver = startDriver()
    await using subject = await startPath(paths.dispatch)
    options.say('campaign-sending: measuring the dispatch rate')
    await pathRound(driver, subject, { seconds: options.quick ? 2 : 6 })
    const rounds: PathRound[] = []
    for (let round = 0; round < (options.quick ? 1 : 3); round++)
      rounds.push(await pathRound(driver, subject, { seconds: options.quick ? 3 : 4 }))
    return await measure(options, driver, subject.service, rounds)
  },
}

async function measure(
  { quick, say }: BenchOptions,
  driver: Driver,
  service: Service,
  dispatched: readonly PathRound[],
): Promise<{ figures: Figure[]; notes: string[] }> {
  const of = (field: 'rate' | 'node_us' | 'postgres_us') => ({
    name: 'dispatch, closed loop',
    value: median(dispatched.map((round) => round[field])),
  })
  const capacity = of('rate').value
  const seconds = quick ? 10 : 30
  const count = Math.min(100, Math.max(1, Math.round((capacity * share) / campaignRate)))
  const alone: LoadReport[] = [await requests(driver, service, quick ? 5 : 15)]
  say(`campaign-sending: ${count} campaigns`)
  const ids = await launch(service, count, seconds)
  await delay(settlingMs)
  const cpu = await cpuOf(service, ids, quick ? 4 : 8)
  const before = await sentOf(service, ids)
  const beside = await requests(driver, service, seconds)
  const after = await sentOf(service, ids)
  await cancel(service, ids)
  alone.push(await requests(driver, service, quick ? 5 : 15))
  const asMany = await requests(driver, service, seconds, count * campaignRate + requestRate)
  const perCent = ids.map(
    (id) => ((after.sent.get(id)! - before.sent.get(id)!) / ((after.at - before.at) / 1000) / campaignRate) * 100,
  )
  const p = (field: 'p50_ms' | 'p99_ms') => ({ name: 'alone', value: median(alone.map((report) => report[field])) })
  const ofAsMany = (field: 'p50_ms' | 'p99_ms') => ({ name: 'as many messages, all by requests', value: asMany[field] })
  return {
    figures: [
      compared(
        'messages of campaigns',
        '/s',
        perCent.reduce((sum, one) => sum + one, 0),
        of('rate'),
      ),
      single('… campaigns at 100 a second each', '', count),
      single('slowest campaign, of its rate', '%', Math.min(...perCent), { least: 95 }),
      single('fastest campaign, of its rate', '%', Math.max(...perCent), { most: 105 }),
      compared(`p99 answer to requests at ${requestRate}/s, beside campaigns`, 'ms', beside.p99_ms, p('p99_ms'), {
        most: 1.5,
      }),
      compared('Node CPU for a message of campaigns', 'µs', cpu.node_us, of('node_us')),
      compared('PostgreSQL CPU for a message of campaigns', 'µs', cpu.postgres_us, of('postgres_us')),
      compared('median answer beside campaigns', 'ms', beside.p50_ms, p('p50_ms')),
      compared('… p99', 'ms', beside.p99_ms, ofAsMany('p99_ms')),
      compared('… median', 'ms', beside.p50_ms, ofAsMany('p50_ms')),
    ],
    notes: [
      `Over ${seconds} s, on ${channelsCount} channels that may send 100,000 a second; the campaigns' counters show the sent messages. The service, PostgreSQL and the load generator share the cores.`,
    ],
  }
}

const requests = (
  { run }: Driver,
  { port, keys, channel }: Service,
  seconds: number,
  rate = requestRate,
): Promise<LoadReport> =>
  run({ host: '127.0.0.1', port, connections, seconds, rate, keys, work: { kind: 'send', channel, keyed: false } })

/** Microseconds per message, without requests. */
async function cpuOf(service: Service, ids: readonly string[], seconds: number): Promise<CpuUse> {
  const before = await sentOf(service, ids)
  const counted = service.countCpu()
  await delay(seconds * 1000)
  const { node_us, postgres_us } = counted()
  const after = await sentOf(service, ids)
  const messages = ids.reduce((sum, id) => sum + after.sent.get(id)! - before.sent.get(id)!, 0)
  return { node_us: node_us / messages, postgres_us: postgres_us / messages }
}

async function launch({ port, keys }: Service, count: number, seconds: number): Promise<string[]> {
  const post = (path: string, body: object) => call<{ id: string }>(port, keys[0]!, 'POST', path, body)
  const settings = { max_messages_per_second: 100_000 }
  const channels: string[] = []
  for (let n = 0; n < channelsCount; n++) {
    const made = await post('/v1/channels', {
      type: 'sms',
      provider: 'simulator',
      name: `Campaigns ${n}`,
      identifier: `+1202555020${n}`,
      credentials: {},
      settings,
    })
    channels.push(made.id)
  }
  const recipients = Array.from({ length: Math.min(10_000, campaignRate * (seconds + spareSeconds)) }, (_, n) => ({
    to: `+49151${10_000_000 + n}`,
  }))
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const campaign = {
      name: `Campaign ${n}`,
      channel: channels[n % channelsCount],
      audience: { type: 'adhoc', recipients },
      message: { type: 'text', text: { body: 'Hello {{first_name}}' } },
      throttle_per_second: campaignRate,
    }
    ids.push((await post('/v1/campaigns', campaign)).id)
  }
  await Promise.all(ids.map((id) => post(`/v1/campaigns/${id}/launch`, { consent_declared: true })))
  for (const until = performance.now() + startWithinMs; ; await delay(50)) {
    const { status } = await sentOf({ port, keys }, ids)
    if (ids.every((id) => status.get(id) === 'sending')) return ids
    if (performance.now() > until) throw new Error('not every campaign was sending within a minute')
  }
}

async function cancel({ port, keys }: Service, ids: readonly string[]): Promise<void> {
  for (const id of ids) await call(port, keys[0]!, 'POST', `/v1/campaigns/${id}/cancel`)
  for (const until = performance.now() + endWithinMs; ; await delay(200)) {
    const { queued } = await sentOf({ port, keys }, ids)
    if (ids.every((id) => queued.get(id) === 0)) break
    if (performance.now() > until)
      throw new Error('recipients still waited a minute after their campaigns were cancelled')
  }
  await delay(settlingMs)
}

interface Listed {
  readonly data: readonly {
    readonly id: string
    readonly status: string
    readonly counters: { readonly sent: number; readonly queued: number }
  }[]
}

/** A hundred campaigns are one page. */
async function sentOf({ port, keys }: Pick<Service, 'port' | 'keys'>, ids: readonly string[]) {
  const { data } = await call<Listed>(port, keys[0]!, 'GET', `/v1/campaigns?limit=${Math.min(100, ids.length)}`)
  return {
    at: performance.now(),
    sent: new Map(data.map(({ id, counters }) => [id, counters.sent])),
    queued: new Map(data.map(({ id, counters }) => [id, counters.queued])),
    status: new Map(data.map(({ id, status }) => [id, status])),
  }
}
