/** Kills under load: accepted messages become final and reach the webhook endpoints once. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { systemClock } from '../../src/lib/clock.ts'
import { closing } from '../support/closing.ts'
import { seeded } from '../support/random.ts'
import { eventsOf, startLoad, unlimitedService, whenDelivered, whenFinal } from '../support/load.ts'
import { receiverHost } from '../support/receiver.ts'
import { serviceProcess } from '../support/service.ts'
import { effort, seedsOf } from '../support/effort.ts'

const clock = systemClock()
const seed = Number(seedsOf(1, '1')[0])
const rounds = effort(3, 20)
/** Enough that one commit is recorded in several steps. */
const senders = 24

test('after kills under load every accepted message is stored and final, and each of its events is delivered once', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-crash-'))
  closing(t, () => rmSync(dataDir, { recursive: true, force: true }))
  const host = await receiverHost()
  closing(t, () => host.close())
  const receiver = host.receiver()
  const { service, key } = await unlimitedService(t, dataDir, { POSTHORN_WEBHOOK_ALLOWED_HOSTS: host.host })
  const endpoint = await service.api(key).post('/v1/webhook_endpoints', { url: receiver.url, events: ['*'] })
  assert.equal(endpoint.status, 201, JSON.stringify(endpoint.body))
  const load = startLoad(service, key, { senders })
  closing(t, () => load.giveUp())

  const random = seeded(seed)
  const plan = random.shuffle(
    Array.from({ length: rounds }, (_, at) => (['service', 'database', 'both'] as const)[at % 3]!),
  )
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
  for (const [id, to] of accepted)
    assert.deepEqual([...(reached.get(id) ?? [])].toSorted(), eventsOf[to], `${id} to ${to}, at the endpoint`)
  assert.equal(unknown, undefined, 'a message exists that no request was answered with')
  assert.equal(doctor.status, 0, doctor.stdout + doctor.stderr)
  assert.equal(await service.stop(), 0)
})

test('SIGTERM ends the service soon, even if its database has just died', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-crash-'))
  closing(t, () => rmSync(dataDir, { recursive: true, force: true }))
  const service = await serviceProcess(dataDir, { POSTHORN_LOG_LEVEL: 'silent' })
  closing(t, () => service.kill('service'))
  await service.start()

  await service.kill('database')
  const before = clock.now()
  const code = await service.stop()
  const took_ms = clock.now() - before

  assert.equal(code, 0)
  // the service itself stops after 8.5 seconds; the rest is for a busy machine
  assert.ok(took_ms < 20_000, `${took_ms} ms`)
})
