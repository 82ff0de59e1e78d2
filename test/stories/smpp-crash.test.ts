/** An SMPP channel under load, whose processes are killed at any instant: nothing is lost, and what a process knew to be sent does not go again. */
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openPool } from '../../src/platform/database/pool.ts'
import { makeLog } from '../../src/platform/log.ts'
import { openSecrets } from '../../src/platform/secrets.ts'
import { apiClient } from '../kit/api.ts'
import { closing } from '../kit/closing.ts'
import { testDatabase } from '../kit/database.ts'
import { smsc, type Submitted } from '../kit/simulators/smsc.ts'
import { until } from '../kit/waiting.ts'
import { workerProcesses } from '../kit/worker-processes.ts'
import { testSecretKeys } from '../kit/world.ts'

const clock = systemClock()
const messages = 600
const windowSize = 10
/** When the process that is bound is killed: once the SMSC has got so many. */
const killsAt = [120, 360]
const person = '+4915112345678'

test(
  'processes share an SMSC under load, and whichever is bound is killed: every message arrives, and only what was under way goes twice',
  { timeout: 180_000 },
  async (t) => {
    const sim = await smsc(t, { bindsMax: 1, answersAfter: () => clock.sleep(15) })
    const { api, pool, database_url } = await startApi(t, sim.host)
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

    const given = Array.from({ length: messages }, (_, n) => ({ channel: channel.body.id, to: person, type: 'text', text: { body: `text ${n}` } }))
    for (let at = 0; at < messages; at += 100) await api.post('/v1/messages/batch', { messages: given.slice(at, at + 100) })
    const kills: { readonly known: ReadonlySet<string>; readonly submitted: number }[] = []
    for (const count of killsAt) {
      await until('the load', () => sim.submitted.length >= count)
      const [row] = await pool<{ process_id: string }[]>`select process_id from channel_sessions`
      const known = new Set((await sentBodies(pool)).map(({ body }) => body))
      await crowd.killOne(crowd.placeOf(row!.process_id))
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
    t.diagnostic(`${kills.length} kills, ${twice.length} of ${messages} messages went twice, with a window of ${windowSize}`)
    assert.equal(copies.size, messages)
    for (const { known, submitted } of kills)
      assert.deepEqual(
        sim.submitted.slice(submitted).filter(({ bytes }) => known.has(bytes.toString())),
        [],
      )
    assert.equal(sim.boundMost(), 1)
    assert.ok(twice.length <= 4 * killsAt.length * windowSize, `${twice.length} went twice`)

    // of a message that went twice the receipt of the copy that we know of counts
    const taken = await Promise.all(sim.submitted.map((message) => sim.receipt(message, 'DELIVRD')))
    assert.deepEqual([...new Set(taken)], [0])
    await until(
      'every message to be delivered',
      async () => (await pool`select from messages where status = 'delivered'`).length,
      (count) => count === messages,
    )
  },
)

const copiesOf = (submitted: readonly Submitted[]): Map<string, number> => {
  const copies = new Map<string, number>()
  for (const { bytes } of submitted) copies.set(bytes.toString(), (copies.get(bytes.toString()) ?? 0) + 1)
  return copies
}

const sentBodies = async (pool: Awaited<ReturnType<typeof startApi>>['pool']) =>
  await pool<{ body: string }[]>`select content->>'body' as body from messages where status = 'sent'`

/** The API alone, at the time of the machine: the lanes are the workers'. */
async function startApi(t: TestContext, allowed: string) {
  const database = await testDatabase()
  closing(t, () => database.drop())
  const pool = openPool(database.url, { max: 6, application_name: 'test' })
  closing(t, () => pool.end({ timeout: 1 }))
  const settings = { ...readConfig({ POSTHORN_WEBHOOK_ALLOWED_HOSTS: allowed }), rate_limit_default: 1_000_000 }
  const app = buildApp({ pool, clock, settings, secrets: await openSecrets(pool, testSecretKeys), log: makeLog('error'), roles: ['api'] })
  await app.start()
  closing(t, () => app.stop())
  await app.server.listen({ host: '127.0.0.1', port: 0 })
  const { accounts, billing } = app.services
  const account = await accounts.create({ name: 'Shop' })
  await billing.creditWallet(pool, account.id, 100_000_000, null)
  const { key } = await accounts.createKey({ account_id: account.id, mode: 'live' })
  return { pool, database_url: database.url, api: apiClient(`http://127.0.0.1:${(app.server.server.address() as AddressInfo).port}`, key) }
}
