/** What a row of a file says while another transaction settles it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lockWaits } from '../../../test/support/lock-waits.ts'
import { holdOpen } from '../../../test/support/open-transactions.ts'
import { until } from '../../../test/support/waiting.ts'
import { startWorld } from '../../../test/support/world.ts'
import { insertUpload, isIncomplete, settleUpload } from './store.ts'

test('an upload whose commit is under way is not taken for incomplete: its file is not removed', async (t) => {
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
    await settleUpload(tx, caller, 'med_1', 'image/png', 1)
    asked = isIncomplete(pool, 'med_1')
    await until(
      'the question to wait for the commit',
      () => lockWaits(pool),
      (waiting) => waiting > 0,
    )
  })

  assert.deepEqual([before, await asked], [true, false])
})
