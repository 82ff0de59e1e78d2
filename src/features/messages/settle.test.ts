/** What settling promises when providers are odd. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessageRow } from '../../contract/resources/message.ts'
import { startWorld } from '../../../test/kit/world.ts'
import { recent } from './recent.ts'
import { settle } from './settle.ts'

test('messages that a provider names alike are all sent, and the first keeps the name', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const channel = (await api.post('/v1/channels', { type: 'sms', provider: 'simulator', name: 'Alerts', identifier: '+4915100000001', credentials: {} })).body
    .id
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.push((await api.post('/v1/messages', { channel, to: '+4915112345678', type: 'text', text: { body: 'Hi' } })).body.id)
  const rows = await world.pool<MessageRow[]>`select * from messages order by id`
  const now = world.clock.now()

  await settle(
    { platform: world.platform, billing: world.services.billing, recent: recent() },
    rows.map((row) => ({
      job: { row, attempts: 0, claimed: false, due_ms: now, lease_until_ms: now + 60_000 },
      provider: 'simulator',
      outcome: { kind: 'accepted', provider_ids: ['the same'] },
      duration_ms: 5,
      at_ms: now,
      instant: false,
    })),
  )

  const statuses = await Promise.all(ids.map(async (id) => (await api.get(`/v1/messages/${id}`)).body.status))
  assert.deepEqual(statuses, ['sent', 'sent', 'sent'])
  const [left] = await world.pool`
    select (select count(*) from provider_references) as "references", (select count(*) from message_attempts) as attempts, (select count(*) from dispatch_jobs) as jobs`
  assert.deepEqual({ ...left }, { references: 1, attempts: 3, jobs: 0 })
  await world.invariants()
})
