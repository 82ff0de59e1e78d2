/** Pulling the plug: whatever is killed under load, what was accepted is there, becomes final, is told once, and reaches the webhook endpoints. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { systemClock } from '../../src/lib/clock.ts'
import { closing } from '../kit/closing.ts'
import { seeded } from '../kit/random.ts'
import { receiverHost, type Received } from '../kit/receiver.ts'
import { serviceProcess, type ServiceProcess } from '../kit/service.ts'
import { until } from '../kit/waiting.ts'

const clock = systemClock()
const seed = Number(process.env['POSTHORN_CRASH_SEED'] ?? 1)
const rounds = Number(process.env['POSTHORN_CRASH_ROUNDS'] ?? 20)
const senders = 8
/** What each recipient comes to, as the event feed tells it. */
const eventsOf: Readonly<Record<string, readonly string[]>> = {
  '+15005550006': ['message.delivered', 'message.sent'],
  '+15005550010': ['message.delivered', 'message.read', 'message.sent'],
  '+15005550001': ['message.failed'],
  '+15005550002': ['message.failed', 'message.sent'],
}

test(
  'whatever is killed under load, every accepted message is there, final, and each of its events is told once and reaches the endpoint',
  { timeout: 300_000 },
  async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-crash-'))
    closing(t, () => rmSync(dataDir, { recursive: true, force: true }))
    const host = await receiverHost()
    closing(t, () => host.close())
    const receiver = host.receiver()
    const service = await serviceProcess(dataDir, {
      POSTHORN_WEBHOOK_ALLOWED_HOSTS: host.host,
      POSTHORN_RATE_LIMIT_MESSAGES: '1000000',
      POSTHORN_RATE_LIMIT_DEFAULT: '1000000',
      POSTHORN_LOG_LEVEL: 'error',
    })
    closing(t, () => service.stop())
    await service.start()
    const key = await makeKey(service)
    const endpoint = await service.api(key).post('/v1/webhook_endpoints', { url: receiver.url, events: ['*'] })
    assert.equal(endpoint.status, 201, JSON.stringify(endpoint.body))
    const load = startLoad(service, key)
    closing(t, () => load.giveUp())

    const random = seeded(seed)
    const plan = random.shuffle(Array.from({ length: rounds }, (_, at) => (['service', 'database', 'both'] as const)[at % 3]!))
    for (const victim of plan) {
      await clock.sleep(100 + random.below(400))
      await Promise.all(victim === 'both' ? [service.kill('service'), service.kill('database')] : [service.kill(victim)])
      if (victim !== 'database') await service.start()
      await load.moved()
    }
    const accepted = await load.stop()
    const events = await whenFinal(service, key, accepted)
    const reached = await whenDelivered(receiver.received, accepted)
    const doctor = await service.command('doctor', '--json')
    const [unknown] = [...events.keys()].filter((id) => !accepted.has(id))

    t.diagnostic(`${accepted.size} messages accepted over ${rounds} kills, seed ${seed}`)
    for (const [id, to] of accepted) assert.deepEqual(events.get(id)?.toSorted(), eventsOf[to], `${id} to ${to}`)
    for (const [id, to] of accepted) assert.deepEqual([...(reached.get(id) ?? [])].toSorted(), eventsOf[to], `${id} to ${to}, at the endpoint`)
    assert.equal(unknown, undefined, 'a message exists that no request was answered with')
    assert.equal(doctor.status, 0, doctor.stdout + doctor.stderr)
    assert.equal(await service.stop(), 0)
  },
)

test('SIGTERM ends the service within ten seconds, also when its database has just died', { timeout: 60_000 }, async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-crash-'))
  closing(t, () => rmSync(dataDir, { recursive: true, force: true }))
  const service = await serviceProcess(dataDir, { POSTHORN_LOG_LEVEL: 'silent' })
  closing(t, () => service.kill('service'))
  await service.start()

  await service.kill('database')
  const before = clock.now()
  const code = await service.stop()

  assert.equal(code, 0)
  assert.ok(clock.now() - before < 10_000, `${clock.now() - before} ms`)
})

async function makeKey(service: ServiceProcess): Promise<string> {
  const account = JSON.parse((await service.command('accounts', 'create', '--name', 'Crash', '--json')).stdout) as { id: string }
  const key = JSON.parse((await service.command('keys', 'create', '--account', account.id, '--mode', 'test', '--scopes', 'all', '--json')).stdout) as {
    key: string
  }
  return key.key
}

/** Senders that never give up on a message: the same key is repeated until it is accepted, over every death. */
function startLoad(service: ServiceProcess, key: string) {
  const accepted = new Map<string, string>()
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
        .post('/v1/messages', { channel: 'ch_test_whatsapp', to, type: 'text', text: { body: `Number ${number}` } }, { 'idempotency-key': `k${number}` })
        .catch(() => undefined)
      if (answer?.status === 202) return void accepted.set(answer.body.id, to)
      if (gaveUp) return
      // nothing but a dying service may stand in the way
      if (answer !== undefined && answer.status < 500 && answer.status !== 409) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
      await clock.sleep(10)
    }
  }
  const running = Array.from({ length: senders }, async () => {
    while (!stopping && problem === undefined) await sendOne().catch((error: Error) => (problem = error))
  })
  return {
    /** Resolves once the service accepts again. */
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
    /** Every message sent, with its recipient. */
    async stop() {
      stopping = true
      await Promise.all(running)
      if (problem !== undefined) throw problem
      return accepted
    },
  }
}

/** Follows the feed until it has told the end of every accepted message; resolves to the types told, by message. */
async function whenFinal(service: ServiceProcess, key: string, accepted: ReadonlyMap<string, string>): Promise<Map<string, string[]>> {
  const types = new Map<string, string[]>()
  const api = service.api(key)
  const seen = new Set<string>()
  const notFinal = () => [...accepted].filter(([id, to]) => (types.get(id)?.length ?? 0) < eventsOf[to]!.length)
  let cursor = ''
  const look = async () => {
    const page = await api.get(`/v1/events?order=asc&limit=100${cursor}`)
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

/** Waits until the endpoint has every event of every accepted message; resolves to the types it has, by message. Repeats are nothing to worry about. */
async function whenDelivered(received: readonly Received[], accepted: ReadonlyMap<string, string>): Promise<Map<string, Set<string>>> {
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
