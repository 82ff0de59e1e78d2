/** Transitions with different clocks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWorld } from '../../../test/support/world.ts'
import { isoTime } from '../../lib/clock.ts'
import { transact } from '../../platform/database/sql.ts'
import { projectionsOf } from './projections.ts'
import { applyTransitions } from './transitions.ts'

test('no step of a message is earlier than the one before it, even if a slower clock reports it', async (t) => {
  const world = await startWorld(t)
  const { api, id: account } = await world.account({ mode: 'test' })
  const tenant = { account_id: account as `acc_${string}`, mode: 'test' } as const
  const { id } = (
    await api.post('/v1/messages', { channel: 'ch_test_sms', to: '+15005550005', type: 'text', text: { body: 'Hi' } })
  ).body
  const start_ms = world.clock.now()
  const apply = (transition: 'claim' | 'accept' | 'deliver' | 'open', at_ms: number) =>
    applyTransitions(
      { platform: world.platform, billing: world.services.billing, projections: projectionsOf(world.platform, []) },
      world.pool,
      [{ ...tenant, message_id: id, transition, at: isoTime(at_ms) }],
    )

  await apply('claim', start_ms - 20)
  await apply('accept', start_ms + 30)
  await apply('deliver', start_ms + 80)
  await apply('open', start_ms + 60)

  const { body } = await api.get(`/v1/messages/${id}`)
  assert.deepEqual(
    [body.sent_at, body.delivered_at, body.read_at, body.updated_at],
    [30, 80, 80, 80].map((ms) => isoTime(start_ms + ms)),
  )
  const steps = (await api.get(`/v1/messages/${id}/events`)).body.data as { status: string; created_at: string }[]
  assert.deepEqual(
    steps.map(({ status, created_at }) => [status, Date.parse(created_at) - start_ms]),
    [
      ['read', 80],
      ['delivered', 80],
      ['sent', 30],
      ['sending', 0],
      ['queued', 0],
    ],
  )
  const event = (await api.get('/v1/events?type=message.read')).body.data[0]
  assert.deepEqual([event.created_at, event.data.object.updated_at], [body.read_at, body.read_at])
})

test('messages of one batch that fail before and after midnight are refunded on their own days', async (t) => {
  const world = await startWorld(t)
  const { api, id: account } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const tenant = { account_id: account as `acc_${string}`, mode: 'live' } as const
  const channel = (
    await api.post('/v1/channels', {
      type: 'sms',
      provider: 'simulator',
      name: 'Alerts',
      identifier: '+4915100000001',
      credentials: {},
    })
  ).body.id
  const send = async (): Promise<string> =>
    (await api.post('/v1/messages', { channel, to: '+4915112345678', type: 'text', text: { body: 'Hi' } })).body.id
  const [late, early] = [await send(), await send()]
  const midnight_ms = Date.parse(`${world.clock.iso().slice(0, 10)}T00:00:00.000Z`) + 24 * 3600_000

  await transact(world.pool, (tx) =>
    applyTransitions(
      { platform: world.platform, billing: world.services.billing, projections: projectionsOf(world.platform, []) },
      tx,
      [
        { ...tenant, message_id: late, transition: 'fail', at: isoTime(midnight_ms + 5) },
        { ...tenant, message_id: early, transition: 'fail', at: isoTime(midnight_ms - 5) },
      ],
    ),
  )

  const days = await world.pool<{ day: string; refunded: number }[]>`
    select day::text, sum(refunded_micros)::int as refunded
    from usage_rows
    group by day
    order by day`
  assert.equal(days.length, 2)
  assert.equal(days[0]!.refunded, days[1]!.refunded)
  assert.ok(days[0]!.refunded > 0)
  await world.invariants()
})
