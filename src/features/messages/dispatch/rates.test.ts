import assert from 'node:assert/strict'
import { test } from 'node:test'
import { channelRates } from './rates.ts'

test('no more than the rate goes in any second, wherever the second begins, and nothing of the rate is lost', () => {
  const rates = channelRates()
  rates.set('ch', 5)
  const went: number[] = []

  for (let now_ms = 0; now_ms < 10_000; now_ms += 10) went.push(...Array.from({ length: rates.take('ch', now_ms, now_ms % 70 === 0 ? 3 : 1) }, () => now_ms))

  const inSecondFrom = (start_ms: number) => went.filter((at_ms) => at_ms >= start_ms && at_ms < start_ms + 1000).length
  assert.equal(Math.max(...went.map(inSecondFrom)), 5)
  assert.equal(went.length, 50)
})

test('messages of a second are spread over it, but for a few that may go at once', () => {
  const rates = channelRates()
  rates.set('ch', 30)
  const went: number[] = []

  for (let now_ms = 0; now_ms < 2000; now_ms += 20) went.push(...Array.from({ length: rates.take('ch', now_ms, 100) }, () => now_ms))

  const inTenthFrom = (start_ms: number) => went.filter((at_ms) => at_ms >= start_ms && at_ms < start_ms + 100).length
  assert.ok(Math.max(...went.map(inTenthFrom)) <= 10)
  assert.equal(went.length, 60)
})

test('what waits for the rate is told when it may go', () => {
  const rates = channelRates()
  rates.set('ch', 2)
  const first = [rates.take('ch', 100, 1), rates.take('ch', 500, 5), rates.take('ch', 600, 1)]

  const at_ms = rates.freeAt('ch', 600)

  assert.deepEqual([first, at_ms], [[1, 1, 0], 1100])
  assert.deepEqual([rates.take('ch', at_ms - 1, 9), rates.take('ch', at_ms, 9), rates.freeAt('ch', at_ms)], [0, 1, 1500])
})

test('a clock that is set back holds nothing up', () => {
  const rates = channelRates()
  rates.set('ch', 1)
  rates.take('ch', 100_000, 1)

  assert.equal(rates.take('ch', 5000, 1), 1)
})
