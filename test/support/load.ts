/** Clients that repeat until accepted; checks that every accepted message ended once. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { systemClock } from '../../src/lib/clock.ts'
import { closing } from './closing.ts'
import type { Received } from './receiver.ts'
import { serviceProcess, type ServiceProcess } from './service.ts'
import { until } from './waiting.ts'

const clock = systemClock()
const usualSenders = 8
export const eventsOf: Readonly<Record<string, readonly string[]>> = {
  '+15005550006': ['message.delivered', 'message.sent'],
  '+15005550010': ['message.delivered', 'message.read', 'message.sent'],
  '+15005550001': ['message.failed'],
  '+15005550002': ['message.failed', 'message.sent'],
}

export async function makeKey(service: ServiceProcess): Promise<string> {
  const account = JSON.parse((await service.command('accounts', 'create', '--name', 'Crash', '--json')).stdout) as {
    id: string
  }
  const key = JSON.parse(
    (await service.command('keys', 'create', '--account', account.id, '--mode', 'test', '--scopes', 'all', '--json'))
      .stdout,
  ) as {
    key: string
  }
  return key.key
}

/** A started service without reachable limits, and a key. */
export async function unlimitedService(
  t: TestContext,
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
) {
  const service = await serviceProcess(dataDir, {
    ...settings,
    POSTHORN_RATE_LIMIT_MESSAGES: '1000000',
    POSTHORN_RATE_LIMIT_DEFAULT: '1000000',
    POSTHORN_LOG_LEVEL: 'error',
  })
  closing(t, () => service.stop())
  await service.start()
  return { service, key: await makeKey(service) }
}

export function startLoad(
  service: ServiceProcess,
  key: string,
  { name = 'k', senders = usualSenders }: { readonly name?: string; readonly senders?: number } = {},
) {
  const accepted = new Map<string, string>()
  const refusals = new Map<string, number>()
  const recipients = Object.keys(eventsOf)
  let next = 0
  let stopping = false
  let gaveUp = false
  let problem: Error | undefined
  const api = service.api(key)
  const sendOne = async () => {
    const number = next++
    const to = recipients[number % recipients.length]!
    for (;;) {
      const answer = await api
        .post(
          '/v1/messages',
          { channel: 'ch_test_whatsapp', to, type: 'text', text: { body: `Number ${number}` } },
          { 'idempotency-key': `${name}${number}` },
        )
        .catch(() => undefined)
      if (answer?.status === 202) return void accepted.set(answer.body.id, to)
      const refusal = answer === undefined ? 'no answer' : `${answer.status} ${answer.body.error.code}`
      refusals.set(refusal, (refusals.get(refusal) ?? 0) + 1)
      if (gaveUp) return
      // only a dying service may refuse
      if (answer !== undefined && answer.status < 500 && answer.status !== 409)
        throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
      await clock.sleep(10)
    }
  }
  const running = Array.from({ length: senders }, async () => {
    while (!stopping && problem === undefined) await sendOne().catch((error: Error) => (problem = error))
  })
  return {
    refusals,
    async moved() {
      const before = accepted.size
      await until(
        'messages to be accepted again',
        () => {
          if (problem !== undefined) throw problem
          return { accepted: accepted.size - before, errors: service.errors().slice(-3000) }
        },
        (seen) => seen.accepted >= senders,
      )
    },
    giveUp() {
      stopping = gaveUp = true
    },
    async stop() {
      stopping = true
      await Promise.all(running)
      if (problem !== undefined) throw problem
      return accepted
    },
  }
}

/** Reads the feed until every message has ended; resolves to event types by message. */
export async function whenFinal(
  service: ServiceProcess,
  key: string,
  accepted: ReadonlyMap<string, string>,
): Promise<Map<string, string[]>> {
  const types = new Map<string, string[]>()
  const api = service.api(key)
  const seen = new Set<string>()
  const notFinal = () => [...accepted].filter(([id, to]) => (types.get(id)?.length ?? 0) < eventsOf[to]!.length)
  let cursor = ''
  const look = async () => {
    const page = await api.get(`/v1/events?order=asc&limit=100${cursor}`)
    if (page.status === 503) return notFinal()
    assert.equal(page.status, 200, JSON.stringify(page.body))
    for (const event of page.body.data) {
      assert.ok(!seen.has(event.id), 'the feed repeats itself')
      seen.add(event.id)
      types.set(event.data.object.id, [...(types.get(event.data.object.id) ?? []), event.type])
      cursor = `&starting_after=${event.id}`
    }
    return notFinal()
  }
  await until('every message to be final', look, (missing) => missing.length === 0)
  return types
}

/** Resolves to event types by message once all have arrived; repetitions are allowed. */
export async function whenDelivered(
  received: readonly Received[],
  accepted: ReadonlyMap<string, string>,
): Promise<Map<string, Set<string>>> {
  const reached = new Map<string, Set<string>>()
  let at = 0
  const look = () => {
    for (; at < received.length; at++) {
      const event = received[at]!.json
      const types = reached.get(event.data.object.id) ?? new Set()
      reached.set(event.data.object.id, types.add(event.type))
    }
    return [...accepted].filter(([id, to]) => (reached.get(id)?.size ?? 0) < eventsOf[to]!.length)
  }
  await until('every event to reach the endpoint', look, (missing) => missing.length === 0)
  return reached
}
