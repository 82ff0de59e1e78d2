import assert from 'node:assert/strict'
import test from 'node:test'
import { systemClock } from './clock.ts'

test('a sleep until a time that is past is over at once, and one beyond what a timer takes is not', async () => {
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
