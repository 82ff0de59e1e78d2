import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { isoTime } from '../../lib/clock.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { orderOfUse, paysFor, usableAt } from './charge-repository.ts'
import { allocate } from './charge.ts'
import type { GrantRow } from './package.ts'
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

test('the accept statement chooses the same grant as charges under locks', async (t) => {
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
        last_entry_at: null,
      }
      const [charge] = allocate([item], [wallet], rows, at, () => 'txn_1').charges
      assert.equal(charge!.outcome, 'charged')
      assert.equal(chosen?.id ?? null, charge!.outcome === 'charged' ? charge!.package_grant_id : undefined)
    }),
    { numRuns: effort(60, 400) },
  )
})
