import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Priority } from '../../../api/resources/message.ts'
import type { MessageRow } from '../message.ts'
import { backlog } from './backlog.ts'

/** Jobs `<queue><number>`. */
function filled(counts: Record<string, number>, priority: Priority = 'normal') {
  const waiting = backlog()
  for (const [queue, count] of Object.entries(counts))
    for (let i = 0; i < count; i++)
      waiting.add(queue, {
        row: { id: `${queue}${i}`, priority } as MessageRow,
        attempts: 0,
        claimed: false,
        outcome_unknown: false,
        due_ms: 0,
        lease_until_ms: 0,
      })
  return waiting
}

const perQueue = (taken: readonly { row: MessageRow }[]) =>
  Object.fromEntries([...Map.groupBy(taken, ({ row }) => row.id[0]!)].map(([queue, jobs]) => [queue, jobs.length]))

test('each queue gets an equal share, and others use what is left of it', () => {
  const waiting = filled({ a: 100, b: 100, c: 5, d: 100 })

  const taken = waiting.take(60, (queue, _, wanted) => (queue === 'd' ? Math.min(1, wanted) : wanted))

  assert.deepEqual(perQueue(taken), { a: 27, b: 27, c: 5, d: 1 })
  assert.equal(waiting.size, 305 - 60)
  assert.deepEqual(
    [waiting.count('c', 'normal'), waiting.count('d', 'normal'), waiting.has('a0'), waiting.has('a99')],
    [0, 99, false, true],
  )
})

test('only allowed jobs are taken, and those that waited longest come first', () => {
  const waiting = filled({ a: 2, b: 3 })

  assert.deepEqual(
    waiting.take(0, (_, __, wanted) => wanted),
    [],
  )
  assert.deepEqual(
    waiting.take(9, () => 0),
    [],
  )
  assert.deepEqual(
    waiting.take(9, (_, __, wanted) => wanted).map(({ row }) => row.id),
    ['a0', 'a1', 'b0', 'b1', 'b2'],
  )
  assert.equal(waiting.size, 0)
})

test('high priority comes first within a queue', () => {
  const waiting = filled({ a: 2 }, 'low')
  waiting.add('a', {
    row: { id: 'urgent', priority: 'high' } as MessageRow,
    attempts: 0,
    claimed: false,
    outcome_unknown: false,
    due_ms: 0,
    lease_until_ms: 0,
  })

  assert.deepEqual(
    waiting.take(2, (_, __, wanted) => wanted).map(({ row }) => row.id),
    ['urgent', 'a0'],
  )
})
