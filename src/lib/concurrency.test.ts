import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fairTurns, once, onceEach } from './concurrency.ts'

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

test('work of one key waits its turn behind that of others, and beyond its limit is refused', async () => {
  const inTurn = fairTurns({ max: 1, per_key: 3, all: 5 }, () => new Error('too many'))
  const began: string[] = []
  const finish: (() => void)[] = []
  const work = (name: string) => () => {
    began.push(name)
    return new Promise<void>((resolve) => finish.push(resolve))
  }
  const all = [inTurn('a', work('a1')), inTurn('a', work('a2')), inTurn('a', work('a3'))]
  await assert.rejects(inTurn('a', work('a4')), /too many/)
  all.push(inTurn('b', work('b1')), inTurn('b', work('b2')))
  await assert.rejects(inTurn('c', work('c1')), /too many/)

  for (let n = 0; n < 5; n++) {
    await setImmediate()
    finish[n]!()
    await all[['a1', 'a2', 'a3', 'b1', 'b2'].indexOf(began[n]!)]
  }
  assert.deepEqual(began, ['a1', 'a2', 'b1', 'a3', 'b2'])
  const again = inTurn('a', work('a5'))
  await setImmediate()
  finish[5]!()
  await again
})
