/** Dispatch statements are safe while other processes work on the same rows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testProjection } from '../../../../test/support/projection.ts'
import { holdOpen } from '../../../../test/support/open-transactions.ts'
import { startPlatform } from '../../../../test/support/world.ts'
import type { Pool } from '../../../platform/database/sql.ts'
import { projectionsOf } from '../projections.ts'
import { claimProbes, endJobs, rescueJobs } from './repository.ts'

const tenant = { account_id: 'acc_01kg9p6je0e6z9vsnhtbf6d24v', mode: 'live' } as const

/** Messages whose jobs are claimed by a process without a heartbeat. */
async function leave(pool: Pool, ids: readonly string[], at: string, lease_until: string): Promise<void> {
  await pool`
    insert into messages (account_id, mode, id, channel_id, channel_type, direction, "to", "from", type, content, status, metadata, billing_source, amount_micros, origin_type, created_at, updated_at)
    select ${tenant.account_id}, ${tenant.mode}, id, 'ch_1', 'sms', 'outbound', '+1202555' || n, '+12025550100', 'text', '{"body":"Hello"}', 'queued', '{}', 'wallet', 5000, 'api', ${at}, ${at}
    from unnest(${[...ids]}::text[]) with ordinality as t(id, n)`
  await pool`
    insert into dispatch_jobs (account_id, mode, message_id, channel_id, queue, priority, next_run_at, process_id)
    select ${tenant.account_id}, ${tenant.mode}, id, 'ch_1', 'queue', 1, ${lease_until}, 'believed dead' from unnest(${[...ids]}::text[]) as t(id)`
}

test('a rescue skips a message that its process is writing, and does not wait', async (t) => {
  const { pool, platform, clock } = await startPlatform(t)
  const at = clock.iso()
  const [busy, left] = [platform.ids('msg'), platform.ids('msg')]
  await leave(pool, [busy, left], at, clock.iso(60_000))

  const taken = await holdOpen(pool, async (tx) => {
    await tx`update messages set status = 'sent' where account_id = ${tenant.account_id} and mode = ${tenant.mode} and id = ${busy}`
    const { jobs } = await rescueJobs(pool, projectionsOf(platform, []), {
      process_id: 'another',
      at,
      alive_since: at,
      lease_ms: 60_000,
      jobs_max: 10,
    })
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

test('a rescue runs in batches and returns the origins that changed', async (t) => {
  const { pool, platform, clock } = await startPlatform(t)
  const at = clock.iso()
  await leave(pool, [platform.ids('msg'), platform.ids('msg'), platform.ids('msg')], at, clock.iso(60_000))
  const projections = projectionsOf(platform, [testProjection().projection])
  const take = () =>
    rescueJobs(pool, projections, { process_id: 'another', at, alive_since: at, lease_ms: 60_000, jobs_max: 2 })

  const pieces = [await take(), await take(), await take()].map((piece) => ({ ...piece }))

  assert.deepEqual(pieces, [
    { jobs: 2, origin_types: ['api'] },
    { jobs: 1, origin_types: ['api'] },
    { jobs: 0, origin_types: [] },
  ])
})

test('a rescued message is `sending` from the beginning of its claim, however late it is found', async (t) => {
  const { pool, platform, clock } = await startPlatform(t)
  await leave(pool, [platform.ids('msg')], clock.iso(), clock.iso(90_000))
  const at = clock.iso(2 * 3600_000)

  await rescueJobs(pool, projectionsOf(platform, []), {
    process_id: 'another',
    at,
    alive_since: at,
    lease_ms: 60_000,
    jobs_max: 10,
  })

  const [row] = await pool`select status, sending_at, updated_at from messages`
  assert.deepEqual({ ...row }, { status: 'sending', sending_at: clock.iso(30_000), updated_at: at })
})

test('a probe is the most urgent and oldest, or the newest, message with the fewest attempts', async (t) => {
  const { pool, platform, clock } = await startPlatform(t)
  const names = ['urgent, tried', 'oldest', 'urgent', 'newest', 'later', 'of another queue'] as const
  const ids = new Map(names.map((name) => [name, platform.ids('msg')]))
  await leave(pool, [...ids.values()], clock.iso(), clock.iso())
  const put = (name: (typeof names)[number], priority: number, due_ms: number, attempts: number, queue = 'queue') =>
    pool`update dispatch_jobs set process_id = null, priority = ${priority}, next_run_at = ${clock.iso(due_ms)}, attempts = ${attempts}, queue = ${queue} where message_id = ${ids.get(name)!}`
  await put('urgent, tried', 0, -9000, 3)
  await put('oldest', 1, -8000, 0)
  await put('urgent', 0, -7000, 0)
  await put('newest', 2, -1000, 0)
  await put('later', 0, 1000, 0)
  await put('of another queue', 0, -9000, 0, 'another')
  const choices = ['newest', 'newest', 'oldest', 'oldest', 'oldest'] as const

  const claimed: unknown[] = []
  for (const choice of choices) {
    const probes = await claimProbes(pool, {
      probes: [
        { queue: 'queue', choice },
        { queue: 'empty', choice },
      ],
      at: clock.iso(),
      lease_until: clock.iso(60_000),
      process_id: 'p',
    })
    claimed.push(...probes.map(({ id }) => names.find((name) => ids.get(name) === id)))
  }

  assert.deepEqual(claimed, ['newest', 'urgent', 'oldest', 'urgent, tried'])
})
