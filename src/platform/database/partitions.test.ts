import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { closing } from '../../../test/support/closing.ts'
import { testDatabase } from '../../../test/support/database.ts'
import { holdOpen } from '../../../test/support/open-transactions.ts'
import { testPool } from '../../../test/support/pool.ts'
import { idFloor } from '../../lib/ids.ts'
import { maintainPartitions } from './partitions.ts'
import type { Pool } from './sql.ts'

const monday = Date.UTC(2026, 0, 26)
const hourMs = 3600_000
const things = { table: 'things', prefix: 'evt' } as const

test('rows from before their partition exists stay readable, and later rows go to the partition', async (t) => {
  const pool = await tableOf(t)
  await insert(pool, monday + hourMs, monday + 2 * hourMs)

  const made = await maintainPartitions(pool, things, monday + 3 * hourMs, null)
  await insert(pool, monday + 3 * hourMs)

  assert.equal(made, 4)
  assert.deepEqual(await places(pool), ['things_20260126', 'things_default', 'things_default'])
})

test('a table that is locked is tried again at the next round', async (t) => {
  const pool = await tableOf(t)

  const made = await holdOpen(pool, async (sql) => {
    await sql`lock table things in access exclusive mode`
    return await maintainPartitions(pool, things, monday, null)
  })

  assert.equal(made, 0)
  assert.equal(await maintainPartitions(pool, things, monday, null), 4)
})

test('a permanent error is reported, not treated as a locked table', async (t) => {
  const pool = await tableOf(t)
  await pool`create role partitions_reader`
  closing(t, () => pool`drop owned by partitions_reader`.then(() => pool`drop role partitions_reader`))
  await pool`grant select on all tables in schema public to partitions_reader`

  const refused = pool.begin(async (sql) => {
    await sql`set local role partitions_reader`
    await maintainPartitions(sql as unknown as Pool, things, monday, null)
  })

  await assert.rejects(refused, { code: '42501' })
})

async function tableOf(t: TestContext): Promise<Pool> {
  const database = await testDatabase({ empty: true })
  closing(t, () => database.drop())
  const pool = testPool(database.url)
  closing(t, () => pool.end({ timeout: 1 }))
  await pool.unsafe(`
    create table things (id text collate "C" not null) partition by range (id);
    create table things_default partition of things default`)
  return pool
}

async function insert(pool: Pool, ...times: number[]): Promise<void> {
  for (const ms of times) await pool`insert into things values (${`${idFloor('evt', ms)}x`})`
}

/** The partitions that contain rows. */
async function places(pool: Pool): Promise<string[]> {
  const rows = await pool<{ place: string }[]>`select tableoid::regclass::text as place from things order by place`
  return rows.map(({ place }) => place)
}
