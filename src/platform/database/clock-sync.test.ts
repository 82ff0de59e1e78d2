/** Processes follow the database's clock, and keep their time while they measure it (behaviour: operating 3.4). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closing } from '../../../test/support/closing.ts'
import { testDatabase } from '../../../test/support/database.ts'
import { testPool } from '../../../test/support/pool.ts'
import { systemClock } from '../../lib/clock.ts'
import { syncClock } from './clock-sync.ts'
import type { Db } from './sql.ts'

test('the known offset stays when the database answers too slowly to measure', async (t) => {
  const database = await testDatabase()
  closing(t, () => database.drop())
  const pool = testPool(database.url, { max: 1 })
  closing(t, () => pool.end({ timeout: 1 }))
  const machine = systemClock()
  machine.adjust(-4_000)
  let looks = 0
  // each answer takes ten seconds
  const slow = { ...machine, offset_ms: -4_000, now: () => machine.now() + (looks++ % 2 === 0 ? 0 : 10_000) }

  assert.equal(await syncClock(pool, slow), -4_000)
})

test('a clock far from database time keeps its offset until a new one is measured, and when the database fails', async (t) => {
  const database = await testDatabase()
  closing(t, () => database.drop())
  const pool = testPool(database.url, { max: 1 })
  const clock = systemClock()
  const offsets: number[] = []
  const asking = ((...question: Parameters<Db>) => {
    offsets.push(clock.offset_ms)
    return pool(...question)
  }) as Db

  clock.adjust(-30_000)
  const measured = await syncClock(asking, clock)
  clock.adjust(30_000)
  await pool.end()
  await assert.rejects(syncClock(asking, clock), { code: 'CONNECTION_ENDED' })

  // the database runs on the same machine
  assert.equal(measured, 0)
  assert.deepEqual([offsets, clock.offset_ms], [[-30_000, -30_000, -30_000, 30_000], 30_000])
})
