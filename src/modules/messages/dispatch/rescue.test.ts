import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPlatform } from '../../../../test/support/world.ts'
import { projectionsOf } from '../projections.ts'
import { rescuer, type RescuerDeps } from './rescue.ts'

test('leases are renewed and messages rescued once a second, even after the clock was set back', async (t) => {
  const { platform, clock } = await startPlatform(t)
  let renewed = 0
  const leases = { renew: async () => void (renewed += 1) } as unknown as RescuerDeps['leases']
  const scheduling = { sweep: async () => undefined } as unknown as RescuerDeps['scheduling']
  const rescuing = rescuer({ platform, projections: projectionsOf(platform, []), leases, scheduling })
  const counts: number[] = []
  for (const move of [
    () => clock.advance(0),
    () => clock.advance(500),
    () => clock.advance(500),
    async () => clock.jump(-3600_000),
    () => clock.advance(1000),
  ]) {
    await move()
    await rescuing.rescueIfDue()
    counts.push(renewed)
  }

  assert.deepEqual(counts, [1, 1, 2, 2, 3])
})
