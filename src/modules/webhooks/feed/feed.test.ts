/** The event feed: order, filters, cursors, and no event behind a cursor. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { transact, type Db } from '../../../platform/database/sql.ts'
import { recordEvents, type NewEvent } from '../../../platform/events/outbox.ts'
import { idFloor } from '../../../lib/ids.ts'
import { closing } from '../../../../test/support/closing.ts'
import { testDatabase } from '../../../../test/support/database.ts'
import { eventTenant, newEvent } from '../../../../test/support/new-event.ts'
import { testPool } from '../../../../test/support/pool.ts'
import { until } from '../../../../test/support/waiting.ts'
import { startPlatform, type PlatformWorld } from '../../../../test/support/world.ts'
import { feedService, type FeedService } from './service.ts'

const page = (limit = 100, starting_after?: string) => ({ limit, starting_after })

/** All events below the horizon; repeats while unrelated transactions block them. */
async function listed(count: number, read: () => Promise<{ id: string }[]>): Promise<string[]> {
  const rows = await until(`${count} events in the feed`, read, ({ length }) => length >= count)
  return rows.map(({ id }) => id)
}

/** A transaction takes as long as its statements. */
async function work(tx: Db, statements: number): Promise<void> {
  for (let n = 0; n < statements; n++) await tx`select 1`
}

async function start(t: TestContext): Promise<{ world: PlatformWorld; feed: FeedService }> {
  const world = await startPlatform(t)
  return { world, feed: feedService(world.platform) }
}

test('both orders list the same events, filters narrow them, and items are as recorded', async (t) => {
  const { world, feed } = await start(t)
  const events: NewEvent[] = []
  for (const [type, object_id] of [
    ['message.sent', 'msg_1'],
    ['message.read', 'msg_1'],
    ['campaign.started', 'cmp_1'],
    ['message.failed', 'msg_2'],
    ['webhook.test', 'we_1'],
  ] as const) {
    const made = newEvent(world, { type, object_id })
    events.push(made)
    await recordEvents(world.pool, [made])
    await world.clock.advance(3600_000)
  }
  await recordEvents(world.pool, [newEvent(world, { mode: 'live' })])
  const ids = events.map(({ id }) => id)
  const list = async (query: Parameters<FeedService['list']>[2]) =>
    (await feed.list(world.pool, eventTenant, query, page())).map(({ id }) => id)

  const all = await listed(5, () => feed.list(world.pool, eventTenant, { order: 'asc' }, page()))

  assert.deepEqual(all, ids)
  assert.deepEqual(await list({}), ids.toReversed())
  assert.deepEqual(await list({ type: 'message.*', order: 'asc' }), [ids[0], ids[1], ids[3]])
  assert.deepEqual(await list({ type: 'campaign.started' }), [ids[2]])
  assert.deepEqual(await list({ type: 'message.sent' }), [ids[0]])
  assert.deepEqual(await list({ object_id: 'msg_1' }), [ids[1], ids[0]])
  assert.deepEqual(await list({ object_id: 'msg_404' }), [])
  assert.deepEqual(
    await list({ created_after: events[1]!.created_at, created_before: events[4]!.created_at, order: 'asc' }),
    [ids[2], ids[3]],
  )
  assert.deepEqual(await list({ created_after: '2030-01-01T00:00:00.000Z' }), [])
  const { id, type, mode, created_at } = events[2]!
  assert.deepEqual(await feed.get(world.pool, eventTenant, id), {
    id,
    object: 'event',
    type,
    mode,
    created_at,
    data: { object: events[2]!.object },
  })
})

test('`created_after` lists all events even where transactions overlapped', async (t) => {
  const { world, feed } = await start(t)
  await recordEvents(world.pool, [newEvent(world)])
  await world.clock.advance(86_400_000)
  const created_after = world.clock.iso()
  await world.clock.advance(1_000)
  const ids: string[] = []
  const record = async (tx: Db) => {
    const made = newEvent(world)
    ids.push(made.id)
    await recordEvents(tx, [made])
  }
  await transact(world.pool, async (first) => {
    await first`select feed_position()`
    await record(world.pool)
    await record(first)
  })
  await listed(3, () => feed.list(world.pool, eventTenant, {}, page()))

  const found = async (order: 'asc' | 'desc') =>
    (await feed.list(world.pool, eventTenant, { created_after, order }, page())).map(({ id }) => id)
  assert.deepEqual(await found('asc'), ids.toReversed())
  assert.deepEqual(await found('desc'), ids)
})

