/** When the bound of a queue is counted anew. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../../api/limits.ts'
import { startPlatform } from '../../../../test/support/world.ts'
import { queueBound } from './queue-bound.ts'

test('a queue that has room again takes messages also where the clock was set back', async (t) => {
  const { pool, clock, platform } = await startPlatform(t)
  const bound = queueBound(platform, 1)
  await pool`
    insert into dispatch_jobs (account_id, mode, message_id, channel_id, queue, priority, next_run_at) values ('acc_1', 'live', 'msg_1', 'ch_1', 'acc_1:ch_1', 1, ${clock.iso()})`
  await assert.rejects(bound.check('acc_1:ch_1'), { code: 'upstream_unavailable' })
  await pool`delete from dispatch_jobs`

  clock.jump(-3600_000)
  await clock.advance(limits.cache_ms)

  await bound.check('acc_1:ch_1')
})
