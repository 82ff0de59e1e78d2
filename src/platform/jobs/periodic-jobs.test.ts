import assert from 'node:assert/strict'
import test from 'node:test'
import { startPlatform } from '../../../test/support/world.ts'
import { periodicJobsWorker, platformPeriodicJobs, untilDone } from './periodic-jobs.ts'
import { maintainPartitions } from '../database/partitions.ts'
import { recordEvents } from '../events/outbox.ts'
import type { PeriodicJob } from '../platform.ts'

const day = 24 * 3600_000
const events = { table: 'events', prefix: 'evt' }

test('partitions are created ahead and dropped after retention', async (t) => {
  const { pool, clock, platform } = await startPlatform(t)
  const record = async () => {
    const event = {
      id: platform.ids('evt'),
      account_id: 'acc_a' as const,
      mode: 'test' as const,
      type: 'message.sent' as const,
      object_id: 'msg_a',
      object: {},
      created_at: clock.iso(),
    }
    await recordEvents(pool, [event])
    return event.id
  }
  const kept = async () =>
    (
      await pool<
        { id: string; partition: string }[]
      >`select id, tableoid::regclass::text as partition from events order by id`
    ).map(({ id, partition }) => [id, partition])

  const stray = await record()
  const made = await maintainPartitions(pool, events, clock.now(), clock.now() - 30 * day)
  const again = await maintainPartitions(pool, events, clock.now(), clock.now() - 30 * day)
  await clock.advance(7 * day)
  const inTime = await record()
  const before = await kept()
  await clock.advance(31 * day)
  await maintainPartitions(pool, events, clock.now(), clock.now() - 30 * day)
  const after = await kept()
  await clock.advance(7 * day)
  await maintainPartitions(pool, events, clock.now(), clock.now() - 30 * day)

  // the partition of the current week begins after the row in the default partition
  assert.deepEqual([made, again], [4, 0])
  assert.deepEqual(before, [
    [stray, 'events_default'],
    [inTime, 'events_20260202'],
  ])
  assert.deepEqual(after, [[inTime, 'events_20260202']])
  assert.deepEqual(await kept(), [])
})

test('a table that only grows is analyzed whenever it or a partition has doubled', async (t) => {
  const { pool, clock } = await startPlatform(t)
  await maintainPartitions(pool, events, clock.now(), clock.now() - 30 * day)
  await maintainPartitions(
    pool,
    { table: 'messages', prefix: 'msg', every: 'month', fillfactor: 50 },
    clock.now(),
    null,
  )

  const rows = await pool<{ name: string; options: string[] | null }[]>`
    select relname as name, reloptions as options from pg_class
    where relkind = 'r' and relname ~ '^(messages|message_attempts|events|webhook_deliveries)_(default|[0-9]{8})$' or relname in ('ledger_entries', 'provider_references')`
  assert.equal(rows.length, 4 + 4 + 4 + 2)
  for (const { name, options } of rows) assert.ok(options?.includes('autovacuum_analyze_scale_factor=1'), name)
})

test('a periodic job runs when it is due, in one process at a time, and its failure does not stop the others', async (t) => {
  const { platform, clock } = await startPlatform(t)
  const ran: string[] = []
  const periodicJob = (name: string, every_ms: number, run: () => Promise<number> = async () => 0): PeriodicJob => ({
    name,
    every_ms,
    run: async () => {
      ran.push(name)
      return await run()
    },
  })
  const other = periodicJobsWorker(platform, [periodicJob('other process', 1000)])
  const worker = periodicJobsWorker(platform, [
    periodicJob('broken', 1000, async () => {
      throw new Error('broken')
    }),
    periodicJob('often', 1000, async () => {
      // another process finds the lock taken
      await other.tick()
      return 0
    }),
    periodicJob('seldom', 5000),
  ])

  await worker.tick()
  await clock.advance(1000)
  await worker.tick()

  assert.deepEqual(ran, ['broken', 'often', 'seldom', 'broken', 'often'])
})

