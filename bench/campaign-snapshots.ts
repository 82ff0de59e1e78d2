/** Bench `campaign-snapshots`: campaigns to a million contacts, beside other messages, and reads of the largest. */
import { single, type BenchOptions, type Figure, type Measurement } from './figures.ts'
import { fill, list } from './segments.ts'
import { call, startService, type Service } from './service.ts'

const pollMs = 50
const withinMs = 300_000
const otherPerSecond = 100
const calmMs = 10_000

const audiences = {
  'a segment of everybody': async (service: Service) => {
    const rules = { match: 'all', conditions: [{ field: 'phone', operator: 'exists' }] }
    return {
      type: 'segment',
      segment_id: (await post<{ id: string }>(service, '/v1/segments', { name: 'Everybody', rules })).id,
    }
  },
  'a tag of 60 %': () => Promise.resolve({ type: 'tags', tags: ['news'] }),
  'a list of a third': () => Promise.resolve({ type: 'list', list_id: list }),
} as const

export const campaignSnapshots: Measurement = {
  name: 'campaign-snapshots',
  title: 'Snapshots of campaigns',
  async run({ quick, say }: BenchOptions): Promise<{ figures: Figure[]; notes: string[] }> {
    const contacts = quick ? 200_000 : 1_000_000
    await using service = await startService({ env: { POSTHORN_CAMPAIGN_RECIPIENT_LIMIT: '2000000' } })

    say(`campaign-snapshots: making ${contacts} contacts`)
    await fill(service, contacts)
    const calm = await others(service, new Promise((resolve) => setTimeout(resolve, calmMs)))
    const figures: Figure[] = []
    let largest = ''
    for (const [name, audienceOf] of Object.entries(audiences)) {
      const taken = snapshot(service, name, await audienceOf(service))
      const [beside, { id, recipients, seconds, longest_ms }] = await Promise.all([others(service, taken), taken])
      say(`campaign-snapshots: ${name}, ${recipients} recipients in ${seconds.toFixed(1)} s`)
      figures.push(
        single(`${name}: recipients`, '', recipients),
        single('… until sending began', 's', seconds, recipients === 1_000_000 ? { most: 30 } : undefined),
        single('… longest transaction seen', 'ms', longest_ms, { most: 1000 }),
        single(`… p99 of others' messages, relative to an idle service (${calm.toFixed(1)} ms)`, '×', beside / calm),
      )
      if (largest === '') largest = id
      else await post(service, `/v1/campaigns/${id}/cancel`, {})
    }
    figures.push(...(await reads(service, largest)))
    return {
      figures,
      notes: [
        `${contacts} contacts; ${otherPerSecond} messages a second of the API beside it; the load, the service and PostgreSQL share the cores.`,
      ],
    }
  },
}

interface Taken {
  readonly id: string
  readonly recipients: number
  /** From launch to sending. */
  readonly seconds: number
  readonly longest_ms: number
}

async function snapshot(service: Service, name: string, audience: object): Promise<Taken> {
  const began = performance.now()
  const { id } = await post<{ id: string }>(service, '/v1/campaigns', {
    name,
    channel: service.channel,
    audience,
    message: { type: 'text', text: { body: 'Hello {{first_name}}' } },
    throttle_per_second: 1,
    consent_declared: true,
    launch: true,
  })
  let longest_ms = 0
  for (;;) {
    const [transaction] = await service.pool<{ ms: number }[]>`
      select coalesce(max(extract(epoch from clock_timestamp() - xact_start) * 1000), 0)::float8 as ms
      from pg_stat_activity
      where datname = current_database() and backend_xid is not null and pid <> pg_backend_pid() and backend_type = 'client backend'`
    longest_ms = Math.max(longest_ms, transaction!.ms)
    const { status, counters } = await get<{ status: string; counters: { total: number } }>(
      service,
      `/v1/campaigns/${id}`,
    )
    if (status === 'sending')
      return { id, recipients: counters.total, seconds: (performance.now() - began) / 1000, longest_ms }
    if (status !== 'queued' || performance.now() - began > withinMs) throw new Error(`the campaign is ${status}`)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

async function others(service: Service, ended: Promise<unknown>): Promise<number> {
  const times: number[] = []
  let over = false
  void ended.finally(() => (over = true)).catch(() => undefined)
  const started = performance.now()
  const pending: Promise<void>[] = []
  for (let n = 0; !over && performance.now() - started < withinMs; n++) {
    const began = performance.now()
    pending.push(
      post(service, '/v1/messages', {
        channel: service.channel,
        to: `+1202555${String(n % 10_000).padStart(4, '0')}`,
        type: 'text',
        text: { body: 'Hello' },
      }).then(() => void times.push(performance.now() - began)),
    )
    await new Promise((resolve) =>
      setTimeout(resolve, Math.max(0, started + ((n + 1) * 1000) / otherPerSecond - performance.now())),
    )
  }
  await Promise.all(pending)
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.99)]!
}

async function reads(service: Service, id: string): Promise<Figure[]> {
  const asked = {
    'the campaign with its counters': `/v1/campaigns/${id}`,
    'a page of its recipients in the middle': `/v1/campaigns/${id}/recipients?limit=100&starting_after=100000`,
    'those of a status that few have': `/v1/campaigns/${id}/recipients?limit=100&status=sent`,
    'the recipient of an identifier': `/v1/campaigns/${id}/recipients?to=%2B4915100123456`,
    'a list of campaigns': '/v1/campaigns?limit=100',
  }
  const figures: Figure[] = []
  for (const [name, path] of Object.entries(asked)) {
    const times: number[] = []
    for (let round = 0; round < 20; round++) {
      const began = performance.now()
      await get(service, path)
      times.push(performance.now() - began)
    }
    figures.push(single(name, 'ms at most', Math.max(...times)))
  }
  const began = performance.now()
  await post(service, `/v1/campaigns/${id}/cancel`, {})
  figures.push(single('cancelling it, until it answers', 's', (performance.now() - began) / 1000))
  return figures
}

const post = <T>(service: Service, path: string, body: object): Promise<T> =>
  call<T>(service.port, service.keys[0]!, 'POST', path, body)
const get = <T>(service: Service, path: string): Promise<T> => call<T>(service.port, service.keys[0]!, 'GET', path)
