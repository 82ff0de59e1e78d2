import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lockWaits } from '../../../test/support/lock-waits.ts'
import { holdOpen } from '../../../test/support/open-transactions.ts'
import { until } from '../../../test/support/waiting.ts'
import { startWorld } from '../../../test/support/world.ts'
import { transact } from '../../platform/database/sql.ts'
import { claimMedia, completeUpload, insertMedia, insertUpload, isIncomplete } from './repository.ts'

test('an upload whose commit is in progress does not count as incomplete', async (t) => {
  const world = await startWorld(t)
  const { pool, clock } = world
  const caller = { account_id: (await world.account()).id as `acc_${string}`, mode: 'test' } as const
  await insertUpload(pool, {
    ...caller,
    id: 'med_1',
    kind: 'image',
    filename: null,
    store: 'folder',
    bucket: null,
    created_at: clock.iso(),
  })
  const before = await isIncomplete(pool, 'med_1')
  let asked: Promise<boolean> | undefined

  await holdOpen(pool, async (tx) => {
    await completeUpload(tx, caller, 'med_1', 'image/png', 1)
    asked = isIncomplete(pool, 'med_1')
    await until(
      'the question to wait for the commit',
      () => lockWaits(pool),
      (waiting) => waiting > 0,
    )
  })

  assert.deepEqual([before, await asked], [true, false])
})

test('claiming files reads a few rows per channel, however many wait', async (t) => {
  const world = await startWorld(t)
  const { pool, clock } = world
  const waiting = 20_000
  const at = Date.parse(clock.iso())
  const accounts = [(await world.account()).id, (await world.account()).id]
  const rows = Array.from({ length: waiting }, (_, n) => ({
    account_id: accounts[n % 2] as `acc_${string}`,
    mode: 'live' as const,
    id: `med_${String(n).padStart(26, '0')}`,
    channel_id: `ch_${n % 10}`,
    message_id: `msg_${n}`,
    kind: 'image',
    filename: null,
    reference: { url: 'https://example.com/' },
    created_at: new Date(at - waiting + n).toISOString(),
  }))
  await insertMedia(pool, rows)
  await pool`analyze media_files`

  const [claimed, read] = await transact(pool, async (tx) => {
    const files = await claimMedia(tx, {
      process_id: 'prc_1',
      now: clock.iso(),
      until: new Date(at + 60_000).toISOString(),
      silent_since: new Date(at - 60_000).toISOString(),
      rows_max: 16,
      channel_rows_max: 3,
      account_rows_max: 6,
      busy: [],
    })
    const [counts] = await tx<{ read: number }[]>`
      select (seq_tup_read + idx_tup_fetch)::int as read
      from pg_stat_xact_user_tables
      where relname = 'media_files'`
    return [files, counts!.read] as const
  })

  assert.equal(claimed.length, 12)
  for (const account of accounts) assert.equal(claimed.filter(({ account_id }) => account_id === account).length, 6)
  assert.deepEqual(
    claimed.map(({ id }) => Number(id.slice(4))).toSorted((a, b) => a - b),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
  )
  assert.ok(read < 200, `${read} rows were read`)
})
