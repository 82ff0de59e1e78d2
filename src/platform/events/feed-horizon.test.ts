/** How an operator learns what holds the event feed up: the gauge, the log, and the doctor. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { pino } from 'pino'
import { began, elsewhere, open } from '../../../test/support/open-transactions.ts'
import { until } from '../../../test/support/waiting.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { heldFeed, watchHorizon } from './feed-horizon.ts'
import { readHorizon } from './feed-horizon-store.ts'

const day = 24 * 3600_000

test('what holds the feed up for long stands in the metrics, and twice in the log: when it begins, and when it goes on', async (t) => {
  const world = await startPlatform(t)
  const lines: { msg: string; pid: number | null; transaction?: string }[] = []
  const log = pino(
    { level: 'info', base: null },
    { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
  )
  const periodicJob = watchHorizon({ ...world.platform, log })
  const age = async () => (await world.platform.metrics.feed_horizon_age_seconds.get()).values[0]!.value
  const look = async () => {
    await world.clock.advance(2_000)
    await periodicJob.run()
  }
  const own = await open(t, world.database_url)
  const ownLines = () => lines.filter(({ transaction }) => transaction === undefined || transaction === String(own.xid))

  // what else runs on the server may be older at one of the looks
  await until('the age to pass ten seconds', async () => {
    await look()
    return (await age()) > 10
  })
  for (let looks = 0; looks < 5; looks++) await look()
  assert.deepEqual(
    ownLines().map(({ msg, pid }) => [msg, pid]),
    [[`a transaction holds the event feed up; end it with \`select pg_terminate_backend(${own.pid})\``, own.pid]],
  )
  await own.sql.unsafe('rollback')
  await until('the age to be nothing', async () => {
    await look()
    return (await age()) === 0
  })

  assert.deepEqual(
    ownLines()
      .map(({ msg }) => msg)
      .slice(1),
    ['the event feed goes on'],
  )
})

test('readers look as long as there is somebody to look past, and no longer', async (t) => {
  const world = await startPlatform(t)
  const periodicJob = watchHorizon(world.platform)
  const foreign = await open(t, await elsewhere(t))
  const held = async () => {
    await periodicJob.run()
    return (await readHorizon(world.pool)).held
  }

  await until('readers to look', held)
  for (let looks = 0; looks < 10; looks++) assert.equal(await held(), true)
  await foreign.sql.unsafe('rollback')

  await until('readers to look no longer', async () => !(await held()))
})

test('doctor names a transaction that has held the feed up for seconds, with its session and what to do, and no other', async (t) => {
  const world = await startPlatform(t)
  await open(t, await elsewhere(t))
  const own = await open(t, world.database_url)
  const at = (await began(world.pool, own)) - world.clock.now()
  await world.clock.advance(at + 4_000)
  const early = await heldFeed(world.pool, world.clock)
  await world.clock.advance(day)

  const late = await heldFeed(world.pool, world.clock)

  const mine = (sentence: string) => sentence.includes(`transaction ${own.xid} `)
  assert.deepEqual(early.filter(mine), [])
  const database = world.database_url.split('/').at(-1)
  assert.deepEqual(
    late.filter((sentence) => sentence.includes('night report')),
    [
      `The transaction ${own.xid} of the session ${own.pid} (night report) in the database ${database} of the role posthorn holds the event feed up, for 86404 seconds; ` +
        `end it with \`select pg_terminate_backend(${own.pid})\`.`,
    ],
  )
})
