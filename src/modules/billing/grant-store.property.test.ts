/** The rule that chooses a grant, in SQL and in memory; and ids that are moved behind another. */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { isoTime } from '../../lib/clock.ts'
import { idMaker, idTime } from '../../lib/ids.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { allocate, type GrantRow } from './charging.ts'
import { orderOfUse, paysFor, usableAt } from './grant-store.ts'
import { effort } from '../../../test/support/effort.ts'

const at_ms = Date.parse('2026-02-01T00:00:00.000Z')
const at = isoTime(at_ms)
const moment = fc.constantFrom(null, -1, 0, 1, 1000).map((ms) => (ms === null ? null : isoTime(at_ms + ms)))
const grants = fc.array(
  fc.record({
    channel_types: fc.constantFrom([], ['sms'], ['whatsapp'], ['sms', 'whatsapp']),
    credits_remaining: fc.constantFrom(0, 1, 5),
    expires_at: moment,
    expired_at: fc.constantFrom(null, null, at),
  }),
  { maxLength: 6 },
)

test('the statement that accepts chooses the grant that the locking path would', async (t) => {
  const { pool } = await startPlatform(t)

  await fc.assert(
    fc.asyncProperty(grants, async (given) => {
      const rows = given.map((grant, n): GrantRow => ({
        ...grant,
        account_id: 'acc_1',
        // their age is not the order in which they are listed
        id: `grant_${(n * 5) % 7}`,
        name: '',
        credits_total: 5,
        exhausted_at: null,
        created_at: at,
      }))
      const [chosen] = await pool<{ id: string }[]>`
        select id from (
          select id collate "C" as id, expires_at, expired_at, credits_remaining, array(select json_array_elements_text(channel_types)) as channel_types
          from json_to_recordset(${JSON.stringify(rows)}::text::json)
            as g(id text, expires_at timestamptz, expired_at timestamptz, credits_remaining bigint, channel_types json)
        ) g where ${usableAt(pool, at)} and ${paysFor(pool, pool`'sms'`)} order by ${orderOfUse(pool)} limit 1`

      const item = {
        message_id: 'msg_1',
        account_id: 'acc_1',
        mode: 'live' as const,
        channel_type: 'sms',
        channel_id: 'ch_1',
        price_micros: 1,
        created_at: at,
      }
      const wallet = {
        account_id: 'acc_1',
        balance_micros: 1,
        low_balance_micros: 0,
        low_balance_at: null,
        last_entry_id: '',
      }
      const [charge] = allocate([item], [wallet], rows, at, () => 'txn_1').charges
      assert.equal(charge!.outcome, 'charged')
      assert.equal(chosen?.id ?? null, charge!.outcome === 'charged' ? charge!.package_grant_id : undefined)
    }),
    { numRuns: effort(60, 400) },
  )
})

test('id_ms reads the time of an id, and id_at gives it another one without losing its order', async (t) => {
  const { pool, clock } = await startPlatform(t)
  const make = idMaker(clock)
  const ids = Array.from({ length: 50 }, () => make('txn'))
  const last = ids.at(-1)!

  const rows = await pool<{ id: string; ms: number; same: string; later: string }[]>`
    select id, id_ms(id) as ms, id_at(id, id_ms(id)) as same, id_at(id, id_ms(id) + id_ms(${last}) + 1 - id_ms(${ids[0]!})) as later
    from unnest(${ids}::text[]) with ordinality u(id, n) order by n`

  for (const { id, ms, same } of rows) assert.deepEqual([ms, same], [idTime(id), id])
  const later = rows.map((row) => row.later)
  assert.ok(later.every((id) => id > last && id.length === last.length))
  assert.deepEqual(later.toSorted(), later)
  assert.equal(new Set(later).size, later.length)
})
