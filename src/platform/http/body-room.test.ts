/** What is held of unfinished bodies is bounded, and the slowest make room. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { bodyRoom } from './body-room.ts'

const megabyte = 1024 * 1024

function started(bounds: { sender: number; all: number }) {
  const room = bodyRoom({ sender_bytes_max: bounds.sender * megabyte, bytes_max: bounds.all * megabyte })
  const refused: [string, string][] = []
  const enter = (sender: string, name: string) =>
    room.enter(sender, ({ code, headers }) => {
      refused.push([name, code])
      // it may be repeated soon, on another connection: of this one the rest of the body would have to be read first
      assert.deepEqual(headers, { 'retry-after': '1', connection: 'close' })
    })
  return { enter, refused }
}

test('past the room of one sender its oldest body is given up, and nobody else’s', () => {
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

test('past the room of all the oldest body is given up, whoever sends it', () => {
  const { enter, refused } = started({ sender: 2, all: 3 })
  for (const sender of ['a', 'b', 'c', 'd']) enter(sender, sender).grow(megabyte)

  assert.deepEqual(refused, [['a', 'upstream_unavailable']])
})

test('a body that is complete leaves its room to others, once', () => {
  const { enter, refused } = started({ sender: 2, all: 2 })
  const done = enter('a', 'done')
  done.grow(2 * megabyte)
  done.leave()
  done.leave()

  enter('b', 'next').grow(2 * megabyte)

  assert.deepEqual(refused, [])
})

test('a body that alone is larger than the room is given up itself', () => {
  const { enter, refused } = started({ sender: 2, all: 3 })

  enter('a', 'one').grow(2 * megabyte + 1)

  assert.deepEqual(refused, [['one', 'rate_limit_exceeded']])
})
