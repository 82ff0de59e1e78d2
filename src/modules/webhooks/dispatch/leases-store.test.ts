/** Leases are locked in one order, whoever changes them: two processes never wait for each other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lockWaits } from '../../../../test/support/lock-waits.ts'
import { holdOpen } from '../../../../test/support/open-transactions.ts'
import { testPool } from '../../../../test/support/pool.ts'
import { until } from '../../../../test/support/waiting.ts'
import { startPlatform } from '../../../../test/support/world.ts'
import { closing } from '../../../../test/support/closing.ts'
import type { Pool } from '../../../platform/database/sql.ts'
import { clearFailures, lockFailures, releaseLeases, renewLeases } from './leases-store.ts'
import { recordHandedOffSuccesses, recordQueuedSuccesses } from './recording-store.ts'

const both = ['we_1', 'we_2']
const result = (endpoint_id: string) => ({
  endpoint_id,
  id: `whd_of_${endpoint_id}`,
  status: 'delivered' as const,
  attempts: 1,
  response_status: 200,
  duration_ms: 1,
  error: null,
  error_message: null,
  next_attempt_at: null,
})
const groupOf = (endpoint_id: string, created_at: string) => ({
  batch: 1,
  endpoint_id,
  account_id: 'acc_1',
  mode: 'test',
  event_type: 'message.sent',
  created_at,
})

const changes: Readonly<Record<string, (pool: Pool, at: string) => Promise<unknown>>> = {
  renewed: (pool, at) => renewLeases(pool, 'p', both, at),
  released: (pool) => releaseLeases(pool, 'p', both),
  cleared: (pool) => clearFailures(pool, both),
  counted: (pool) => lockFailures(pool, both),
  'cleared by successes from the queue': (pool) => recordQueuedSuccesses(pool, both.map(result)),
  'cleared by successes that were handed off': (pool, at) =>
    recordHandedOffSuccesses(
      pool,
      'p',
      both.map((id) => ({ group: groupOf(id, at), event_id: `evt_of_${id}`, result: result(id) })),
      [],
    ),
}

test('leases are locked in the order of their endpoints, however they lie in the table', async (t) => {
  const { pool, clock, database_url } = await startPlatform(t)
  const other = testPool(database_url, { max: 2 })
  closing(t, () => other.end({ timeout: 1 }))
  const wrong: string[] = []
  for (const [name, change] of Object.entries(changes)) {
    await pool`truncate webhook_leases`
    for (const id of both.toReversed())
      await pool`insert into webhook_leases (endpoint_id, process_id, failures) values (${id}, 'p', 3)`
    let changing: Promise<unknown> | undefined
    await holdOpen(pool, async (tx) => {
      await tx`select 1 from webhook_leases where endpoint_id = 'we_2' for update`
      changing = change(other, clock.iso())
      await until('the change to wait', () => lockWaits(pool))
      const free = await pool`select 1 from webhook_leases where endpoint_id = 'we_1' for update skip locked`
      if (free.length > 0) wrong.push(name)
    })
    await changing
  }

  assert.deepEqual(wrong, [])
})
