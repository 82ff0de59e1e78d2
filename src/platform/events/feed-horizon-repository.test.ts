/** Which transactions block the event feed: those of this database that may write events, and unknown ones. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { closing } from '../../../test/support/closing.ts'
import { elsewhere, holdOpen, open, startOf, type Open } from '../../../test/support/open-transactions.ts'
import { testPool } from '../../../test/support/pool.ts'
import { seeded } from '../../../test/support/random.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { until } from '../../../test/support/waiting.ts'
import { startPlatform, type PlatformWorld } from '../../../test/support/world.ts'
import { idMaker } from '../../lib/ids.ts'
import { startEmbedded } from '../database/embedded.ts'
import { migrate } from '../database/migrate.ts'
import type { Db, Pool } from '../database/sql.ts'
import { feedBlockers } from './feed-horizon.ts'
import { skipUnrelatedTransactions, listRunning, readHorizon } from './feed-horizon-repository.ts'
import { makeLog } from '../observability/log.ts'
import { recordEvents, type NewEvent } from './outbox.ts'

/** A role that may connect, with these grants; `%` stands for its name. */
async function makeRole(t: TestContext, pool: Pool, ...grants: string[]): Promise<string> {
  const name = `r_${process.pid}_${randomBytes(5).toString('hex')}`
  await pool.unsafe(`create role ${name} login password '${name}'`)
  closing(t, async () => {
    await pool.unsafe(`drop owned by ${name}`)
    await pool.unsafe(`drop role ${name}`)
  })
  for (const grant of grants) await pool.unsafe(grant.replaceAll('%', name))
  return name
}

async function attributed(sql: Db): Promise<number> {
  const [row] = await sql<{ xmin: number }[]>`select feed_attributed_xmin() as xmin`
  return row!.xmin
}

/** Other transactions on the server may block it for a moment. */
const waitUntilPassed = (sql: Db, { xid }: Open) =>
  until(
    'the horizon to pass the transaction',
    () => attributed(sql),
    (xmin) => xmin > xid,
  )

const isUnrelated = async (sql: Db, { xid }: Open) =>
  (await listRunning(sql)).find((running) => running.xid === String(xid))?.unrelated

async function record(world: PlatformWorld, sql: Db = world.pool): Promise<string> {
  const event = eventOf(world.platform.ids('evt'))
  await recordEvents(sql, [event])
  return event.id
}

const eventOf = (id: NewEvent['id']): NewEvent => {
  return {
    account_id: 'acc_1',
    mode: 'test',
    id,
    type: 'message.sent',
    object_id: 'msg_1',
    object: {},
    created_at: '2026-01-31T09:30:00.000Z',
  }
}

const shown = async (sql: Db) =>
  (
    await sql<{ id: string }[]>`select id from events where position < (select feed_horizon()) order by position, id`
  ).map(({ id }) => id)

test('a transaction of another database does not block the feed; one of this database does until it ends', async (t) => {
  const world = await startPlatform(t)
  const foreign = await open(t, await elsewhere(t))
  const first = await record(world)
  assert.deepEqual(await shown(world.pool), [], 'readers skip no transactions yet')

  await until(
    'readers to skip unrelated transactions',
    async () => (await skipUnrelatedTransactions(world.pool)) || (await readHorizon(world.pool)).skips_unrelated,
  )
  await until(
    'the event to be shown',
    () => shown(world.pool),
    (ids) => ids.includes(first),
  )
  const own = await open(t, world.database_url)
  const second = await record(world)

  assert.equal(await isUnrelated(world.pool, foreign), true)
  assert.equal(await isUnrelated(world.pool, own), false)
  assert.ok((await attributed(world.pool)) <= own.xid)
  // other transactions on the server may block it for a moment
  const alone = await until(
    'the first event to be shown',
    () => shown(world.pool),
    (ids) => ids.includes(first),
  )
  assert.deepEqual(alone, [first])
  await own.sql.unsafe('rollback')
  await until(
    'both events to be shown',
    () => shown(world.pool),
    (ids) => ids.length === 2 && ids[1] === second,
  )
})

test('a transaction of a role that may write events blocks the feed, and of any other role does not', async (t) => {
  const world = await startPlatform(t)
  const { pool } = world
  const reports = await makeRole(t, pool, 'grant select on events to %', 'grant create on schema public to %')
  const writer = await makeRole(t, pool, 'grant insert on events to %')
  const partly = await makeRole(t, pool, 'grant insert (id) on events_default to %')
  const member = await makeRole(t, pool, `grant ${writer} to % with inherit false`)
  const all = await makeRole(t, pool, 'grant pg_write_all_data to %')
  const unrelated = await open(t, world.database_url, reports)
  await unrelated.sql`create table of_reports (i int)`
  await unrelated.sql`select from events`

  const others = [
    await open(t, world.database_url, writer),
    await open(t, world.database_url, partly),
    await open(t, world.database_url, member),
  ]
  const last = await open(t, world.database_url, all)

  assert.equal(await isUnrelated(pool, unrelated), true)
  for (const other of [...others, last]) assert.equal(await isUnrelated(pool, other), false)
})

