/** Sessions of disabled endpoints. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWorld } from '../../../../test/support/world.ts'
import { EndpointSessions } from './endpoint-sessions.ts'
import { SessionManager } from './leases.ts'

test('a delivery for an endpoint that is enabled while its queue is dropped is kept', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const { body: endpoint } = await account.api.post('/v1/webhook_endpoints', {
    url: 'https://203.0.113.7/hook',
    events: ['*'],
  })
  const set = (status: string) => account.api.patch(`/v1/webhook_endpoints/${endpoint.id}`, { status })
  const queue = (id: string) => world.pool`
    insert into webhook_queue (account_id, mode, endpoint_id, id, event_id, event_type, next_run_at, created_at)
    values (${account.id}, ${account.mode}, ${endpoint.id}, ${id}, 'evt_1', 'message.sent', ${world.clock.iso()}, ${world.clock.iso()})`
  const waiting = async () => (await world.pool<{ id: string }[]>`select id from webhook_queue`).map(({ id }) => id)
  const keeper = new SessionManager(world.platform, new EndpointSessions())
  await set('disabled')
  await queue('whd_1')
  const ready = await keeper.openDue()
  await keeper.refresh(ready)
  await set('active')
  await queue('whd_2')

  const dropped = await keeper.dropForInactive(ready)

  assert.deepEqual([ready.length, dropped, await waiting()], [1, 0, ['whd_2']])
  await set('disabled')
  await queue('whd_3')
  const again = await keeper.openDue()
  await keeper.refresh(again)
  assert.deepEqual([await keeper.dropForInactive(again), await waiting()], [1, []])
})
