/** Bench `large-bodies`: the latency of one account while another one sends bodies of many fields. */
import { Agent, request } from 'undici'
import { pause } from '../src/lib/clock.ts'
import { processCpu } from './cpu.ts'
import { single, type Figure, type Measurement } from './figures.ts'
import { posthorn, thisCheckout } from './checkout.ts'
import { startService, type Service } from './service.ts'

const connections = 20
/** After a 429. */
const retryMs = 200
const heapMegabytes = 512
const everyMs = 10

const fields = (count: number, prefix = 'k'): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, n]))

interface Attack {
  readonly name: string
  readonly path: string
  readonly body: string
  readonly status: number
  /** Refused bodies: CPU of a request. Others: of an item. */
  readonly items?: number
}

function attacksOn({ channel }: Service): Attack[] {
  const message = (more: object) => ({ channel, to: '+4915112345678', type: 'text', text: { body: 'Hi' }, ...more })
  // accepted, not sent
  const send_at = new Date(Date.now() + 24 * 3600_000).toISOString()
  const campaign = (recipients: readonly object[]) => ({
    name: 'Bench',
    channel,
    audience: { type: 'adhoc', recipients },
    message: { type: 'text', text: { body: 'Hi {{first_name}}' } },
    merge_fallbacks: { first_name: 'friend' },
  })
  const recipients = Array.from({ length: 10_000 }, (_, n) => ({ to: `+4915${10_000_000 + n}`, first_name: `A${n}` }))
  const attack = (name: string, path: string, body: object, status: number, items?: number): Attack => ({
    name,
    path,
    body: JSON.stringify(body),
    status,
    ...(items === undefined ? {} : { items }),
  })
  return [
    attack('60,000 fields of a text', '/v1/messages', message({ text: { body: 'Hi', ...fields(60_000) } }), 400),
    attack('19,000 fields of a text', '/v1/messages', message({ text: { body: 'Hi', ...fields(19_000) } }), 400),
    attack('19,000 unknown fields', '/v1/messages', message(fields(19_000)), 400),
    attack(
      '19,000 tags of a contact',
      '/v1/contacts',
      { phone: '+4915112345678', tags: Object.keys(fields(19_000)) },
      400,
    ),
    attack(
      '30,000 names in an audience',
      '/v1/campaigns',
      campaign([{ to: '+4915112345678', variables: fields(30_000) }]),
      400,
    ),
    attack(
      'a batch of 100 with 150 fields each',
      '/v1/messages/batch',
      { messages: Array.from({ length: 100 }, () => message({ send_at, text: { body: 'Hi', ...fields(150) } })) },
      207,
      100,
    ),
    attack('an audience of 10,000', '/v1/campaigns', campaign(recipients), 201, 10_000),
  ]
}

/** The key of a second account. */
async function neighbourOf({ env }: Service): Promise<string> {
  const run = async <T>(...args: readonly string[]): Promise<T> => (await posthorn(thisCheckout, env, args)) as T
  const { id } = await run<{ id: string }>('accounts', 'create', '--name', 'Neighbour')
  const { key } = await run<{ key: string }>('keys', 'create', '--account', id, '--mode', 'live')
  return key
}

/** The latencies of `GET /v1/me` in milliseconds, one after the other. */
async function latencies(port: number, key: string, seconds: number): Promise<number[]> {
  const dispatcher = new Agent({ connections: 1 })
  const found: number[] = []
  for (const until = performance.now() + seconds * 1000; performance.now() < until;) {
    const began = performance.now()
    const { body } = await request(`http://127.0.0.1:${port}/v1/me`, {
      dispatcher,
      headers: { authorization: `Bearer ${key}` },
    })
    await body.dump()
    found.push(performance.now() - began)
    await pause(everyMs)
  }
  await dispatcher.close()
  return found
}

const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * part))]!

async function underAttack(
  service: Service,
  neighbour: string,
  { path, body, status }: Attack,
  { seconds, idle_us }: { readonly seconds: number; readonly idle_us: number },
): Promise<{ p99_ms: number; cpu_us: number; requests: number; unexpected: Map<number, number> }> {
  const dispatcher = new Agent({ connections, bodyTimeout: 0, headersTimeout: 0 })
  const unexpected = new Map<number, number>()
  let [requests, ended] = [0, false]
  const attacker = async (key: string): Promise<void> => {
    while (!ended) {
      const answer = await request(`http://127.0.0.1:${service.port}${path}`, {
        dispatcher,
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body,
      })
      await answer.body.dump()
      if (answer.statusCode === status) requests++
      else if (answer.statusCode === 429) await pause(retryMs)
      else unexpected.set(answer.statusCode, (unexpected.get(answer.statusCode) ?? 0) + 1)
    }
  }
  const cpuBefore = processCpu(service.pid)
  const attackers = Array.from({ length: connections }, () => attacker(service.keys[0]!))
  const found = await latencies(service.port, neighbour, seconds)
  ended = true
  await Promise.all(attackers)
  const cpu_us = (processCpu(service.pid) - cpuBefore - idle_us * seconds) / Math.max(1, requests)
  await dispatcher.close()
  return { p99_ms: percentile(found, 0.99), cpu_us, requests, unexpected }
}

export const largeBodies: Measurement = {
  name: 'large-bodies',
  title: 'Bodies of many fields',
  async run({ quick, say }) {
    const seconds = quick ? 3 : 10
    await using service = await startService({
      keys: 1,
      node_args: [`--max-old-space-size=${heapMegabytes}`],
      env: { POSTHORN_RATE_LIMIT_MESSAGES: '100', POSTHORN_RATE_LIMIT_DEFAULT: '20' },
    })
    const neighbour = await neighbourOf(service)
    await latencies(service.port, neighbour, 1)
    const cpuBefore = processCpu(service.pid)
    const alone = percentile(await latencies(service.port, neighbour, seconds), 0.99)
    // of a second with the neighbour's requests alone
    const idle_us = (processCpu(service.pid) - cpuBefore) / seconds
    const figures: Figure[] = [single('GET /v1/me of another account, p99 without load', 'ms', alone)]
    const notes = [
      `${connections} connections of one key send the same body again and again; the heap has ${heapMegabytes} MB.`,
    ]
    for (const attack of attacksOn(service)) {
      say(`large-bodies: ${attack.name}`)
      const { p99_ms, cpu_us, requests, unexpected } = await underAttack(service, neighbour, attack, {
        seconds,
        idle_us,
      })
      figures.push(single(`p99 of another account under ${attack.name}`, 'ms', p99_ms, { most: 50 }))
      figures.push(
        attack.items === undefined
          ? single(`CPU of refusing ${attack.name}`, 'ms', cpu_us / 1000, { most: 10 })
          : single(`CPU of an item of ${attack.name}`, 'ms', cpu_us / 1000 / attack.items, { most: 0.2 }),
      )
      notes.push(`${attack.name}: ${requests} requests`)
      for (const [status, count] of unexpected) notes.push(`${attack.name}: ${count} answers had the status ${status}`)
    }
    return { figures, notes }
  },
}