test('a role counts as a writer while a security-definer function or a rule on the table may lend it the privilege', async (t) => {
  const world = await startPlatform(t)
  const { pool } = world
  const reports = await makeRole(t, pool)
  const session = await open(t, world.database_url, reports)
  const seen: unknown[] = []

  for (const [lend, take] of [
    [
      'create function write_event() returns void language sql security definer as $$ select $$',
      'drop function write_event()',
    ],
    ['create view copied as select * from events', 'drop view copied'],
  ] as const) {
    await pool.unsafe(lend)
    seen.push(await isUnrelated(pool, session))
    await pool.unsafe(take)
    seen.push(await isUnrelated(pool, session))
  }

  assert.deepEqual(seen, [false, true, false, true])
})

test('a transaction that has written an event blocks the feed, even after its role lost the privilege', async (t) => {
  const world = await startPlatform(t)
  const { pool } = world
  const former = await makeRole(t, pool, 'grant insert, select on events to %', 'grant select on installation to %')
  const session = await open(t, world.database_url, former)
  const id = await record(world, session.sql)
  await pool.unsafe(`revoke insert on events from ${former}`)

  assert.equal(await isUnrelated(pool, session), false)
  await session.sql.unsafe('commit')
  await until(
    'the event to be shown',
    () => shown(pool),
    (ids) => ids.includes(id),
  )
})

test('a transaction that has ended since the snapshot counts as ours', async (t) => {
  const world = await startPlatform(t)
  const foreign = await open(t, await elsewhere(t))

  await world.pool.begin('isolation level repeatable read', async (sql) => {
    await sql`set local idle_in_transaction_session_timeout = 0`
    await sql`select 1`
    await foreign.sql.unsafe('commit')
    assert.ok((await attributed(sql)) <= foreign.xid)
    assert.equal(await isUnrelated(sql, foreign), undefined, 'an ended transaction is not listed')
  })
  await waitUntilPassed(world.pool, foreign)
})

test('the horizon belongs to the snapshot of its statement, even when it is computed later', async (t) => {
  const world = await startPlatform(t)
  const { pool } = world
  await pool`update installation set feed_skips_unrelated = true`
  const gate = await open(t, world.database_url)
  await gate.sql`select pg_advisory_xact_lock(1)`

  const asking = pool<{ horizon: number; xmax: number }[]>`
    with opened as materialized (select pg_advisory_xact_lock(1))
    select feed_horizon() & ${2 ** 48 - 1} as horizon, pg_snapshot_xmax(pg_current_snapshot())::text::bigint as xmax from opened`.execute()
  await until(
    'it to wait',
    async () =>
      (
        await pool`select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database()) and not granted`
      ).length > 0,
  )
  await record(world)
  await gate.sql.unsafe('commit')

  const [row] = await asking
  assert.ok(row!.horizon <= row!.xmax, 'events below the horizon that the statement does not see')
  assert.ok(row!.horizon <= gate.xid)
})

test('a transaction does not see its own events, and notices transactions that began after its first look at sessions', async (t) => {
  const world = await startPlatform(t)
  await skipUnrelatedTransactions(world.pool)
  const url = await elsewhere(t)

  await holdOpen(world.pool, async (sql) => {
    await attributed(sql)
    const foreign = await open(t, url)
    const own = await open(t, world.database_url)
    assert.deepEqual([await isUnrelated(sql, foreign), await isUnrelated(sql, own)], [true, false])
    await own.sql.unsafe('rollback')
    const id = await record(world, sql)
    const [row] = await sql<{ xid: number }[]>`select pg_current_xact_id()::text::bigint as xid`
    assert.ok((await attributed(sql)) <= row!.xid)
    assert.ok(!(await shown(sql)).includes(id))
  })
})

