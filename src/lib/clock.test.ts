import assert from 'node:assert/strict'
import test from 'node:test'
import { systemClock } from './clock.ts'

test('a sleep until a past time ends at once, and one longer than the timer limit does not', async () => {
  const clock = systemClock()
  const warnings: string[] = []
  const onWarning = (warning: Error) => void warnings.push(warning.name)
  process.on('warning', onWarning)
  const awake = new AbortController()

  await clock.sleep(-40)
  const long = clock.sleep(2 ** 40, awake.signal).then(() => 'over')
  const first = await Promise.race([long, clock.sleep(20).then(() => 'still asleep')])
  awake.abort()
  await long

  assert.equal(first, 'still asleep')
  assert.deepEqual(warnings, [])
  process.off('warning', onWarning)
})
