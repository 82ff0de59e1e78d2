/** The fan-out misses no event and makes each delivery once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tenant } from '../../../api/caller.ts'
import { closing } from '../../../../test/support/closing.ts'
import { testDatabase } from '../../../../test/support/database.ts'
import { feedService } from '../feed/service.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import { recordEvents } from '../../../platform/events/outbox.ts'
import { eventTenant, newEvent } from '../../../../test/support/new-event.ts'
import { testPool } from '../../../../test/support/pool.ts'
import { until } from '../../../../test/support/waiting.ts'
import { startPlatform, type PlatformWorld } from '../../../../test/support/world.ts'
import { fanOutWorker, fanOutOnce } from './worker.ts'
import { commitFanOut, readFeedSlice } from './repository.ts'

/** A transaction takes as long as its statements. */
async function work(tx: Db, statements: number): Promise<void> {
  for (let n = 0; n < statements; n++) await tx`select 1`
}

/** More endpoints that receive everything from the beginning. */
async function subscribeMany(world: PlatformWorld, count: number): Promise<void> {
  await world.pool`
    insert into webhook_subscriptions (account_id, mode, event_type, endpoint_id, since_snapshot, since_position)
    select ${eventTenant.account_id}, 'test', '*', 'we_many_' || n, pg_current_snapshot(), 0 from generate_series(1, ${count}::int) n`
}

/** An endpoint `we_1` that receives everything from the beginning. */
async function subscribe(world: PlatformWorld, filters: object | null = null): Promise<void> {
  await world.pool`
    insert into webhook_subscriptions (account_id, mode, event_type, endpoint_id, filters, since_snapshot, since_position)
    select ${eventTenant.account_id}, 'test', '*', 'we_1', ${filters === null ? null : JSON.stringify(filters)}::text::jsonb, pg_current_snapshot(), 0`
}

/** The row of an endpoint `we_2` that has changed once. */
async function insertEndpoint(world: PlatformWorld, { account_id, mode }: Tenant): Promise<void> {
  await world.pool`
    insert into webhook_endpoints (account_id, mode, id, url, description, events, status, filters, metadata, created_by, secret, version, created_at)
    values (${account_id}, ${mode}, 'we_2', 'https://example.com', '', '{*}', 'active', '{}', '{}', '{}', '', 2, ${world.clock.iso()})`
}

/** New events, once unrelated transactions no longer block them. */
async function sliceOf(world: PlatformWorld, count: number) {
  return await until(
    `${count} events in the feed`,
    () => readFeedSlice(world.pool, 100),
    ({ events }) => events.length >= count,
  )
}

test('several processes miss no event and make each delivery once', async (t) => {
  const world = await startPlatform(t)
  await subscribe(world)
  const writers = testPool(world.database_url, { max: 6, application_name: 'writers' })
  t.after(() => writers.end({ timeout: 1 }))
  const written: string[] = []
  let writing = true
  const write = async (seed: number) => {
    for (let round = 0; round < 30; round++) {
      const made = newEvent(world)
      await transact(writers, async (tx) => {
        await recordEvents(tx, [made])
        await work(tx, (seed * 5 + round) % 9)
      })
      written.push(made.id)
    }
  }
  const workers = [fanOutWorker(world.platform), fanOutWorker(world.platform)]
  const run = (worker: (typeof workers)[number]) =>
    until('the fan-out to have followed every event', async () => {
      const jobs = await worker.tick()
      return !writing && jobs === 0
    })
  const running = Promise.all(workers.map(run))
  await Promise.all([1, 2, 3, 4, 5, 6].map(write))
  writing = false
  await running

  const queued = await world.pool<
    { event_id: string; id: string }[]
  >`select event_id, id from webhook_queue where endpoint_id = 'we_1'`
  assert.deepEqual(queued.map(({ event_id }) => event_id).toSorted(), written.toSorted())
  assert.ok(queued.every(({ id }) => /^whd_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(id)))
})

