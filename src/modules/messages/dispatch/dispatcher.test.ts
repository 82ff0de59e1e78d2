/** Rescue of jobs by the worker `dispatch`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWorld } from '../../../../test/support/world.ts'

test('all jobs of a dead process are rescued in one run, and every process is woken', async (t) => {
  const world = await startWorld(t)
  const { id } = await world.account()
  const at = world.clock.iso()
  await world.pool`
    insert into messages (account_id, mode, id, channel_id, channel_type, direction, "to", "from", type, content, status, metadata, billing_source, amount_micros, origin_type, created_at, updated_at)
    select ${id}, 'test', 'msg_' || lpad(n::text, 26, '0'), 'ch_test_sms', 'sms', 'outbound', '+15005550006', '+15005550000', 'text', '{"body":"Hello"}', 'queued', '{}', 'wallet', 0, 'api', ${at}, ${at}
    from generate_series(1, 4500) n`
  await world.pool`
    insert into dispatch_jobs (account_id, mode, message_id, channel_id, queue, priority, next_run_at, process_id)
    select account_id, mode, id, channel_id, account_id || ':' || channel_id, 1, ${world.clock.iso(60_000)}, 'dead' from messages`
  const told = t.mock.method(world.platform, 'notify')

  const worked = await world.tickWhileTimePasses('dispatch')

  const [left] = await world.pool`select count(*) filter (where process_id = 'dead')::int as dead from dispatch_jobs`
  assert.deepEqual([worked >= 4500, left!['dead']], [true, 0])
  assert.ok(told.mock.calls.some(({ arguments: names }) => names.includes('dispatch')))
})
