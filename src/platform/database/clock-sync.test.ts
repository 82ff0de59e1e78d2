/** Processes follow the database's clock, and while they measure it they keep the time that they have (behaviour: operating 3.4). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closing } from '../../../test/kit/closing.ts'
import { testDatabase } from '../../../test/kit/database.ts'
import { systemClock } from '../../lib/clock.ts'
import { syncClock } from './clock-sync.ts'
import { openPool } from './pool.ts'
import type { Db } from './sql.ts'

test('a clock that is half a minute off database time keeps its offset until the new one is known, and where the database does not answer', async (t) => {
  const database = await testDatabase()
  closing(t, () => database.drop())
  const pool = openPool(database.url, { max: 1 })
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

  // the machine's time is the database's own here
  assert.equal(measured, 0)
  assert.deepEqual([offsets, clock.offset_ms], [[-30_000, -30_000, -30_000, 30_000], 30_000])
})