test('a cursor that an operator set back makes missing deliveries and skips existing ones', async (t) => {
  const world = await startPlatform(t)
  await subscribe(world)
  const worker = fanOutWorker(world.platform)
  const follow = () =>
    until(
      'the fan-out to find no more events',
      () => worker.tick(),
      (jobs) => jobs === 0,
    )
  await recordEvents(world.pool, [newEvent(world), newEvent(world), newEvent(world)])
  await follow()
  const before = await world.pool`select id from webhook_queue order by id`
  await world.pool`update webhook_fan_out set position = 0, id = ''`
  await world.pool`delete from webhook_queue where id = ${before[1]!['id']}`

  await follow()

  assert.equal(before.length, 3)
  assert.deepEqual(await world.pool`select id from webhook_queue order by id`, before)
})

test('a step that another process has made is not written again', async (t) => {
  const world = await startPlatform(t)
  await subscribe(world)
  await recordEvents(world.pool, [newEvent(world), newEvent(world)])
  const { cursor, events } = await sliceOf(world, 2)
  const step = {
    from: cursor,
    to: events[1]!,
    at: world.clock.iso(),
    endpoints: new Map<string, number>(),
    deliveries: [],
  }

  const pass = await fanOutOnce(world.platform)
  const late = await commitFanOut(world.pool, step)

  assert.deepEqual(pass, { events: 2, queued: 2, blocked: false, more: false, stale: null })
  assert.equal(late, 'feed')
  assert.equal((await world.pool`select 1 from webhook_queue`).length, 2)
  assert.deepEqual(
    { ...(await readFeedSlice(world.pool, 10)).cursor },
    { position: events[1]!.position, id: events[1]!.id },
  )
})

test('a step over events that were lost with a failover is not made, and the new events are delivered', async (t) => {
  const world = await startPlatform(t)
  await subscribe(world)
  await recordEvents(world.pool, [newEvent(world)])
  await recordEvents(world.pool, [newEvent(world)])
  const { cursor, events } = await sliceOf(world, 2)
  const step = {
    from: cursor,
    at: world.clock.iso(),
    endpoints: new Map<string, number>(),
    deliveries: [],
  }
  // lost with the end of the log; later transactions reuse its id and those after it
  await world.pool`delete from events where id = ${events[1]!.id}`

  const lost = await commitFanOut(world.pool, { ...step, to: events[1]! })
  const stands = await commitFanOut(world.pool, { ...step, to: events[0]! })

  assert.deepEqual([lost, stands], ['feed', null])
  assert.deepEqual(
    { ...(await readFeedSlice(world.pool, 10)).cursor },
    { position: events[0]!.position, id: events[0]!.id },
  )
})

test('a step computed for an endpoint that has changed is not made', async (t) => {
  const world = await startPlatform(t)
  await recordEvents(world.pool, [newEvent(world)])
  await insertEndpoint(world, eventTenant)
  const { cursor, events } = await sliceOf(world, 1)
  const delivery = {
    id: 'whd_1',
    endpoint_id: 'we_2',
    ...eventTenant,
    event_id: events[0]!.id,
    event_type: 'message.sent',
    next_run_at: world.clock.iso(),
  }
  const step = {
    from: cursor,
    to: events[0]!,
    at: world.clock.iso(),
    deliveries: [delivery],
  }

  const old = await commitFanOut(world.pool, { ...step, endpoints: new Map([['we_2', 1]]) })
  const fresh = await commitFanOut(world.pool, { ...step, endpoints: new Map([['we_2', 2]]) })

  assert.deepEqual([old, fresh], ['endpoints', null])
  assert.equal((await world.pool`select 1 from webhook_queue`).length, 1)
})

test('endpoints that keep changing do not delay events of other accounts', async (t) => {
  const world = await startPlatform(t)
  await subscribe(world)
  const restless = { account_id: 'acc_01kg9p6je0e6z9vsnhtbf6d24w', mode: 'test' } as const
  await insertEndpoint(world, restless)
  await world.pool`
    insert into webhook_subscriptions (account_id, mode, event_type, endpoint_id, since_snapshot, since_position)
    select ${restless.account_id}, 'test', '*', 'we_2', pg_current_snapshot(), 0`
  await recordEvents(world.pool, [...Array.from({ length: 50 }, () => newEvent(world)), newEvent(world, restless)])
  await sliceOf(world, 51)
  const noise = { on: true }
  const pool = new Proxy(world.pool, {
    apply(target, self, args: [unknown]) {
      const run = () => Reflect.apply(target, self, args) as PromiseLike<unknown>
      const ends = Array.isArray(args[0]) && args[0].some((text) => String(text).includes('update webhook_fan_out'))
      return ends && noise.on
        ? world.pool`update webhook_endpoints set version = version + 1 where id = 'we_2'`.then(run)
        : run()
    },
  })
  const worker = fanOutWorker({ ...world.platform, pool })
  const queued = async (count: number) =>
    await until(`${count} deliveries`, async () => {
      await worker.tick()
      return (await world.pool`select from webhook_queue`).length === count
    })

  await queued(50)
  noise.on = false
  await queued(51)
})

