/** Crash test of an SMPP channel under load: nothing is lost, and known messages are not sent again. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { systemClock } from '../../src/lib/clock.ts'
import type { Pool } from '../../src/platform/database/sql.ts'
import { startApiAlone } from '../support/api-alone.ts'
import { smsc, type Smsc, type Submitted } from '../support/simulators/smsc.ts'
import { until } from '../support/waiting.ts'
import { workerProcesses } from '../support/worker-processes.ts'

const clock = systemClock()
const messages = 600
const windowSize = 10
/** The bound process is killed after so many messages. */
const killsAt = [120, 360]
const person = '+4915112345678'

test('processes share an SMSC under load and kills of the bound one: every message arrives, and only messages in progress are repeated', async (t) => {
  const sim = await smsc(t, { bindsMax: 1, answersAfter: () => clock.sleep(15) })
  const { api, pool, database_url } = await startApiAlone(t, { POSTHORN_WEBHOOK_ALLOWED_HOSTS: sim.host }, 100_000_000)
  const channel = await api.post('/v1/channels', {
    type: 'sms',
    provider: 'smpp',
    name: 'Alerts',
    identifier: '+4915100000001',
    credentials: { host: '127.0.0.1', port: sim.port, system_id: 'shop', password: 'secret' },
    settings: { max_messages_per_second: 1000, window_size: windowSize },
  })
  const crowd = await workerProcesses(t, { database_url, pool }, 2, { POSTHORN_WEBHOOK_ALLOWED_HOSTS: sim.host })
  await until('a bind', () => sim.bound() === 1)

  const given = Array.from({ length: messages }, (_, n) => ({
    channel: channel.body.id,
    to: person,
    type: 'text',
    text: { body: `text ${n}` },
  }))
  for (let at = 0; at < messages; at += 100)
    await api.post('/v1/messages/batch', { messages: given.slice(at, at + 100) })
  const kills: { readonly known: ReadonlySet<string>; readonly submitted: number }[] = []
  for (const count of killsAt) {
    await until('the load', () => sim.submitted.length >= count)
    const place = await until(
      'one of them to hold the session',
      async () => crowd.placeOf(await sessionHolder(pool)),
      (at) => at >= 0,
    )
    const known = new Set((await sentBodies(pool)).map(({ body }) => body))
    await crowd.killOne(place)
    kills.push({ known, submitted: sim.submitted.length })
    await until('another bind', () => sim.bound() === 1)
  }
  await until(
    'every message to be sent',
    async () => (await sentBodies(pool)).length,
    (count) => count === messages,
  )

  const copies = copiesOf(sim.submitted)
  const twice = [...copies].filter(([, count]) => count > 1).map(([body]) => body)
  t.diagnostic(
    `${kills.length} kills, ${twice.length} of ${messages} messages went twice, with a window of ${windowSize}`,
  )
  assert.equal(copies.size, messages)
  for (const { known, submitted } of kills)
    assert.deepEqual(
      sim.submitted.slice(submitted).filter(({ bytes }) => known.has(bytes.toString())),
      [],
    )
  assert.equal(sim.boundMost(), 1)
  assert.ok(twice.length <= 4 * killsAt.length * windowSize, `${twice.length} went twice`)

  // of a message sent twice, the receipt of the known copy counts
  const taken = await Promise.all(sim.submitted.map((message) => receiptTaken(sim, message)))
  assert.deepEqual([...new Set(taken)], [0])
  await until(
    'every message to be delivered',
    async () => (await pool`select from messages where status = 'delivered'`).length,
    (count) => count === messages,
  )
})

const copiesOf = (submitted: readonly Submitted[]): Map<string, number> => {
  const copies = new Map<string, number>()
  for (const { bytes } of submitted) copies.set(bytes.toString(), (copies.get(bytes.toString()) ?? 0) + 1)
  return copies
}

async function sessionHolder(pool: Pool): Promise<string> {
  const [row] = await pool<{ process_id: string }[]>`select process_id from channel_sessions`
  return row?.process_id ?? ''
}

const receiptTaken = async (sim: Smsc, message: Submitted) =>
  await until(
    'a receipt to be answered',
    () => sim.receipt(message, 'DELIVRD'),
    (status) => status !== null,
  )

const sentBodies = async (pool: Pool) =>
  await pool<{ body: string }[]>`select content->>'body' as body from messages where status = 'sent'`