test('a clock that is set back by days neither delays nor prolongs a periodic job', async (t) => {
  const { platform, clock } = await startPlatform(t)
  let [runs, steps] = [0, 0]
  const worker = periodicJobsWorker(platform, [{ name: 'often', every_ms: 1000, run: async () => (runs += 1) }])
  await worker.tick()

  clock.jump(-3 * day)
  await clock.advance(1000)
  await worker.tick()
  await untilDone(clock, 10, async () => {
    steps += 1
    if (steps === 2) clock.jump(-3 * day)
    await clock.advance(1000)
    return steps < 100 ? 10 : 0
  })

  assert.deepEqual([runs, steps], [2, 5])
})

test('a periodic job is due by wall clock or elapsed time, whichever is first', async (t) => {
  const { platform, clock } = await startPlatform(t)
  let runs = 0
  const worker = periodicJobsWorker(platform, [{ name: 'seldom', every_ms: 3600_000, run: async () => (runs += 1) }])
  const ran: number[] = []
  const tick = async () => {
    await worker.tick()
    ran.push(runs)
  }
  await tick()

  clock.jump(3600_000)
  await tick()
  await tick()
  clock.jump(-day)
  await clock.advance(3599_000)
  await tick()
  await clock.advance(1000)
  await tick()

  assert.deepEqual(ran, [1, 2, 2, 2, 3])
})

test('the periodic jobs of the platform run on an empty database', async (t) => {
  const { platform } = await startPlatform(t)

  for (const periodicJob of platformPeriodicJobs(platform)) assert.ok((await periodicJob.run()) >= 0, periodicJob.name)
})

test('monthly partitions have the fill factor that their updates need', async (t) => {
  const { pool, clock } = await startPlatform(t)
  const messages = { table: 'messages', prefix: 'msg', every: 'month', fillfactor: 50 } as const
  const attempts = { table: 'message_attempts', column: 'message_id', prefix: 'msg', every: 'month' } as const

  const made = [
    await maintainPartitions(pool, messages, clock.now(), null),
    await maintainPartitions(pool, attempts, clock.now(), null),
    await maintainPartitions(pool, messages, clock.now(), null),
  ]

  const rows = await pool<{ name: string; options: string[] | null }[]>`
    select c.relname as name, c.reloptions as options from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'messages'::regclass order by 1`
  const doubled = 'autovacuum_analyze_scale_factor=1'
  assert.deepEqual(made, [4, 4, 0])
  assert.deepEqual(
    rows.map(({ name, options }) => [name, options]),
    [
      ['messages_20260101', ['fillfactor=50', doubled]],
      ['messages_20260201', ['fillfactor=50', doubled]],
      ['messages_20260301', ['fillfactor=50', doubled]],
      ['messages_20260401', ['fillfactor=50', doubled]],
      ['messages_default', ['fillfactor=30', doubled]],
    ],
  )
})

test('one run deletes all expired idempotency keys', async (t) => {
  const { pool, clock, platform } = await startPlatform(t)
  const insert = (prefix: string, count: number) => pool`
    insert into idempotency_keys (account_id, mode, operation, key, fingerprint, created_at)
    select 'acc_a', 'test', 'POST /v1/messages', ${prefix} || n, '', ${clock.iso()} from generate_series(1, ${count}::int) n`
  await insert('old', 12_000)
  await clock.advance(day)
  await insert('new', 3)

  await platformPeriodicJobs(platform)
    .find(({ name }) => name === 'delete-expired-idempotency-keys')!
    .run()

  const left = await pool<{ key: string }[]>`select key from idempotency_keys order by key`
  assert.deepEqual(
    left.map(({ key }) => key),
    ['new1', 'new2', 'new3'],
  )
})

test('a periodic job with a backlog yields after five seconds', async (t) => {
  const { clock } = await startPlatform(t)
  let steps = 0

  const done = await untilDone(clock, 10, async () => {
    steps += 1
    await clock.advance(1000)
    return 10
  })

  assert.deepEqual([steps, done], [5, 50])
})
