import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fairShares, Pacer, DeferredRecipients } from './pacing.ts'

const rate = fc.integer({ min: 1, max: 100 })
const start = Date.parse('2026-01-31T09:30:00.000Z')

/** The send times, one poll after each of these waits. */
function sentAt(per_second: number, waits: readonly number[]): number[] {
  const pacer = new Pacer(start)
  const sent: number[] = []
  let now = start
  for (const wait of waits) {
    const due = pacer.due(now, per_second)
    for (let i = 0; i < due; i++) sent.push(now)
    pacer.sent(due, per_second)
    now += wait
  }
  return sent
}

test('with polls up to 0.4 seconds apart the rate is exact to 5 % and one message over any ten seconds', () => {
  fc.assert(
    fc.property(
      rate,
      fc.array(fc.integer({ min: 20, max: 400 }), { minLength: 200, maxLength: 300 }),
      (per_second, waits) => {
        const sent = sentAt(per_second, waits)
        const end = start + waits.reduce((sum, wait) => sum + wait, 0)
        for (let from = start + 1000; from + 10_000 <= end; from += 370) {
          const count = sent.filter((at) => from <= at && at < from + 10_000).length
          const expected = per_second * 10
          // one poll's messages, 4 %, may fall on the other side of either end, and so may one message
          assert.ok(Math.abs(count - expected) <= expected * 0.05 + 1, `${count} for ${expected}`)
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('after a long pause at most a moment is caught up', () => {
  fc.assert(
    fc.property(rate, fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 100 }), (per_second, waits) => {
      const sent = sentAt(per_second, waits)
      for (const from of sent) {
        const count = sent.filter((at) => from <= at && at < from + 10_000).length
        assert.ok(count <= per_second * 10.4 + 1, `${count} at ${per_second} a second`)
      }
    }),
    { numRuns: 300 },
  )
})

test('after its share has grown, the next message waits no longer than one message takes at the new rate', () => {
  const pacer = new Pacer(start)
  pacer.sent(1, 0.05)

  assert.equal(pacer.due(start + 100, 2), 0)
  assert.equal(pacer.due(start + 600, 2), 1)
})

test('shares are max-min fair: they use the whole rate, and none exceeds its demand', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 20 }),
      (whole, wanted) => {
        const shares = fairShares(whole, wanted)
        const sum = shares.reduce((all, share) => all + share, 0)
        const most = Math.max(...shares)

        assert.ok(
          Math.abs(
            sum -
              Math.min(
                whole,
                wanted.reduce((all, want) => all + want, 0),
              ),
          ) < 1e-6,
        )
        for (const [i, share] of shares.entries())
          assert.ok(share <= wanted[i]! && (share === wanted[i] || share >= most - 1e-9))
      },
    ),
  )
})

test('a deferred recipient is retried with growing delays, up to a minute, until it is decided', () => {
  const deferred = new DeferredRecipients()
  let now = start
  const waits: number[] = []
  for (let i = 0; i < 9; i++) {
    deferred.tried([7], [], now)
    assert.deepEqual(deferred.at(now), [7])
    waits.push((deferred.next - now) / 1000)
    now = deferred.next
    assert.deepEqual(deferred.at(now), [])
  }
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60])

  deferred.tried([], [7], now)

  assert.equal(deferred.next, Infinity)
  deferred.tried(
    Array.from({ length: 100 }, (_, i) => i),
    [],
    now,
  )
  assert.equal(deferred.isFull, true)
})
