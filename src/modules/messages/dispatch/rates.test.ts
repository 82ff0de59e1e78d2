import assert from 'node:assert/strict'
import { test } from 'node:test'
import { channelRates } from './rates.ts'

/** The most messages in any second. */
const mostInASecond = (went: readonly number[]): number =>
  Math.max(...went.map((start_ms) => went.filter((at_ms) => at_ms >= start_ms && at_ms < start_ms + 1000).length))

test('no second exceeds the rate, wherever it begins, and the rate is used fully', () => {
  const rates = channelRates()
  rates.set('ch', 5)
  const went: number[] = []

  for (let now_ms = 0; now_ms < 10_000; now_ms += 10)
    went.push(...Array.from({ length: rates.take('ch', now_ms, now_ms % 70 === 0 ? 3 : 1) }, () => now_ms))

  assert.equal(mostInASecond(went), 5)
  assert.equal(went.length, 50)
})

test('a rate that may have changed is looked up again', () => {
  const rates = channelRates()
  rates.set('ch', 30)
  rates.take('ch', 0, 1)

  rates.forget()
  const unknown = rates.take('ch', 5000, 100)
  rates.set('ch', 2)
  const known = [
    rates.take('ch', 5001, 100),
    rates.take('ch', 5500, 100),
    rates.take('ch', 5999, 100),
    rates.take('ch', 6001, 100),
  ]

  assert.deepEqual([unknown, known], [1, [0, 1, 0, 1]])
})

test('forgetting rates often neither exceeds nor wastes them', () => {
  const rates = channelRates()
  const went: number[] = []

  for (let now_ms = 0; now_ms < 10_000; now_ms += 10) {
    const gone = rates.take('ch', now_ms, 3)
    went.push(...Array.from({ length: gone }, () => now_ms))
    if (gone > 0) rates.set('ch', 2)
    if (now_ms % 50 === 0) rates.forget()
  }

  assert.equal(mostInASecond(went), 2)
  assert.equal(went.length, 20)
})

test('a forgotten rate still determines how many messages stay in memory and when the next one is sent', () => {
  const rates = channelRates()
  rates.set('ch', 2)
  rates.take('ch', 0, 1)
  rates.take('ch', 500, 1)
  const known = [rates.within('ch', 5), rates.freeAt('ch', 600)]

  rates.forget()

  assert.deepEqual(known, [10, 1000])
  assert.deepEqual([rates.within('ch', 5), rates.take('ch', 600, 1), rates.freeAt('ch', 600)], [10, 0, 1000])
})

test('messages of a second are spread over it, except for a small burst', () => {
  const rates = channelRates()
  rates.set('ch', 30)
  const went: number[] = []

  for (let now_ms = 0; now_ms < 2000; now_ms += 20)
    went.push(...Array.from({ length: rates.take('ch', now_ms, 100) }, () => now_ms))

  const inTenthFrom = (start_ms: number) => went.filter((at_ms) => at_ms >= start_ms && at_ms < start_ms + 100).length
  assert.ok(Math.max(...went.map(inTenthFrom)) <= 10)
  assert.equal(went.length, 60)
})

test('the next send time respects the rate', () => {
  const rates = channelRates()
  rates.set('ch', 2)
  const first = [rates.take('ch', 100, 1), rates.take('ch', 500, 5), rates.take('ch', 600, 1)]

  const at_ms = rates.freeAt('ch', 600)

  assert.deepEqual([first, at_ms], [[1, 1, 0], 1100])
  assert.deepEqual(
    [rates.take('ch', at_ms - 1, 9), rates.take('ch', at_ms, 9), rates.freeAt('ch', at_ms)],
    [0, 1, 1500],
  )
})

test('a clock that is set back delays nothing', () => {
  const rates = channelRates()
  rates.set('ch', 1)
  rates.take('ch', 100_000, 1)

  assert.equal(rates.take('ch', 5000, 1), 1)
})

test('a throttled channel restarts at half of what it sent and speeds up to its rate', () => {
  const rates = channelRates()
  rates.set('ch', 60)
  const inSecond = (from_ms: number) => {
    let went = 0
    for (let now_ms = from_ms; now_ms < from_ms + 1000; now_ms += 20) went += rates.take('ch', now_ms, 100)
    return went
  }
  const before = inSecond(0)
  const pace = rates.slow('ch', 999, 5000)
  const after = [5, 6, 10, 20, 35, 36].map((second) => inSecond(second * 1000))

  assert.deepEqual([before, pace], [60, 30])
  assert.ok(Math.abs(after[0]! - 31) <= 4 && after[1]! > after[0]! && Math.abs(after[2]! - 41) <= 4, String(after))
  assert.deepEqual(after.slice(3), [60, 60, 60])
})

test('a longer pause keeps the pace, which grows after its end', () => {
  const rates = channelRates()
  rates.set('ch', 60)
  for (let now_ms = 0; now_ms < 1000; now_ms += 20) rates.take('ch', now_ms, 100)
  const paces = [rates.slow('ch', 990, 5000), rates.slowUntil('ch', 991, 5001), rates.slowUntil('ch', 6000, 10_000)]
  let went = 0
  for (let now_ms = 10_000; now_ms < 11_000; now_ms += 20) went += rates.take('ch', now_ms, 100)

  assert.deepEqual(paces, [30, 30, 30])
  assert.ok(Math.abs(went - 31) <= 4, String(went))
})

test('the slowest pace is one message a second, and a clock that is set back does not slow a channel for good', () => {
  const rates = channelRates()
  rates.set('ch', 30)
  const pace = rates.slow('ch', 3_600_000, 3_660_000)
  const first = rates.take('ch', 3_600_000, 10)
  const early = rates.take('ch', 0, 10)
  for (let now_ms = 0; now_ms <= 40_000; now_ms += 1000) rates.take('ch', now_ms, 100)

  assert.deepEqual([pace, first, early], [1, 1, 1])
  assert.ok(rates.take('ch', 42_000, 100) > 3)
})

test('the next send time of a slowed channel respects its pace', () => {
  const rates = channelRates()
  rates.set('ch', 30)
  rates.slowTo('ch', 1.5, 100_000)
  rates.take('ch', 99_000, 1)

  const at_ms = rates.freeAt('ch', 99_100)

  assert.deepEqual([rates.take('ch', 99_100, 1), rates.take('ch', at_ms, 1)], [0, 1])
})