test('without the right to see other sessions the databases are still known, and unknown transactions count as ours', async (t) => {
  const world = await startPlatform(t)
  const service = await makeRole(t, world.pool, 'grant all on all tables in schema public to %')
  const foreign = await open(t, await elsewhere(t))
  const own = await open(t, world.database_url)
  const address = new URL(world.database_url)
  ;[address.username, address.password] = [service, service]
  const pool = testPool(address.href, { max: 1 })
  closing(t, () => pool.end({ timeout: 1 }))

  const running = await listRunning(pool)
  const clock = fakeClock()
  let sentences: string[] | undefined
  const looking = feedBlockers(pool, clock).then((found) => (sentences = found))
  await until('the second check', async () => {
    await clock.advance(5_000)
    return sentences !== undefined
  })
  await looking

  const byXid = new Map(running.map((one) => [one.xid, one]))
  assert.deepEqual([byXid.get(String(foreign.xid))?.unrelated, byXid.get(String(own.xid))?.unrelated], [true, false])
  assert.equal(byXid.get(String(own.xid))?.started_at, null)
  assert.match(sentences!.join('\n'), new RegExp(`session ${own.pid} \\(night report\\).*for at least 5 seconds`))
})

test('a prepared transaction blocks the feed of its own database only, also after a restart, and is reported', async (t) => {
  const { url, restart } = await ownServer(t)
  const before = testPool(url, { max: 2 })
  await migrate(before, fakeClock())
  await before`insert into installation (system_identifier, created_at) values ('it', '2026-01-31T09:30:00.000Z') on conflict do nothing`
  await before`create database elsewhere`
  const foreign = await open(t, url.replace(/[^/]*$/, 'elsewhere'))
  await foreign.sql`create table prepared_there (i int)`
  await foreign.sql.unsafe(`prepare transaction 'there'`)
  assert.equal(await isUnrelated(before, foreign), true)
  const own = await open(t, url)
  await own.sql`create table prepared_here (i int)`
  await own.sql.unsafe(`prepare transaction 'it''s here'`)
  assert.equal(await isUnrelated(before, own), false)
  await Promise.all([foreign.sql.end({ timeout: 0 }), own.sql.end({ timeout: 0 }), before.end({ timeout: 0 })])

  const after = testPool(await restart(), { max: 2 })
  closing(t, () => after.end({ timeout: 0 }))

  assert.deepEqual([await isUnrelated(after, foreign), await isUnrelated(after, own)], [true, false])
  assert.equal(await attributed(after), own.xid)
  const clock = fakeClock(new Date((await startOf(after)) + 61_000).toISOString())
  assert.deepEqual(await feedBlockers(after, clock), [
    `The prepared transaction it's here (${own.xid}) in the database posthorn of the role posthorn has blocked the event feed for 61 seconds; ` +
      "end it in the database posthorn with `rollback prepared 'it''s here'` or `commit prepared`.",
  ])
  await after.unsafe(`rollback prepared 'it''s here'`)
  await waitUntilPassed(after, own)
})

test('after a crash in the middle of a transaction the feed is not blocked and shows exactly the committed events', async (t) => {
  const { url } = await ownServer(t)
  const pool = testPool(url, { max: 1 })
  closing(t, () => pool.end({ timeout: 0 }))
  await migrate(pool, fakeClock())
  await pool`create database elsewhere`
  await pool`update installation set feed_skips_unrelated = true`
  const newId = idMaker(fakeClock(), seeded(t.name).fill)
  const event = () => eventOf(newId('evt'))
  const foreign = await open(t, url.replace(/[^/]*$/, 'elsewhere'))
  const writer = await open(t, url)
  const [first, lost, last] = [event(), event(), event()]
  await recordEvents(writer.sql, [lost])
  await recordEvents(pool, [first])
  assert.deepEqual(
    [await isUnrelated(pool, foreign), await isUnrelated(pool, writer), await shown(pool)],
    [true, false, []],
  )

  process.kill(writer.pid, 'SIGKILL')
  const gone = () => pool`select from pg_stat_activity where pid = ${writer.pid}`.then(({ length }) => length === 0)
  await until('the server to have recovered', () => gone().catch(() => false))
  await recordEvents(pool, [last])

  const both = await until(
    'both events to be shown',
    () => shown(pool),
    (ids) => ids.length === 2,
  )
  assert.deepEqual(both, [first.id, last.id])
})

/** A separate server that may crash and allows prepared transactions. */
async function ownServer(t: TestContext): Promise<{ url: string; restart(): Promise<string> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-prepared-'))
  const start = () => startEmbedded({ dataDir, log: makeLog('silent'), throwaway: true })
  let server = await start()
  closing(t, async () => {
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const admin = testPool(server.url, { max: 1 })
  await admin`alter system set max_prepared_transactions = 5`
  await admin`alter system set autovacuum = off`
  await admin.end({ timeout: 1 })
  const restart = async () => {
    await server.stop()
    server = await start()
    return server.url
  }
  return { url: await restart(), restart }
}
