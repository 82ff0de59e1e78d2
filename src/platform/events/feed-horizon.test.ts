/** How operators see transactions that block the event feed: metric, log and doctor. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { pino } from 'pino'
import { startOf, elsewhere, open } from '../../../test/support/open-transactions.ts'
import { until } from '../../../test/support/waiting.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { feedBlockers, feedHorizonJob } from './feed-horizon.ts'
import { readHorizon } from './feed-horizon-repository.ts'

const day = 24 * 3600_000

test('a transaction that blocks the feed for long is shown in the metrics, and logged at its begin and end', async (t) => {
  const world = await startPlatform(t)
  const lines: { msg: string; pid: number | null; transaction?: string }[] = []
  const log = pino(
    { level: 'info', base: null },
    { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
  )
  const periodicJob = feedHorizonJob({ ...world.platform, log })
  const age = async () => (await world.platform.metrics.feed_horizon_age_seconds.get()).values[0]!.value
  const look = async () => {
    await world.clock.advance(2_000)
    await periodicJob.run()
  }
  const own = await open(t, world.database_url)
  const ownLines = () => lines.filter(({ transaction }) => transaction === undefined || transaction === String(own.xid))

  // another transaction on the server may be older at one of the runs
  await until('the age to pass ten seconds', async () => {
    await look()
    return (await age()) > 10
  })
  for (let looks = 0; looks < 5; looks++) await look()
  assert.deepEqual(
    ownLines().map(({ msg, pid }) => [msg, pid]),
    [[`a transaction blocks the event feed; end it with \`select pg_terminate_backend(${own.pid})\``, own.pid]],
  )
  await own.sql.unsafe('rollback')
  await until('the age to be zero', async () => {
    await look()
    return (await age()) === 0
  })

  assert.deepEqual(
    ownLines()
      .map(({ msg }) => msg)
      .slice(1),
    ['the event feed continues'],
  )
})

test('readers skip unrelated transactions only while there are any', async (t) => {
  const world = await startPlatform(t)
  const periodicJob = feedHorizonJob(world.platform)
  const foreign = await open(t, await elsewhere(t))
  const isSkipping = async () => {
    await periodicJob.run()
    return (await readHorizon(world.pool)).skips_unrelated
  }

  await until('readers to skip', isSkipping)
  for (let runs = 0; runs < 10; runs++) assert.equal(await isSkipping(), true)
  await foreign.sql.unsafe('rollback')

  await until('readers to stop skipping', async () => !(await isSkipping()))
})

test('doctor reports a transaction that has blocked the feed for seconds, with its session and a remedy', async (t) => {
  const world = await startPlatform(t)
  await open(t, await elsewhere(t))
  const own = await open(t, world.database_url)
  const at = (await startOf(world.pool, own)) - world.clock.now()
  await world.clock.advance(at + 4_000)
  const early = await feedBlockers(world.pool, world.clock)
  await world.clock.advance(day)

  const late = await feedBlockers(world.pool, world.clock)

  const mine = (sentence: string) => sentence.includes(`transaction ${own.xid} `)
  assert.deepEqual(early.filter(mine), [])
  const database = world.database_url.split('/').at(-1)
  assert.deepEqual(
    late.filter((sentence) => sentence.includes('night report')),
    [
      `The transaction ${own.xid} of the session ${own.pid} (night report) in the database ${database} of the role posthorn has blocked the event feed for 86404 seconds; ` +
        `end it with \`select pg_terminate_backend(${own.pid})\`.`,
    ],
  )
})
