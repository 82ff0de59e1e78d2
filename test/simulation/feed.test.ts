/** Simulation of the event feed in seeded random order: no event behind a cursor, none lost, no needless delay. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { feedService } from '../../src/modules/webhooks/feed/service.ts'
import { readFeedSlice } from '../../src/modules/webhooks/fan-out/repository.ts'
import { fanOutWorker } from '../../src/modules/webhooks/fan-out/worker.ts'
import { skipUnrelatedTransactions, stopSkippingUnrelated } from '../../src/platform/events/feed-horizon-repository.ts'
import type { Pool } from '../../src/platform/database/sql.ts'
import { recordEvents } from '../../src/platform/events/outbox.ts'
import { closing } from '../support/closing.ts'
import { testDatabase } from '../support/database.ts'
import { testPool } from '../support/pool.ts'
import { seeded, type Random } from '../support/random.ts'
import { until } from '../support/waiting.ts'
import { startPlatform, type PlatformWorld } from '../support/world.ts'
import { seedsOf } from '../support/effort.ts'

const seeds = seedsOf(2, '1', '2', '3', '4', '5', '6')
const steps = 250
const tenant = { account_id: 'acc_01kg9p6je0e6z9vsnhtbf6d24v', mode: 'test' } as const

for (const seed of seeds) {
  test(`beside any transaction, the feed shows every event in order (seed ${seed})`, async (t) => {
    const simulation = await setUp(t, seed)

    for (let step = 0; step < steps; step++) await simulation.step()
    await simulation.endWriters()

    const committed = simulation.committed()
    await until(
      `${committed.length} events to be shown beside ${simulation.unrelated()} unrelated transactions`,
      async () => {
        await simulation.lookOn()
        await simulation.follow()
        return simulation.seen.length >= committed.length
      },
    )
    await simulation.fanOut()
    assert.deepEqual(simulation.seen.toSorted(), committed.toSorted())
    assert.deepEqual(simulation.seen, await simulation.stored())
    assert.deepEqual(await simulation.delivered(), committed.toSorted())
    t.diagnostic(
      `${committed.length} events, ${simulation.deaths()} deaths, ${simulation.unrelated()} unrelated transactions at the end`,
    )
  })
}

interface Session {
  sql: Pool
  open: boolean
  pending: string[]
}

async function setUp(t: TestContext, seed: string) {
  const world = await startPlatform(t, { seed })
  const random = seeded(`feed simulation ${seed}`)
  const other = await testDatabase({ empty: true })
  closing(t, () => other.drop())
  const reports = `r_${process.pid}_${randomBytes(5).toString('hex')}`
  await world.pool.unsafe(`create role ${reports} login password '${reports}'`)
  closing(t, async () => void (await world.pool.unsafe(`drop role ${reports}`)))
  await world.pool`
    insert into webhook_subscriptions (account_id, mode, event_type, endpoint_id, filters, since_snapshot, since_position)
    select ${tenant.account_id}, 'test', '*', 'we_1', null, pg_current_snapshot(), 0`
  const asReports = new URL(world.database_url)
  ;[asReports.username, asReports.password] = [reports, reports]
  const sessions = (url: string, count: number) => Array.from({ length: count }, () => session(t, url))
  return simulate(world, random, {
    writers: sessions(world.database_url, 5),
    beside: [...sessions(other.url, 3), ...sessions(asReports.href, 2)],
    renew: () => session(t, world.database_url),
  })
}

function session(t: TestContext, url: string): Session {
  const sql = testPool(url, { max: 1, application_name: 'a session' })
  closing(t, () => sql.end({ timeout: 0 }))
  return { sql, open: false, pending: [] }
}

interface Cast {
  readonly writers: Session[]
  readonly beside: readonly Session[]
  renew(): Session
}

function simulate(world: PlatformWorld, random: Random, { writers, beside, renew }: Cast) {
  const feed = feedService(world.platform)
  const workers = [fanOutWorker(world.platform), fanOutWorker(world.platform)]
  const committed: string[] = []
  const seen: string[] = []
  let deaths = 0

  const begin = async (one: Session) => {
    if (one.open) return
    await one.sql`set idle_in_transaction_session_timeout = 0`
    await one.sql.unsafe('begin')
    await one.sql`select pg_current_xact_id()`
    one.open = true
  }
  const end = async (one: Session, how: 'commit' | 'rollback') => {
    if (!one.open) return
    await one.sql.unsafe(how)
    if (how === 'commit') committed.push(...one.pending)
    Object.assign(one, { open: false, pending: [] })
  }
  const record = async (one: Session) => {
    const id = world.platform.ids('evt')
    await recordEvents(one.sql, [
      { ...tenant, id, type: 'message.sent', object_id: 'msg_1', object: { id }, created_at: world.clock.iso() },
    ])
    return id
  }
  const write = async () => {
    const one = random.pick(writers)
    await begin(one)
    one.pending.push(await record(one))
  }
  const writeInVain = async () => {
    const one = random.pick(writers)
    await begin(one)
    await one.sql.unsafe('savepoint s')
    await record(one)
    await one.sql.unsafe('rollback to s')
  }
  const follow = async () => {
    const page = await feed.list(world.pool, tenant, { order: 'asc' }, { limit: 5, starting_after: seen.at(-1) })
    seen.push(...page.slice(0, 5).map(({ id }) => id))
  }
  const kill = async () => {
    const at = random.below(writers.length)
    const dying = writers[at]!
    const [row] = await dying.sql<{ pid: number }[]>`select pg_backend_pid() as pid`
    const last = dying.open && random.below(2) === 0 ? record(dying).catch(() => undefined) : undefined
    await world.pool`select pg_terminate_backend(${row!.pid}, 10000)`
    await last
    writers[at] = renew()
    deaths += 1
  }
  const lookOn = () => skipUnrelatedTransactions(world.pool)
  const fanOut = async () => {
    for (const worker of workers) await worker.tick()
  }
  const quick = () => Promise.all([write(), follow()])
  const whole = [
    ...Array.from({ length: 4 }, () => write),
    ...Array.from({ length: 3 }, () => quick),
    ...Array.from({ length: 3 }, () => follow),
    fanOut,
    fanOut,
    writeInVain,
    lookOn,
    () => (random.below(4) === 0 ? kill() : write()),
    () => begin(random.pick(beside)),
    () => begin(random.pick(beside)),
    () => end(random.pick(beside), random.pick(['commit', 'rollback'])),
    () => end(random.pick(writers), 'commit'),
    () => end(random.pick(writers), 'commit'),
    () => Promise.all([end(random.pick(writers), 'commit'), follow(), workers[0]!.tick()]),
    () => end(random.pick(writers), 'rollback'),
    () => stopSkippingUnrelated(world.pool),
  ]
  return {
    seen,
    follow,
    lookOn,
    deaths: () => deaths,
    committed: () => committed,
    unrelated: () => beside.filter(({ open }) => open).length,
    step: async () => void (await random.pick(whole)()),
    async endWriters() {
      for (const one of beside.slice(1)) await begin(one)
      for (const one of writers) await end(one, 'commit')
    },
    fanOut: () =>
      until('the fan-out to have followed every event', async () => {
        await lookOn()
        await fanOut()
        const { events, blocked } = await readFeedSlice(world.pool, 1)
        return events.length === 0 && !blocked
      }),
    async stored() {
      return (await world.pool<{ id: string }[]>`select id from events order by position, id`).map(({ id }) => id)
    },
    async delivered() {
      return (await world.pool<{ event_id: string }[]>`select event_id from webhook_queue`)
        .map(({ event_id }) => event_id)
        .toSorted()
    },
  }
}
