/** Two APIs and two workers with one PostgreSQL and one Redis (behaviour: operating 3.6). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { systemClock } from '../../src/lib/clock.ts'
import { closing } from '../support/closing.ts'
import { printed, skipWithoutRedis as skip, startFleet, type Fleet } from '../support/fleet.ts'
import { receiverHost } from '../support/receiver.ts'
import type { ServiceProcess } from '../support/service.ts'
import { isFull } from '../support/effort.ts'
import { until } from '../support/waiting.ts'

const clock = systemClock()
const price = 7500
const unlimited = { POSTHORN_RATE_LIMIT_MESSAGES: '1000000', POSTHORN_RATE_LIMIT_DEFAULT: '1000000' }

test(
  'whichever of four processes dies, hangs or loses its database, each message is sent, charged, reported and delivered to the endpoint once',
  { skip },
  async (t) => {
    const host = await receiverHost()
    closing(t, () => host.close())
    const receiver = host.receiver()
    const fleet = await startFleet(t, { ...unlimited, POSTHORN_WEBHOOK_ALLOWED_HOSTS: host.host })
    const credit = 1_000_000_000
    const { key } = await fleet.account(credit)
    const channels = await fleet.channels(key, 6, 1000)
    const api = fleet.apis[0].api(key)
    assert.equal((await api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['*'] })).status, 201)
    const load = startLoad(fleet, key, channels)
    closing(t, () => load.stop())
    const [first, second] = fleet.workers

    await load.moved()
    await first.kill('service')
    await holdsAll(fleet, second, channels)
    await first.start()
    await load.moved()

    fleet.line.hold()
    await holdsAll(fleet, first, channels)
    fleet.line.cut()
    await beats(fleet, second)
    await load.moved()

    // only `npm run prove` tests hangs, which wait for real heartbeats
    if (isFull) {
      first.hang()
      await holdsAll(fleet, second, channels)
      await load.moved()
      first.wake()
      await beats(fleet, first)
    }

    const [front, back] = fleet.apis
    await front.kill('service')
    await load.moved()
    // no API answers, and every client soon waits for the hanging one
    back.hang()
    await front.start()
    await load.moved()
    back.wake()
    await load.moved()
    const accepted = await load.stop()

    const sentMessages = () => fleet.twilio.messages.map(({ form }) => form.get('To')!)
    await until(
      'every message to be sent',
      () => missingOf(accepted.values(), sentMessages()),
      (missing) => missing === 0,
    )
    await until(
      'every message to be sent',
      () => unsent(fleet),
      (count) => count === 0,
    )
    const shown = await toldOf(fleet, key, accepted.size)
    await until(
      'every event to reach the endpoint',
      () =>
        missingOf(
          accepted.keys(),
          receiver.received.map(({ json }) => json.data.object.id),
        ),
      (missing) => missing === 0,
    )
    const { body: balance } = await api.get('/v1/balance')
    const doctor = await fleet.command('doctor', '--json')

    t.diagnostic(`${accepted.size} messages accepted`)
    assert.deepEqual(sentMessages().toSorted(), [...accepted.values()].toSorted())
    assert.deepEqual(shown.toSorted(), [...accepted.keys()].map((id) => `message.sent ${id}`).toSorted())
    assert.equal(balance.wallet_micros, credit - accepted.size * price)
    assert.equal(doctor.status, 0, doctor.stdout + doctor.stderr)
    for (const service of [...fleet.apis, ...fleet.workers]) assert.equal(await service.stop(), 0)
  },
)

test('two APIs share the rate limits of a key, and soon refuse a revoked one', { skip }, async (t) => {
  const fleet = await startFleet(t, { POSTHORN_RATE_LIMIT_DEFAULT: '5' })
  const { id, key } = await fleet.account(1)
  const [listed] = JSON.parse(printed(await fleet.command('keys', 'list', '--account', id, '--json'))) as {
    id: string
  }[]
  const ask = () =>
    Promise.all([0, 1, 2, 3, 4].flatMap(() => fleet.apis.map((service) => service.api(key).get('/v1/me'))))
  // sometimes a second ends in the middle
  await until(
    'five of ten questions within one second to be let through',
    async () => {
      const answers = await ask()
      await clock.sleep(1100)
      return answers.filter(({ status }) => status === 200).length
    },
    (passed) => passed === 5,
  )
  const revoked = await fleet.command('keys', 'revoke', listed!.id)
  const from_ms = clock.now()
  const refused = await Promise.all(
    fleet.apis.map((service) =>
      until('the key to be refused', async () => {
        const { status, body } = await service.api(key).get('/v1/me')
        return status === 401 && body.error.code === 'api_key_revoked' ? clock.now() - from_ms : undefined
      }),
    ),
  )

  t.diagnostic(`refused after ${refused.join(' and ')} ms`)
  assert.equal(revoked.status, 0, revoked.stderr)
  // in real time, which other tests share
  for (const took_ms of refused) assert.ok(took_ms! < 15_000, `${took_ms} ms`)
})

test(
  'one of two workers dispatches a channel at its rate, also after that worker dies and the other continues',
  { skip },
  async (t) => {
    const fleet = await startFleet(t, unlimited)
    const { key } = await fleet.account(1_000_000_000)
    const per_second = 10
    const [channel] = await fleet.channels(key, 1, per_second)
    const arrived: number[] = []
    const sentMessages = () => fleet.twilio.messages.length
    const watch = new AbortController()
    const watching = (async () => {
      while (!watch.signal.aborted) {
        for (let at = arrived.length; at < sentMessages(); at++) arrived.push(clock.now())
        await clock.sleep(5)
      }
    })()
    const messages = Array.from({ length: 140 }, (_, n) => ({
      channel,
      to: recipientOf(n),
      type: 'text',
      text: { body: `Number ${n}` },
    }))
    const halves = [messages.slice(0, 70), messages.slice(70)]
    const answers = await Promise.all(
      halves.map((half, at) => fleet.apis[at]!.api(key).post('/v1/messages/batch', { messages: half })),
    )
    await until('some to be sent', () => sentMessages() > 30)
    const holder = (await until('a worker to hold it', () => holderOf(fleet, channel!)))!
    const heir = fleet.workers.find((worker) => worker !== holder)!
    await holder.kill('service')
    await holdsAll(fleet, heir, [channel!])
    await until('all to be sent', () => sentMessages() >= messages.length)
    watch.abort()
    await watching

    assert.deepEqual(
      answers.map(({ status }) => status),
      [207, 207],
    )
    assert.equal(new Set(fleet.twilio.messages.map(({ form }) => form.get('To'))).size, messages.length)
    assert.equal(sentMessages(), messages.length)
    // two dispatchers would double the rate; a stalled machine may bunch some arrivals
    const rates = arrived
      .slice(30)
      .map((to, at) => 30_000 / (to - arrived[at]!))
      .toSorted((one, other) => one - other)
    const usual = rates[Math.floor(rates.length / 2)]!
    t.diagnostic(`${usual.toFixed(1)} a second, at most ${rates.at(-1)!.toFixed(1)}`)
    assert.ok(usual < 1.5 * per_second, `${usual.toFixed(1)} a second`)
  },
)

function missingOf(wanted: Iterable<string>, there: readonly string[]): number {
  const seen = new Set(there)
  return [...wanted].filter((id) => !seen.has(id)).length
}

const recipientOf = (n: number): string => `+4930${String(1_000_000 + n)}`

async function holderOf({ pool, workers }: Fleet, channel_id: string): Promise<ServiceProcess | undefined> {
  const [lease] = await pool<
    { process_id: string }[]
  >`select process_id from channel_leases where channel_id = ${channel_id}`
  return workers.find((worker) => lease?.process_id.includes(`.${worker.pid()}.`) === true)
}

async function holdsAll(fleet: Fleet, worker: ServiceProcess, channels: readonly string[]): Promise<void> {
  await until('one worker to hold every channel', async () => {
    const holders = await Promise.all(channels.map((id) => holderOf(fleet, id)))
    return holders.every((holder) => holder === worker)
  })
}

async function beats({ pool }: Fleet, service: ServiceProcess): Promise<void> {
  await until('a heartbeat', async () => {
    const [row] =
      await pool`select 1 from processes where id like ${`%.${service.pid()}.%`} and heartbeat_at > now() - interval '3 seconds'`
    return row !== undefined
  })
}

async function unsent({ pool }: Fleet): Promise<number> {
  const [row] = await pool<{ count: number }[]>`select count(*)::int as count from messages where status <> 'sent'`
  return row!.count
}

/** The message events of the feed as `type id`, once all are there. */
async function toldOf({ apis }: Fleet, key: string, count: number): Promise<string[]> {
  const shown: string[] = []
  let cursor = ''
  await until(
    'the feed to tell of every message',
    async () => {
      const { status, body } = await apis[1].api(key).get(`/v1/events?order=asc&limit=100${cursor}`)
      assert.equal(status, 200, JSON.stringify(body))
      for (const { type, data } of body.data) if (type.startsWith('message.')) shown.push(`${type} ${data.object.id}`)
      if (body.data.length > 0) cursor = `&starting_after=${body.data.at(-1).id}`
      return { shown: shown.length, more: body.has_more }
    },
    (seen) => seen.shown >= count && seen.more === false,
  )
  return shown
}

