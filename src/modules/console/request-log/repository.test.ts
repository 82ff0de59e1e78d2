/** The statements of the request log: pages through an index, and a bounded size per account. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idFloor } from '../../../lib/ids.ts'
import { isoTime } from '../../../lib/clock.ts'
import { maintainPartitions } from '../../../platform/database/partitions.ts'
import type { Pool } from '../../../platform/database/sql.ts'
import { explaining, readsWholly } from '../../../../test/support/plans.ts'
import { startPlatform } from '../../../../test/support/world.ts'
import { insertRequests, listRequests, type RequestFilters, type RequestRow } from './repository.ts'
import { deleteBeyond } from './ring.ts'

const tenant = { account_id: 'acc_01kg9p6je0e6z9vsnhtbf6d24v', mode: 'live' } as const
const startMs = Date.parse('2026-01-01T00:00:00.000Z')
const many = 30_000
/** Far fewer than there are: a page of two kinds in each of five partitions. */
const readMax = 600

const page = { limit: 20, starting_after: undefined }
const idOf = (n: number) => `${idFloor('req', startMs).slice(0, 10)}${String(n).padStart(20, '0')}`

/** Nearly all are `POST` refused with 429; the oldest ones differ. */
async function fill(pool: Pool): Promise<void> {
  await maintainPartitions(pool, { table: 'request_log', prefix: 'req', every: 'day' }, startMs, null)
  await pool`
    insert into request_log (account_id, mode, id, method, path, status, code, key_id, duration_ms, created_at)
    select ${tenant.account_id}, ${tenant.mode}, ${idOf(0).slice(0, 10)} || lpad(n::text, 20, '0'),
      case when n % 3 = 0 and n < 100 then 'DELETE' when n = 1 then 'GET' else 'POST' end, '/v1/messages',
      case when n < 50 then 200 when n < 100 then 404 else 429 end,
      case when n < 50 then null when n < 100 then 'resource_missing' else 'rate_limit_exceeded' end,
      'key_1', 1, ${isoTime(startMs)}::timestamptz + n * interval '1 second'
    from generate_series(1, ${many}::int) n`
}

test('every combination of filters of the request log is answered through an index, with statistics and without', async (t) => {
  const world = await startPlatform(t)
  await fill(world.pool)
  const combinations: RequestFilters[] = [null, 'GET', 'POST', 'PATCH', 'DELETE'].flatMap((method) =>
    [null, 'rate_limit_exceeded', 'resource_missing', 'no_such_code'].flatMap((code) =>
      [null, true, false].map((refused) => ({ method, code, refused })),
    ),
  )
  const explain = explaining(t, world.database_url)
  const check = async () => {
    for (const filters of combinations)
      for (const starting_after of [undefined, idOf(200)]) {
        const plans = await explain((sql) => listRequests(sql, tenant, filters, { ...page, starting_after }))
        assert.ok(!readsWholly(plans, 'request_log'), `${JSON.stringify(filters)} reads every request`)
        assert.ok(plans.read <= readMax, `${JSON.stringify(filters)} reads ${plans.read} rows`)
      }
  }

  await check()
  await world.pool`analyze request_log`
  await check()
})

test('every combination of filters lists the same requests as a full scan', async (t) => {
  const { pool } = await startPlatform(t)
  await fill(pool)
  const all = (await listRequests(pool, tenant, { method: null, code: null, refused: null }, { ...page, limit: many }))!
  assert.equal(all.length, many)
  for (const method of [null, 'GET', 'POST', 'DELETE'])
    for (const code of [null, 'rate_limit_exceeded', 'resource_missing'])
      for (const refused of [null, true, false]) {
        const found = await listRequests(pool, tenant, { method, code, refused }, { ...page, limit: 70 })
        const expected = all.filter(
          (row) =>
            (method === null || row.method === method) &&
            (code === null || row.code === code) &&
            (refused === null || row.status >= 400 === refused),
        )
        assert.deepEqual(
          found.map(({ id }) => id),
          expected.slice(0, 71).map(({ id }) => id),
          JSON.stringify({ method, code, refused }),
        )
      }
})

const row = (n: number, more: Partial<RequestRow> = {}): RequestRow => ({
  ...tenant,
  id: idOf(n),
  method: 'POST',
  path: '/v1/messages',
  operation: 'messages.send',
  status: 400,
  code: 'parameter_invalid',
  key_id: 'key_1',
  user_id: null,
  duration_ms: 1,
  created_at: isoTime(startMs + n * 60_000),
  count: 1,
  ...more,
})

const bytesOfRow = 600 + '/v1/messages'.length + 'messages.send'.length + 3 * 'parameter_invalid'.length

test('beyond the size of an account its oldest requests of both modes go, and those of others stay', async (t) => {
  const { pool } = await startPlatform(t)
  const neighbour = 'acc_01kg9p6je0e6z9vsnhtbf6d25v'
  // more than a day, in both modes
  const rows = Array.from({ length: 3_000 }, (_, n) => row(n, n % 2 === 0 ? { mode: 'test' } : {}))
  const max = 1_000 * bytesOfRow

  const fits = await insertRequests(pool, rows.slice(0, 1_000), max)
  const large = await insertRequests(pool, rows.slice(1_000), max)
  const repeated = await insertRequests(pool, rows, max)
  await insertRequests(pool, [row(5_000, { account_id: neighbour }), row(5_001, { account_id: neighbour })], max)
  await deleteBeyond(pool, tenant.account_id, max)

  assert.deepEqual([fits, large, repeated], [[], [tenant.account_id], []])
  const left = await pool<
    { id: string }[]
  >`select id from request_log where account_id = ${tenant.account_id} order by id`
  assert.deepEqual([left.length, left[0]!.id, left.at(-1)!.id], [1_000, idOf(2_000), idOf(2_999)])
  assert.deepEqual(
    [...(await pool`select account_id, sum(bytes)::int as bytes from request_log_sizes group by 1 order by 1`)],
    [
      { account_id: tenant.account_id, bytes: max },
      { account_id: neighbour, bytes: 2 * bytesOfRow },
    ],
  )
})
