/** Consecutive failures of an endpoint. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failuresAfter, tallyFailures } from './circuit-breaker.ts'

const outcome = (endpoint_id: string, failed: boolean, breaker_open = false) => ({ endpoint_id, failed, breaker_open })

test('only failures after the last success of an endpoint count', () => {
  const tallies = tallyFailures([
    outcome('a', true),
    outcome('a', false),
    outcome('a', true),
    outcome('b', true),
    outcome('b', false),
    outcome('a', true, true),
  ])

  assert.deepEqual([...tallies], [['a', { closed: 1, open: 1 }]])
})

test('concurrent attempts only open the breaker, and attempts under an open breaker count one by one', () => {
  assert.equal(failuresAfter(0, { closed: 64, open: 0 }), 5)
  assert.equal(failuresAfter(3, { closed: 64, open: 0 }), 5)
  assert.equal(failuresAfter(7, { closed: 64, open: 0 }), 7)
  assert.equal(failuresAfter(7, { closed: 3, open: 2 }), 9)
  assert.equal(failuresAfter(0, { closed: 2, open: 0 }), 2)
})
