/** Tests of the statistics. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { alternating, both, inverse, judge, medianInterval, ratios, type Interval } from './statistics.ts'

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`)

/** 1 … n, shuffled. */
const numbers = (n: number): number[] => Array.from({ length: n }, (_, i) => ((i * 7) % n) + 1)

test('rounds alternate A B B A, and each pair keeps its sides apart', async () => {
  const order: string[] = []
  const side = (name: string) => async () => `${name}${order.push(name)}`

  const seen: number[] = []
  const pairs = await alternating(3, 'before', { before: side('A'), after: side('B') }, (_, n) => seen.push(n))

  assert.deepEqual(order, ['A', 'B', 'B', 'A', 'A', 'B'])
  assert.deepEqual(pairs, [
    { before: 'A1', after: 'B2' },
    { before: 'A4', after: 'B3' },
    { before: 'A5', after: 'B6' },
  ])
  assert.deepEqual(seen, [0, 1, 2])
})

test('either side can start, and keeps its name', async () => {
  const order: string[] = []
  const side = (name: string) => async () => `${name}${order.push(name)}`
  const sides = { before: side('A'), after: side('B') }

  const pairs = await alternating(2, 'after', sides)
  const pair = await both('after', sides)

  assert.deepEqual(order, ['B', 'A', 'A', 'B', 'B', 'A'])
  assert.deepEqual(
    [...pairs, pair],
    [
      { before: 'A2', after: 'B1' },
      { before: 'A3', after: 'B4' },
      { before: 'A6', after: 'B5' },
    ],
  )
})

test('a round that fails fails the comparison', async () => {
  const fails = async () => Promise.reject(new Error('the service refused'))

  await assert.rejects(alternating(2, 'before', { before: async () => 1, after: fails }), /the service refused/)
})

test('ratios are after over before for each pair, so that a slow moment cancels out', () => {
  const pairs = [
    { before: { us: 100 }, after: { us: 110 } },
    { before: { us: 300 }, after: { us: 330 } },
  ]

  for (const ratio of ratios(pairs, ({ us }) => us)) near(ratio, 1.1)
})

test('the interval of the median omits as many outermost values as 95 % allow', () => {
  // from tables of the sign test
  const expected: [n: number, low: number, high: number, confidence: number][] = [
    [6, 1, 6, 0.96875],
    [8, 1, 8, 0.9921875],
    [9, 2, 8, 0.9609375],
    [10, 2, 9, 0.978515625],
    [12, 3, 10, 0.961425781],
    [20, 6, 15, 0.958610535],
  ]
  for (const [n, low, high, confidence] of expected) {
    const found = medianInterval(numbers(n))

    assert.deepEqual([found.low, found.high, found.median], [low, high, (n + 1) / 2], `of ${n}`)
    assert.ok(Math.abs(found.confidence - confidence) < 1e-6, `${found.confidence} of ${n}`)
  }
})

test('too few values give the whole range, with its low confidence', () => {
  assert.deepEqual(medianInterval([1.2, 0.9, 1]), { median: 1, low: 0.9, high: 1.2, confidence: 0.75 })
  assert.deepEqual(medianInterval([1.5]), { median: 1.5, low: 1.5, high: 1.5, confidence: 0 })
  assert.ok(Number.isNaN(medianInterval([]).median))
})

test('one outlier changes neither the median nor its interval', () => {
  const calm = medianInterval([1, 1.01, 0.99, 1, 1.02, 0.98, 1, 1.01, 0.99, 1.01])
  const astray = medianInterval([1, 1.01, 0.99, 1, 9, 0.98, 1, 1.01, 0.99, 1.01])

  assert.ok(astray.high < 1.02 && Math.abs(astray.median - calm.median) < 0.006)
})

test('the inverse of an interval swaps its ends', () => {
  assert.deepEqual(inverse({ median: 2, low: 1, high: 4, confidence: 0.9 }), {
    median: 0.5,
    low: 0.25,
    high: 1,
    confidence: 0.9,
  })
})

test('the median decides whether a gate is met, the interval whether that is certain', () => {
  const performance = (low: number, median: number, high: number): Interval => ({ median, low, high, confidence: 0.95 })

  assert.deepEqual(judge(performance(0.98, 1, 1.02), 0.97), { least: 0.97, met: true, certain: true })
  assert.deepEqual(judge(performance(0.97, 0.97, 1.02), 0.97), { least: 0.97, met: true, certain: true })
  assert.deepEqual(judge(performance(0.95, 0.98, 1.02), 0.97), { least: 0.97, met: true, certain: false })
  assert.deepEqual(judge(performance(0.94, 0.96, 0.98), 0.97), { least: 0.97, met: false, certain: false })
  assert.deepEqual(judge(performance(0.9, 0.93, 0.95), 0.97), { least: 0.97, met: false, certain: true })
  // three pairs prove nothing
  assert.equal(judge(medianInterval([1, 1, 1]), 0.97).certain, false)
  assert.equal(judge(medianInterval([]), 0.97).met, false)
})