test('the feed is read in order up to a limit, and events for a single endpoint have no type', async (t) => {
  const world = await startPlatform(t)
  const made = [
    newEvent(world),
    newEvent(world, { type: 'webhook.test', endpoint_id: 'we_1' }),
    newEvent(world, { mode: 'live' }),
  ]
  for (const one of made) await recordEvents(world.pool, [one])
  await sliceOf(world, 3)

  const { events } = await readFeedSlice(world.pool, 2)

  assert.deepEqual(
    events.map(({ id, type, mode }) => [id, type, mode]),
    [
      [made[0]!.id, 'message.sent', 'test'],
      [made[1]!.id, '', 'test'],
    ],
  )
  assert.deepEqual((await readFeedSlice(world.pool, 10)).events.length, 3)
})

test('an event that a filter rejects, or that is deleted, makes no delivery', async (t) => {
  const world = await startPlatform(t)
  await subscribe(world, { directions: ['outbound'] })
  const objects = [{ direction: 'outbound' }, { direction: 'inbound' }, {}]
  const made = objects.map((object) => newEvent(world, { object }))
  await recordEvents(world.pool, made)
  await sliceOf(world, 3)

  await fanOutOnce(world.platform)

  const queued = await world.pool`select event_id from webhook_queue`
  assert.deepEqual(
    queued.map((row) => row['event_id']),
    [made[0]!.id],
  )
})

test('a run makes a limited number of deliveries, and the next run follows at once', async (t) => {
  const world = await startPlatform(t)
  await subscribeMany(world, 500)
  const made = Array.from({ length: 50 }, () => newEvent(world))
  await recordEvents(world.pool, made)
  await sliceOf(world, 50)

  const first = await fanOutOnce(world.platform)
  const worker = fanOutWorker(world.platform)
  await until(
    'the fan-out to find no more events',
    () => worker.tick(),
    (jobs) => jobs === 0,
  )

  assert.deepEqual(first, { events: 20, queued: 10_000, blocked: false, more: true, stale: null })
  const [{ count } = {}] = await world.pool<{ count: number }[]>`select count(*)::int as count from webhook_queue`
  assert.equal(count, 25_000)
})

test('an event with more subscribers than the limit has a run of its own', async (t) => {
  const world = await startPlatform(t)
  await subscribeMany(world, 10_001)
  await recordEvents(world.pool, [newEvent(world), newEvent(world)])
  await sliceOf(world, 2)

  const passes = [await fanOutOnce(world.platform), await fanOutOnce(world.platform)]

  assert.deepEqual(
    passes.map(({ events, queued, more }) => [events, queued, more]),
    [
      [1, 10_001, true],
      [1, 10_001, false],
    ],
  )
})

test('a long transaction in another database does not delay deliveries or the feed', async (t) => {
  const world = await startPlatform(t)
  await subscribe(world)
  const other = await testDatabase({ empty: true })
  closing(t, () => other.drop())
  const foreign = testPool(other.url, { max: 1, application_name: 'another application' })
  closing(t, () => foreign.end({ timeout: 0 }))
  await foreign`set idle_in_transaction_session_timeout = 0`
  await foreign.unsafe('begin; create table z (i int)')
  const worker = fanOutWorker(world.platform)
  const feed = feedService(world.platform)

  for (let sent = 1; sent <= 5; sent++) {
    await recordEvents(world.pool, [newEvent(world)])
    // whether other transactions run at the moment is not always known
    await until(`delivery ${sent}`, async () => {
      await worker.tick()
      return (await world.pool`select from webhook_queue`).length === sent
    })
    await until(
      `event ${sent} in the feed`,
      async () =>
        (await feed.list(world.pool, eventTenant, { order: 'asc' }, { limit: 10, starting_after: undefined }))
          .length === sent,
    )
  }

  await foreign.unsafe('insert into z values (1); commit')
})
