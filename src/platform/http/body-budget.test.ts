import { type Admission, bodyBudget } from './body-budget.ts'
import assert from 'node:assert/strict'
import test from 'node:test'

const megabyte = 1024 * 1024

function started(bounds: { sender: number; all: number }) {
  const room = bodyBudget({ sender_bytes_max: bounds.sender * megabyte, bytes_max: bounds.all * megabyte })
  const refused: [string, string][] = []
  const enter = (sender: string, name: string) =>
    room.reserve(sender, ({ code, headers }) => {
      refused.push([name, code])
      // retry soon, on another connection
      assert.deepEqual(headers, { 'retry-after': '1', connection: 'close' })
    })
  return { enter, refused }
}

test('over the limit of one sender its oldest body is evicted, and no other', () => {
  const { enter, refused } = started({ sender: 2, all: 10 })
  enter('b', 'other').grow(megabyte)
  const one = enter('a', 'one')
  const two = enter('a', 'two')
  one.grow(megabyte)
  two.grow(megabyte)
  assert.deepEqual(refused, [])

  const three = enter('a', 'three')
  three.grow(megabyte)
  one.grow(megabyte)

  assert.deepEqual(refused, [['one', 'rate_limit_exceeded']])
})

test('over the total limit the oldest body is evicted, whoever sends it', () => {
  const { enter, refused } = started({ sender: 2, all: 3 })
  for (const sender of ['a', 'b', 'c', 'd']) enter(sender, sender).grow(megabyte)

  assert.deepEqual(refused, [['a', 'upstream_unavailable']])
})

test('a complete body frees its memory once', () => {
  const { enter, refused } = started({ sender: 2, all: 2 })
  const done = enter('a', 'done')
  done.grow(2 * megabyte)
  done.release()
  done.release()

  enter('b', 'next').grow(2 * megabyte)

  assert.deepEqual(refused, [])
})

test('a body that alone exceeds the limit is evicted itself', () => {
  const { enter, refused } = started({ sender: 2, all: 3 })

  enter('a', 'one').grow(2 * megabyte + 1)

  assert.deepEqual(refused, [['one', 'rate_limit_exceeded']])
})

/** Ends once every promise that can resolve now has resolved. */
const turn = () => new Promise((resolve) => setImmediate(resolve))
const kilobyte = 1024

test('small bodies are admitted at once, until their handling takes all memory that is reserved for it', async () => {
  // a byte of a body takes eight of the heap
  const budget = bodyBudget(undefined, 4 * megabyte)
  const enter = (sender: string) => budget.enter(sender, 25 * kilobyte)
  const own = Array.from({ length: 5 }, () => enter('a'))
  const [sixth, other] = [enter('a'), enter('b')]

  assert.ok(own.every((one) => !(one instanceof Promise)))
  assert.ok(sixth instanceof Promise, 'a sender has a quarter')
  assert.ok(!(other instanceof Promise))

  ;(own[0] as Admission).done()
  ;(await sixth).done()
})

test('of one sender a heavy body is checked at a time, and senders take turns', async () => {
  const budget = bodyBudget(undefined, 100 * megabyte)
  const admitted: string[] = []
  const enter = async (sender: string, name: string) => {
    const admission = await budget.enter(sender, 100 * kilobyte)
    admitted.push(name)
    return admission
  }
  const all = [enter('a', 'a1'), enter('a', 'a2'), enter('a', 'a3'), enter('b', 'b1')]

  const [first, other] = [await all[0]!, await all[3]!]
  await turn()
  assert.deepEqual(admitted, ['a1', 'b1'])

  first.checked()
  const second = await all[1]!
  await turn()
  assert.deepEqual(admitted, ['a1', 'b1', 'a2'], 'the first still waits for its answer, the second is being checked')
  second.done()
  ;(await all[2]!).done()
  first.done()
  other.done()
  assert.deepEqual(admitted, ['a1', 'b1', 'a2', 'a3'])
})

test('a body that costs more than is reserved is handled alone', async () => {
  const budget = bodyBudget(undefined, 4 * megabyte)
  const [first, second] = [budget.enter('a', megabyte), budget.enter('b', megabyte)]
  const admission = await first
  let begun = false
  void Promise.resolve(second).then(() => (begun = true))
  await turn()
  assert.equal(begun, false)

  admission.done()
  ;(await second).done()
})
