/** The limit of a queue and its counts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../../api/limits.ts'
import { Problem } from '../../../api/problem.ts'
import { until } from '../../../../test/support/waiting.ts'
import { startPlatform } from '../../../../test/support/world.ts'
import { queueLimit, type QueueLimit } from './queue-limit.ts'

const queue = 'acc_1:ch_1'

function isRefused(bound: QueueLimit): boolean {
  try {
    bound.check(queue)
    return false
  } catch (error) {
    assert.ok(error instanceof Problem && error.code === 'upstream_unavailable')
    return true
  }
}

async function fullQueue(t: Parameters<typeof startPlatform>[0]) {
  const { pool, clock, platform } = await startPlatform(t)
  await pool`
    insert into dispatch_jobs (account_id, mode, message_id, channel_id, queue, priority, next_run_at)
    values ('acc_1', 'live', 'msg_1', 'ch_1', ${queue}, 1, ${clock.iso()})`
  return { pool, clock, platform, bound: queueLimit(platform, 1) }
}

test('a full queue is refused once it has been counted', async (t) => {
  const { bound } = await fullQueue(t)
  bound.check(queue)

  await until('the queue to be refused', () => isRefused(bound))
})

test('a request does not wait for the count of its queue', async (t) => {
  const { platform } = await fullQueue(t)
  const never = Object.assign(() => new Promise<never>(() => undefined), platform.pool) as typeof platform.pool
  const bound = queueLimit({ ...platform, pool: never }, 1)

  bound.check(queue)
  bound.check(queue)
})

test('a queue with free capacity accepts messages again, even after the clock was set back', async (t) => {
  const { pool, clock, bound } = await fullQueue(t)
  await until('the queue to be refused', () => isRefused(bound))
  await pool`delete from dispatch_jobs`

  clock.jump(-3600_000)
  await clock.advance(limits.cache_ms)

  await until('the queue to be accepted again', () => !isRefused(bound))
})

test('an outdated count refuses nothing', async (t) => {
  const { clock, bound } = await fullQueue(t)
  await until('the queue to be refused', () => isRefused(bound))
  await clock.advance(3600_000)

  bound.check(queue)
})
