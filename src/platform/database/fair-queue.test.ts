import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { until } from '../../../test/support/waiting.ts'
import { fairQueue, type Release } from './fair-queue.ts'

const never = new AbortController().signal
const limits = { running: 3, running_per_account: 2, waiting: 4, waiting_per_account: 2 }

/** Requests a slot for each account in order. */
async function acquireAll(queue: ReturnType<typeof fairQueue>, accounts: readonly string[], signal = never) {
  const before = queue.waiting()
  const admitted: string[] = []
  const releases = new Map<string, Release>()
  const requests = accounts.map(async (account) => {
    const release = await queue.acquire(account, 5000, signal)
    if (release !== null) releases.set(account, release)
    admitted.push(release === null ? `${account} refused` : account)
  })
  await until(
    'everybody to be admitted, refused or waiting',
    () => admitted.length + queue.waiting() === before + accounts.length,
  )
  return { admitted, releases, requests: Promise.all(requests) }
}

test('an account runs two reads at once, all accounts together as many as there are connections', async () => {
  const queue = fairQueue(fakeClock(), limits)

  const { admitted } = await acquireAll(queue, ['a', 'a', 'a', 'b', 'c'])

  assert.deepEqual(admitted, ['a', 'a', 'b'])
  assert.equal(queue.waiting(), 2)
})

test('a free slot goes to the account with the fewest reads, not to the longest waiter', async () => {
  const queue = fairQueue(fakeClock(), limits)
  const { admitted, releases } = await acquireAll(queue, ['b', 'a', 'a', 'a', 'a', 'c'])

  releases.get('b')!()
  await until('the next to be admitted', () => admitted.length === 4)
  releases.get('a')!()
  await until('the one after it to be admitted', () => admitted.length === 5)

  assert.deepEqual(admitted, ['b', 'a', 'a', 'c', 'a'])
})

test('the queue is bounded per account and in total', async () => {
  const queue = fairQueue(fakeClock(), limits)

  const { admitted } = await acquireAll(queue, ['a', 'a', 'b', 'a', 'a', 'a', 'c', 'd', 'e'])

  assert.deepEqual(admitted, ['a', 'a', 'b', 'a refused', 'e refused'])
  assert.equal(queue.waiting(), 4)
})

test('a waiter that times out or leaves takes no slot', async () => {
  const clock = fakeClock()
  const queue = fairQueue(clock, limits)
  const away = new AbortController()
  const first = await acquireAll(queue, ['a', 'a', 'b'])
  const second = await acquireAll(queue, ['c'])
  const third = await acquireAll(queue, ['d'], away.signal)

  away.abort()
  await third.requests
  await clock.advance(5000)
  await second.requests
  first.releases.get('b')!()
  const after = await acquireAll(queue, ['e'])

  assert.deepEqual([...third.admitted, ...second.admitted, ...after.admitted], ['d refused', 'c refused', 'e'])
  assert.equal(queue.waiting(), 0)
})
