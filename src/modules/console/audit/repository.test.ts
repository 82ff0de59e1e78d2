/** The statements of the audit log read a page through an index, whatever the filters. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idFloor } from '../../../lib/ids.ts'
import { isoTime } from '../../../lib/clock.ts'
import { jsonRows, type Pool } from '../../../platform/database/sql.ts'
import { explaining, readsWholly } from '../../../../test/support/plans.ts'
import { startPlatform } from '../../../../test/support/world.ts'
import { type AuditFilters, listAudit } from './repository.ts'

const account_id = 'acc_01kg9p6je0e6z9vsnhtbf6d24v'
const many = 20_000
/** Far fewer than there are: the ten minutes of slack around two times. */
const readMax = 2_500
const startMs = Date.parse('2026-01-01T00:00:00.000Z')
const at = (n: number) => isoTime(startMs + n * 1000)

/** One entry a second; the oldest ones have another actor, impersonator or object. */
async function fill(pool: Pool): Promise<void> {
  const ids = Array.from({ length: many }, (_, n) => ({
    n,
    id: `${idFloor('aud', startMs + n * 1000).slice(0, 20)}${String(n).padStart(10, '0')}`,
  }))
  await pool`
    insert into audit_entries (account_id, id, actor_type, actor_id, impersonator_id, action, object_id, changes, created_at)
    select ${account_id}, id, 'user', case when n < 5 then 'usr_rare' else 'usr_1' end,
      case when n between 10 and 14 then 'usr_rare' when n > 100 then 'usr_2' end, 'x',
      case when n between 3 and 12 then 'cmp_rare' else 'cmp_' || n end, '{}',
      ${isoTime(startMs)}::timestamptz + n * interval '1 second'
    from json_to_recordset(${jsonRows(ids)}::text::json) as t(n integer, id text)`
}

const combinations: AuditFilters[] = [undefined, 'usr_rare', 'usr_1', 'usr_2', 'usr_none'].flatMap((actor) =>
  [undefined, 'cmp_rare', 'cmp_none'].flatMap((object_id) =>
    [
      {},
      { created_before: at(8) },
      { created_after: at(many - 20) },
      { created_after: at(4), created_before: at(13) },
    ].map((time) => ({
      ...time,
      ...(actor === undefined ? {} : { actor }),
      ...(object_id === undefined ? {} : { object_id }),
    })),
  ),
)

test('every combination of filters of the audit log is answered through an index, with statistics and without', async (t) => {
  const world = await startPlatform(t)
  await fill(world.pool)
  const explain = explaining(t, world.database_url)
  const check = async () => {
    for (const filters of combinations) {
      const plans = await explain((sql) =>
        listAudit(sql, account_id, filters, { limit: 20, starting_after: undefined }),
      )
      assert.ok(!readsWholly(plans, 'audit_entries'), `${JSON.stringify(filters)} reads every entry`)
      assert.ok(plans.read <= readMax, `${JSON.stringify(filters)} reads ${plans.read} rows`)
    }
  }

  await check()
  await world.pool`analyze audit_entries`
  await check()
})

test('every combination of filters lists the same entries of the audit log as a full scan', async (t) => {
  const { pool } = await startPlatform(t)
  await fill(pool)
  const all = await listAudit(pool, account_id, {}, { limit: many, starting_after: undefined })
  assert.equal(all.length, many)
  for (const filters of combinations) {
    const { actor, object_id, created_after, created_before } = filters
    const found = await listAudit(pool, account_id, filters, { limit: 30, starting_after: undefined })
    const expected = all.filter(
      (row) =>
        (actor === undefined || row.actor_id === actor || row.impersonator_id === actor) &&
        (object_id === undefined || row.object_id === object_id) &&
        (created_after === undefined || row.created_at > created_after) &&
        (created_before === undefined || row.created_at < created_before),
    )
    assert.deepEqual(
      found.map(({ id }) => id),
      expected.slice(0, 31).map(({ id }) => id),
      JSON.stringify(filters),
    )
  }
})
