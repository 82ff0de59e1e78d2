import assert from 'node:assert/strict'
import { test } from 'node:test'
import { progressOf } from './recipient-repository.ts'
import { startPlatform } from '../../../test/support/world.ts'

const tenant = { account_id: 'acc_01kg9p6je0e6z9vsnhtbf6d24v', mode: 'live' } as const
const campaigns = Array.from({ length: 12 }, (_, n) => `cmp_${String(n).padStart(2, '0')}`)
const done = 500
const waiting = 3000
const countedInFlight = 15

test('the progress of many campaigns reads few rows, with and without table statistics', async (t) => {
  const { pool } = await startPlatform(t)
  await pool`
    insert into campaign_recipients (account_id, mode, campaign_id, n, "to", address, status, message_id)
    select ${tenant.account_id}, ${tenant.mode}, campaign_id, n, '+1202555' || n, '+1202555' || n, case when n > ${done}::int then 'pending' else 'delivered' end,
      case when n <= ${done + countedInFlight}::int then 'msg_' || n end
    from unnest(${campaigns}::text[]) campaign_id cross join generate_series(1, ${done + countedInFlight + waiting}::int) n
    -- as snapshots write that are taken side by side
    order by n / 250, campaign_id, n`
  const connection = await pool.reserve()
  t.after(() => connection.release())
  const read = async (): Promise<number> => {
    await connection`select pg_stat_force_next_flush()`
    const [row] = await connection<{ read: number }[]>`
      select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_user_tables where relname = 'campaign_recipients'`
    return row!.read
  }
  const looks = 8
  for (const analyzed of [false, true]) {
    if (analyzed) await pool`analyze campaign_recipients`
    const before = await read()

    // until PostgreSQL uses the generic plan
    for (let look = 0; look < looks; look++) {
      const found = await progressOf(
        connection,
        campaigns.map((campaign_id) => ({ ...tenant, campaign_id, most: 10 })),
      )
      assert.deepEqual(
        found.map(({ unsent, in_flight }) => [unsent, in_flight]),
        campaigns.map(() => [true, 10]),
      )
    }

    const each = ((await read()) - before) / looks / campaigns.length
    assert.ok(each <= 1 + countedInFlight, `${each} rows of each campaign were read`)
  }
})
