/** Tests of the evaluation of rounds, on made-up rounds. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { PathRound } from '../rounds.ts'
import { comparisonOf } from './compare.ts'
import { comparisonText } from './report.ts'
import type { Pair } from './statistics.ts'

const round = (node_us: number, postgres_us: number, rate = 4000, load_us = 20): PathRound => ({
  messages: 1000,
  rate,
  offered: rate,
  node_us,
  postgres_us,
  load_us,
  lag_p50_ms: 0,
  lag_p99_ms: 0,
})
const pairs = (before: PathRound, after: PathRound, count = 10): Pair<PathRound>[] =>
  Array.from({ length: count }, () => ({ before, after }))

test('performance is the CPU of Node and PostgreSQL before, divided by that after', () => {
  const { performance, quantities, verdict } = comparisonOf(
    'dispatch',
    1000,
    pairs(round(100, 100), round(125, 125, 3000)),
    0.97,
  )

  assert.equal(performance.median, 0.8)
  assert.deepEqual(verdict, { least: 0.97, met: false, certain: true })
  assert.deepEqual(
    quantities.map(({ name, ratio }) => [name, ratio.median]),
    [
      ['CPU for a message', 1.25],
      ['… over that of the load generator', 1.25],
      ['… of Node', 1.25],
      ['… of PostgreSQL', 1.25],
      ['messages a second', 0.75],
      ['CPU of the load generator', 1],
    ],
  )
})

test('time that other processes take in a round, measured by the load generator, is not counted', () => {
  const slowed = comparisonOf('accept', 1000, pairs(round(100, 100), round(150, 150, 3000, 30)), 0.97)
  const dearer = comparisonOf('accept', 1000, pairs(round(150, 150, 3000, 30), round(110, 110)), 0.97)

  assert.deepEqual([slowed.performance.median, slowed.verdict.met], [1, true])
  assert.ok(Math.abs(dearer.performance.median - 10 / 11) < 1e-9)
  assert.equal(dearer.verdict.met, false)
})

test('higher cost of Node may be offset by lower cost of PostgreSQL', () => {
  const { verdict } = comparisonOf('accept', 1000, pairs(round(100, 100), round(140, 60)), 0.97)

  assert.deepEqual(verdict, { least: 0.97, met: true, certain: true })
})

test('the text names both sides and the result against the gate', () => {
  const missed = comparisonText(comparisonOf('cycle', 5000, pairs(round(100, 100), round(110, 110)), 0.97), 'abc1234')
  const unsure = comparisonText(
    comparisonOf('cycle', 5000, pairs(round(100, 100), round(100, 100), 3), 0.97),
    'abc1234',
  )

  assert.match(missed, /^Full life cycle with two webhook endpoints: 10 pairs of rounds of 5,000 messages\n/)
  assert.match(missed, /CPU for a message +220 µs +200 µs +1\.100 × +1\.100 – 1\.100\n/)
  assert.match(missed, /this checkout +abc1234 +ratio +98 % interval\n/)
  assert.match(missed, /Performance 0\.909 \(0\.909 – 0\.909\), wanted ≥ 0\.97: MISSED\.\n/)
  assert.match(unsure, /met, but not certain: use more pairs\.\n/)
})
