/** The search for expired messages. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startPlatform } from '../../../../test/support/world.ts'
import { expiredSearch, scannedMax } from './expiry.ts'
import { findExpired, searchStart } from './queues-repository.ts'

const queueNamed = (queue: string) => ({ queue, account_id: 'acc_1', mode: 'live', channel_id: 'ch_1' }) as const

async function searching(t: TestContext) {
  const { pool, platform, clock } = await startPlatform(t)
  const search = expiredSearch(platform)
  /** Due messages, oldest first; those with the numbers in `expired` have expired. */
  const leave = async (queue: string, count: number, expired: readonly number[]) => {
    await pool`
      insert into messages (account_id, mode, id, channel_id, channel_type, direction, "to", "from", type, content, status, metadata, billing_source, amount_micros, origin_type, created_at, updated_at, expires_at)
      select 'acc_1', 'live', ${queue} || '_' || n, 'ch_1', 'sms', 'outbound', '+12025550123', '+12025550100', 'text', '{"body":"Hello"}', 'queued', '{}', 'wallet', 5000, 'api', ${clock.iso()}, ${clock.iso()},
        ${clock.iso()}::timestamptz + case when n = any(${[...expired]}::int[]) then -1 else 3600 end * interval '1 s' from generate_series(1, ${count}::int) n`
    await pool`
      insert into dispatch_jobs (account_id, mode, message_id, channel_id, queue, priority, next_run_at)
      select 'acc_1', 'live', ${queue} || '_' || n, 'ch_1', ${queue}, n % 2, ${clock.iso(-3600_000)}::timestamptz + n * interval '1 ms' from generate_series(1, ${count}::int) n`
  }
  const look = async (queues: readonly string[], rows_max = 100) =>
    (await search.claim(queues.map(queueNamed), clock.iso(60_000), rows_max)).rows.map(({ id }) => id).toSorted()
  return { pool, clock, leave, look }
}

test('a search reads a limited number of jobs per queue and priority, and the next one continues after them', async (t) => {
  const { pool, clock, leave } = await searching(t)
  await leave('long', 50, [50])
  const search = { at: clock.iso(), aged: clock.iso(), scanned_max: 10, found_max: 100 }

  const seen: unknown[] = []
  let from = [searchStart('long', 0)]
  for (let look = 0; look < 4 && from.length > 0; look++) {
    const { message_ids, reached } = await findExpired(pool, { ...search, from })
    seen.push([message_ids, reached.map(({ message_id }) => message_id)])
    from = [...reached]
  }

  assert.deepEqual(seen, [
    [[], ['long_20']],
    [[], ['long_40']],
    [['long_50'], []],
  ])
})

test('all expired messages are found, in long and short queues', async (t) => {
  const { leave, look } = await searching(t)
  await leave('long', 2 * scannedMax, [1, scannedMax, 2 * scannedMax])
  await leave('short', 5, [2])

  const found: string[] = []
  for (let n = 0; n < 12; n++) found.push(...(await look(['long', 'short'])))

  assert.deepEqual(found.toSorted(), ['long_1', `long_${scannedMax}`, `long_${2 * scannedMax}`, 'short_2'].toSorted())
})

test('when more has expired than fits in one search, the next search follows at once', async (t) => {
  const { leave, look } = await searching(t)
  await leave('short', 5, [1, 2, 3])

  const first = await look(['short'], 2)
  const second = await look(['short'], 2)

  assert.deepEqual([...first, ...second].toSorted(), ['short_1', 'short_2', 'short_3'])
})

test('a failed search is logged and not repeated at once', async (t) => {
  const { pool, clock, leave, look } = await searching(t)
  await leave('short', 5, [2])
  await pool`alter table messages rename to messages_away`

  const failed = await look(['short'])
  await pool`alter table messages_away rename to messages`
  const soon = await look(['short'])
  await clock.advance(1000)

  assert.deepEqual([failed, soon, await look(['short'])], [[], [], ['short_2']])
})
