/** What the statements of dispatch promise to others that work on the same rows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPlatform } from '../../../../test/kit/world.ts'
import { followersOf } from '../transitions/followers.ts'
import { endJobs, takeOverJobs } from './store.ts'

const tenant = { account_id: 'acc_01kg9p6je0e6z9vsnhtbf6d24v', mode: 'live' } as const

test('a take-over leaves alone a message that its process is writing after all, and waits for nobody', async (t) => {
  const { pool, platform, clock } = await startPlatform(t)
  const at = clock.iso()
  const [busy, left] = [platform.ids('msg'), platform.ids('msg')]
  await pool`
    insert into messages (account_id, mode, id, channel_id, channel_type, direction, "to", "from", type, content, status, metadata, billing_source, amount_micros, origin_type, created_at, updated_at)
    select ${tenant.account_id}, ${tenant.mode}, id, 'ch_1', 'sms', 'outbound', '+1202555' || n, '+12025550100', 'text', '{"body":"Hello"}', 'queued', '{}', 'wallet', 5000, 'api', ${at}, ${at}
    from unnest(${[busy, left]}::text[]) with ordinality as t(id, n)`
  await pool`
    insert into dispatch_jobs (account_id, mode, message_id, channel_id, queue, priority, due_at, process_id)
    select ${tenant.account_id}, ${tenant.mode}, id, 'ch_1', 'queue', 1, ${clock.iso(60_000)}, 'believed dead' from unnest(${[busy, left]}::text[]) as t(id)`

  const taken = await pool.begin(async (tx) => {
    await tx`update messages set status = 'sent' where account_id = ${tenant.account_id} and mode = ${tenant.mode} and id = ${busy}`
    const jobs = await takeOverJobs(pool, followersOf(platform, []), 'another', at, at)
    await endJobs(tx, [busy])
    return jobs
  })

  assert.equal(taken, 1)
  assert.deepEqual(
    [...(await pool`select id, status from messages order by id`)].map(({ id, status }) => [id, status]),
    [
      [busy, 'sent'],
      [left, 'sending'],
    ],
  )
  assert.deepEqual(
    [...(await pool`select message_id, process_id from dispatch_jobs`)].map((row) => ({ ...row })),
    [{ message_id: left, process_id: null }],
  )
})
