import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { until } from '../../../test/support/waiting.ts'
import { fairQueue, type Leave } from './fair-queue.ts'

const never = new AbortController().signal
const limits = { running: 3, running_per_account: 2, waiting: 4, waiting_per_account: 2 }

/** Asks for every account in order, and tells which of them were admitted so far. */
async function entering(gate: ReturnType<typeof fairQueue>, accounts: readonly string[], gone = never) {
  const before = gate.waiting()
  const admitted: string[] = []
  const leaves = new Map<string, Leave>()
  const asked = accounts.map(async (account) => {
    const leave = await gate.enter(account, 5000, gone)
    if (leave !== null) leaves.set(account, leave)
    admitted.push(leave === null ? `${account} refused` : account)
  })
  await until(
    'everybody to be admitted, refused or waiting',
    () => admitted.length + gate.waiting() === before + accounts.length,
  )
  return { admitted, leaves, asked: Promise.all(asked) }
}

test('an account runs two reads at once, all accounts as many as there are connections', async () => {
  const gate = fairQueue(fakeClock(), limits)

  const { admitted } = await entering(gate, ['a', 'a', 'a', 'b', 'c'])

  assert.deepEqual(admitted, ['a', 'a', 'b'])
  assert.equal(gate.waiting(), 2)
})

test('a free slot goes to the account with the fewest reads, not to the longest waiter', async () => {
  const gate = fairQueue(fakeClock(), limits)
  const { admitted, leaves } = await entering(gate, ['b', 'a', 'a', 'a', 'a', 'c'])

  leaves.get('b')!()
  await until('the next to be admitted', () => admitted.length === 4)
  leaves.get('a')!()
  await until('the one after it to be admitted', () => admitted.length === 5)

  assert.deepEqual(admitted, ['b', 'a', 'a', 'c', 'a'])
})

test('the queue is bounded per account and in total', async () => {
  const gate = fairQueue(fakeClock(), limits)

  const { admitted } = await entering(gate, ['a', 'a', 'b', 'a', 'a', 'a', 'c', 'd', 'e'])

  assert.deepEqual(admitted, ['a', 'a', 'b', 'a refused', 'e refused'])
  assert.equal(gate.waiting(), 4)
})

test('a waiter that times out or leaves takes no slot', async () => {
  const clock = fakeClock()
  const gate = fairQueue(clock, limits)
  const away = new AbortController()
  const first = await entering(gate, ['a', 'a', 'b'])
  const second = await entering(gate, ['c'])
  const third = await entering(gate, ['d'], away.signal)

  away.abort()
  await third.asked
  await clock.advance(5000)
  await second.asked
  first.leaves.get('b')!()
  const after = await entering(gate, ['e'])

  assert.deepEqual([...third.admitted, ...second.admitted, ...after.admitted], ['d refused', 'c refused', 'e'])
  assert.equal(gate.waiting(), 0)
})
