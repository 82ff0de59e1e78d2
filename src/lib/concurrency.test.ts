import assert from 'node:assert/strict'
import test from 'node:test'
import { once, onceEach } from './concurrency.ts'

test('concurrent calls share one result per name, which is cached', async () => {
  let made = 0
  const kept = onceEach<number>()
  const make = async () => ++made

  const [one, same, other] = await Promise.all([kept('a', make), kept('a', make), kept('b', make)])

  assert.deepEqual([one, same, other, await kept('a', make)], [1, 1, 2, 1])
})

test('a failed call is repeated at the next request', async () => {
  let tries = 0
  const kept = once(async () => {
    tries += 1
    if (tries === 1) throw new Error('not yet')
    return tries
  })

  await assert.rejects(kept(), /not yet/)

  assert.deepEqual([await kept(), await kept()], [2, 2])
})
