import assert from 'node:assert/strict'
import test from 'node:test'
import { fakeClock } from '../../test/support/clock.ts'
import { lookupCache } from './lookup-cache.ts'

function scene() {
  const clock = fakeClock()
  const cache = lookupCache<string>(clock, { entries_max: 2, age_max_ms: 1000 })
  const asked: PromiseWithResolvers<string>[] = []
  const find = async (key: string): Promise<string> =>
    cache.get(key) ??
    cache.read(key, () => {
      const answer = Promise.withResolvers<string>()
      asked.push(answer)
      return answer.promise
    })
  return { clock, cache, asked, find }
}

test('concurrent requests share one look-up, whose value is cached until it is too old', async () => {
  const { clock, asked, find } = scene()

  const together = [find('a'), find('a')]
  await clock.advance(400)
  asked[0]!.resolve('first')
  const answers = [...(await Promise.all(together)), await find('a')]
  await clock.advance(600)
  const later = find('a')
  asked[1]!.resolve('second')

  assert.deepEqual([...answers, await later], ['first', 'first', 'first', 'second'])
  assert.equal(asked.length, 2)
})

test('a value is not cached longer when the clock is set back, or when only the wall clock advances, as during sleep', async () => {
  for (const [jump_ms, then_ms] of [
    [-3600_000, 1000],
    [1000, 0],
  ] as const) {
    const { clock, asked, find } = scene()
    const first = find('a')
    asked[0]!.resolve('first')
    await first

    clock.jump(jump_ms)
    await clock.advance(then_ms)
    const later = find('a')
    asked[1]?.resolve('second')

    assert.equal(await later, 'second')
  }
})

test('a look-up in progress while everything is forgotten answers its callers but is not cached', async () => {
  for (const keys of [[], ['a']]) {
    const { cache, asked, find } = scene()

    const before = find('a')
    cache.forget(...keys)
    const after = find('a')
    asked[1]!.resolve('new')
    asked[0]!.resolve('old')

    assert.deepEqual([await before, await after, await find('a')], ['old', 'new', 'new'])
    assert.equal(asked.length, 2)
  }
})

test('a failed look-up is repeated', async () => {
  const { asked, find } = scene()

  const failing = [find('a'), find('a')]
  asked[0]!.reject(new Error('away'))
  const failed = await Promise.allSettled(failing)
  const again = find('a')
  asked[1]!.resolve('back')

  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(await again, 'back')
})

test('the oldest value is evicted first', async () => {
  const { asked, find } = scene()

  for (const [at, key] of ['a', 'b', 'c'].entries()) {
    const found = find(key)
    asked[at]!.resolve(key)
    await found
  }

  assert.deepEqual([await find('b'), await find('c')], ['b', 'c'])
  void find('a')
  assert.equal(asked.length, 4)
})