/** After this time without an answer a client calls the other API. */
const patienceMs = 5_000

/** Each client prefers one API and uses the other if there is no answer. A message keeps its key until accepted. */
function startLoad({ apis }: Fleet, key: string, channels: readonly string[]) {
  const accepted = new Map<string, string>()
  const clients = apis.map((service) => service.api(key))
  let next = 0
  let stopping = false
  let problem: Error | undefined
  const sendOne = async (sender: number) => {
    const n = next++
    const message = {
      channel: channels[n % channels.length],
      to: recipientOf(n),
      type: 'text',
      text: { body: `Number ${n}` },
    }
    for (let attempt = 0; ; attempt++) {
      const asked = clients[(sender + attempt) % 2]!.post('/v1/messages', message, { 'idempotency-key': `k${n}` })
      const answer = await withinPatience(asked.catch(() => undefined))
      if (answer?.status === 202) return void accepted.set(answer.body.id, message.to)
      if (answer !== undefined && answer.status < 500 && answer.status !== 409)
        throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
      await clock.sleep(10)
    }
  }
  const running = Array.from({ length: 6 }, async (_, sender) => {
    while (!stopping && problem === undefined) {
      await sendOne(sender).catch((error: Error) => (problem = error))
      await clock.sleep(20)
    }
  })
  return {
    async moved() {
      const before = accepted.size
      await until('messages to be accepted', () => {
        if (problem !== undefined) throw problem
        return accepted.size > before + 50
      })
    },
    async stop() {
      stopping = true
      await Promise.all(running)
      if (problem !== undefined) throw problem
      return accepted
    },
  }
}

/** undefined: no answer in time. */
async function withinPatience<T>(answer: Promise<T>): Promise<T | undefined> {
  const over = new AbortController()
  const late = clock.sleep(patienceMs, over.signal).then(() => undefined)
  const first = await Promise.race([answer, late])
  over.abort()
  return first
}
