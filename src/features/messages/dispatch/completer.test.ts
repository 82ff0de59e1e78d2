/** What writing completions promises when providers are odd. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessageRow } from '../rows.ts'
import { startWorld } from '../../../../test/kit/world.ts'
import { followersOf } from '../transitions/followers.ts'
import { providerIdCache } from './provider-ids.ts'
import { writeCompletions } from './completer.ts'

test('messages that a provider names alike are all sent, and the first keeps the name', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const channel = (await api.post('/v1/channels', { type: 'sms', provider: 'simulator', name: 'Alerts', identifier: '+4915100000001', credentials: {} })).body
    .id
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.push((await api.post('/v1/messages', { channel, to: '+4915112345678', type: 'text', text: { body: 'Hi' } })).body.id)
  const rows = await world.pool<MessageRow[]>`select * from messages order by id`
  const now = world.clock.now()

  await writeCompletions(
    { platform: world.platform, billing: world.services.billing, followers: followersOf(world.platform, []), providerIds: providerIdCache() },
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

test('a message that is cancelled while the sandbox takes it was never handed over: no attempt, no receipt, no reply', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'test' })
  const { id } = (await api.post('/v1/messages', { channel: 'ch_test_sms', to: '+15005550008', type: 'text', text: { body: 'Hi' } })).body
  const [row] = await world.pool<MessageRow[]>`select * from messages`
  const now = world.clock.now()
  const reply = { kind: 'inbound', provider_id: 'r', from: '+15005550008', profile_name: null, type: 'text', content: { body: 'Hi' }, reply_to: 'p' } as const

  const cancelled = await api.post(`/v1/messages/${id}/cancel`)
  await writeCompletions(
    { platform: world.platform, billing: world.services.billing, followers: followersOf(world.platform, []), providerIds: providerIdCache() },
    [
      {
        job: { row: row!, attempts: 0, claimed: false, due_ms: now, lease_until_ms: now + 60_000 },
        provider: 'sandbox',
        outcome: { kind: 'accepted', provider_ids: ['p'], reports: [{ after_ms: 80, report: reply }] },
        duration_ms: 0,
        at_ms: now,
        instant: true,
      },
    ],
  )
  await world.clock.advance(1000)
  await world.settle()

  assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body))
  assert.deepEqual((await api.get(`/v1/messages/${id}`)).body, cancelled.body)
  assert.deepEqual((await api.get(`/v1/messages/${id}/attempts`)).body.data, [])
  assert.deepEqual((await api.get('/v1/messages?direction=inbound')).body.data, [])
  await world.invariants()
})
