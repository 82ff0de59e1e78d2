import assert from 'node:assert/strict'
import test from 'node:test'
import { fakeClock } from '../../test/support/clock.ts'
import { deadlines } from './deadlines.ts'

test('a deadline expires on time, also when the clock is set meanwhile', async () => {
  for (const jump of [0, -3600_000, 3600_000]) {
    const clock = fakeClock()
    const stop = new AbortController()
    const ended: string[] = []
    const expiry = deadlines(clock, stop.signal)
    const add = (name: string) => expiry.add(10_000, () => ended.push(name))
    add('first')
    await clock.advance(4000)
    add('second')

    clock.jump(jump)
    const seen: string[][] = []
    for (const ms of [5999, 1, 3999, 1]) {
      await clock.advance(ms)
      seen.push([...ended])
    }

    assert.deepEqual(seen, [[], ['first'], ['first'], ['first', 'second']], String(jump))
    stop.abort()
  }
})

test('a cancelled deadline does not expire', async () => {
  const clock = fakeClock()
  const ended: string[] = []
  const expiry = deadlines(clock, new AbortController().signal)
  const deadline = expiry.add(1000, () => ended.push('cancelled'))
  expiry.add(1000, () => ended.push('other'))

  deadline.cancel()
  await clock.advance(1000)

  assert.deepEqual([ended, deadline.over], [['other'], false])
})

test('a deadline that is added while the last one expires expires too', async () => {
  const clock = fakeClock()
  const stop = new AbortController()
  const ended: string[] = []
  const expiry = deadlines(clock, stop.signal)
  expiry.add(1000, () => {
    ended.push('first')
    expiry.add(1000, () => ended.push('second'))
  })

  await clock.advance(1000)
  await clock.advance(1000)

  assert.deepEqual(ended, ['first', 'second'])
  stop.abort()
})
