/** Workers that `callbacks` wakes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testProjection } from '../../../../test/support/projection.ts'
import { startWorld } from '../../../../test/support/world.ts'
import { insertCallbackItems } from './repository.ts'

test('an automatic reply to an inbound message is sent at once', async (t) => {
  const world = await startWorld(t, { projections: [testProjection('test', ['inbound']).projection] })
  const shop = await world.account({ mode: 'live' })
  const channel = {
    type: 'sms',
    provider: 'simulator',
    name: 'Shop',
    identifier: '+4915100000001',
    credentials: {},
    settings: {},
  }
  const { id } = (await shop.api.post('/v1/channels', channel)).body
  const at = world.clock.iso()
  const content = { body: 'STOP' }
  const item = {
    kind: 'inbound',
    from: '+4915112345601',
    profile_name: null,
    type: 'text',
    content,
    reply_to: null,
    provider_id: 'p1',
  } as const
  await insertCallbackItems(world.pool, [
    {
      id: world.platform.ids('req'),
      account_id: shop.id,
      mode: 'live',
      channel_id: id,
      provider_id: null,
      item,
      next_run_at: at,
      created_at: at,
    },
  ])
  const told = t.mock.method(world.platform, 'notify')

  await world.tick('callbacks')

  const [{ replies }] = (await world.pool`select count(*)::int as replies from dispatch_jobs`) as unknown as [
    { replies: number },
  ]
  const woken = told.mock.calls.flatMap(({ arguments: names }) => names)
  assert.deepEqual([replies, ['dispatch', 'fan-out'].filter((name) => !woken.includes(name))], [1, []])
})