test('unknown types and cursors are refused, and a cursor older than the stored events is the start of the feed', async (t) => {
  const { world, feed } = await start(t)
  const made = newEvent(world)
  await recordEvents(world.pool, [made])
  await listed(1, () => feed.list(world.pool, eventTenant, {}, page()))
  const old = `${idFloor('evt', world.clock.now() - 31 * 86_400_000).slice(0, -1)}1`

  for (const type of ['message', 'message.*.x', 'nope.*', '*', '.*', 'message.sent.*', 'Message.sent'])
    await assert.rejects(
      feed.list(world.pool, eventTenant, { type }, page()),
      { code: 'parameter_invalid', param: 'type' },
      type,
    )
  for (const cursor of ['x', 'msg_01kg9p6je0e6z9vsnhtbf6d24v', world.platform.ids('evt')])
    await assert.rejects(
      feed.list(world.pool, eventTenant, {}, page(10, cursor)),
      { code: 'parameter_invalid', param: 'starting_after' },
      cursor,
    )
  await assert.rejects(feed.list(world.pool, { ...eventTenant, mode: 'live' }, {}, page(10, made.id)), {
    code: 'parameter_invalid',
  })
  await assert.rejects(feed.get(world.pool, { ...eventTenant, mode: 'live' }, made.id), { code: 'resource_missing' })
  await assert.rejects(feed.get(world.pool, eventTenant, 'evt_x'), { code: 'resource_missing' })
  assert.deepEqual(
    (await feed.list(world.pool, eventTenant, { order: 'asc' }, page(10, old))).map(({ id }) => id),
    [made.id],
  )
  assert.deepEqual(await feed.list(world.pool, eventTenant, { order: 'desc' }, page(10, old)), [])
})

test('no event ever appears behind a cursor, however writers interleave', async (t) => {
  const { world, feed } = await start(t)
  const writers = testPool(world.database_url, { max: 8, application_name: 'writers' })
  t.after(() => writers.end({ timeout: 1 }))
  const written: string[] = []
  const seen: string[] = []
  let writing = true
  const write = async (seed: number) => {
    for (let round = 0; round < 40; round++) {
      const made = [newEvent(world), newEvent(world)]
      await transact(writers, async (tx) => {
        await recordEvents(tx, made.slice(0, 1))
        // transactions of different lengths commit in another order than they began
        await work(tx, (seed * 7 + round * 3) % 11)
        await recordEvents(tx, made.slice(1))
      })
      written.push(...made.map(({ id }) => id))
    }
  }
  const follow = () =>
    until('the projection to have seen every event', async () => {
      const rows = (await feed.list(world.pool, eventTenant, { order: 'asc' }, page(7, seen.at(-1)))).slice(0, 7)
      seen.push(...rows.map(({ id }) => id))
      return !writing && seen.length >= written.length
    })
  // a newest-first reader returns cursors too: events before its newest event must have been final
  const before = new Map<string, number>()
  const look = () =>
    until('the writers to end', async () => {
      const [newest] = await feed.list(world.pool, eventTenant, {}, page(1))
      if (newest !== undefined)
        before.set(
          newest.id,
          (
            await world.pool`select 1 from events where position < (select position from events where id = ${newest.id})`
          ).length,
        )
      return !writing
    })
  const reading = Promise.all([follow(), look()])
  await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(write))
  writing = false
  await reading

  assert.equal(new Set(seen).size, seen.length)
  assert.deepEqual(seen.toSorted(), written.toSorted())
  for (const [id, count] of before) {
    assert.equal(
      (await world.pool`select 1 from events where position < (select position from events where id = ${id})`).length,
      count,
    )
  }
})

test('no event is missed when sessions of several databases reuse slots', async (t) => {
  const { world, feed } = await start(t)
  const other = await testDatabase({ empty: true })
  closing(t, () => other.drop())
  await world.pool`update installation set feed_skips_unrelated = true`
  const written: string[] = []
  const seen: string[] = []
  let writing = true
  /** A session that ends with its transaction; the next one on the server reuses its slot. */
  const session = async (url: string, use: (tx: Db) => Promise<void>) => {
    const own = testPool(url, { max: 1 })
    await transact(own, use)
    await own.end({ timeout: 1 })
  }
  const write = async (seed: number) => {
    for (let round = 0; round < 20; round++) {
      const made = [newEvent(world), newEvent(world)]
      await session(world.database_url, async (tx) => {
        await recordEvents(tx, made.slice(0, 1))
        await work(tx, (seed * 7 + round * 3) % 11)
        await recordEvents(tx, made.slice(1))
      })
      written.push(...made.map(({ id }) => id))
    }
  }
  const runBeside = async (seed: number) => {
    for (let round = 0; round < 20; round++)
      await session(other.url, async (tx) => {
        await tx`select pg_current_xact_id()`
        await work(tx, (seed * 5 + round * 3) % 13)
      })
  }
  const following = until('the projection to have seen every event', async () => {
    const rows = (await feed.list(world.pool, eventTenant, { order: 'asc' }, page(7, seen.at(-1)))).slice(0, 7)
    seen.push(...rows.map(({ id }) => id))
    return !writing && seen.length >= written.length
  })

  await Promise.all([...[1, 2, 3, 4].map(write), ...[1, 2, 3, 4].map(runBeside)])
  writing = false
  await following

  assert.deepEqual(
    seen,
    (await world.pool<{ id: string }[]>`select id from events order by position, id`).map(({ id }) => id),
  )
  assert.deepEqual(seen.toSorted(), written.toSorted())
})
