import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { circuits } from './circuits.ts'

const row = { account_id: 'acc_1', mode: 'live', channel_id: 'ch_1', channel_type: 'sms' } as const

function failing(times: number) {
  const woken: string[] = []
  const made = circuits({ log: pino({ level: 'silent' }), wake: (...lanes) => void woken.push(...lanes) })
  for (let n = 0; n < times; n++) made.note(row, { kind: n % 2 === 0 ? 'unavailable' : 'unknown' }, 0, 0)
  return { made, woken }
}

test('after ten failures in a row one message goes now and then, and the first answer lets all go', () => {
  const { made, woken } = failing(10)
  const granted = [0, 999, 1000, 1001, 2999, 3000, 6999, 7000].map((now) => made.take('ch_1', now, 5))
  made.note(row, { kind: 'throttled' }, 7000, 7001)

  assert.deepEqual(granted, [0, 0, 1, 0, 0, 1, 0, 1])
  assert.deepEqual([made.take('ch_1', 7001, 5), made.isOpen('ch_1'), woken], [5, false, ['dispatch']])
})

test('probes are at most half a minute apart, and another channel is none of it', () => {
  const { made } = failing(10)
  let last = 0
  for (let n = 0; n < 20; n++) {
    last = made.probeAt('ch_1')!
    made.take('ch_1', last, 1)
  }

  assert.equal(made.probeAt('ch_1')! - last, 30_000)
  assert.deepEqual([made.take('ch_2', 0, 7), made.probeAt('ch_2')], [7, null])
})

test('an answer among failures begins the count anew', () => {
  const { made } = failing(9)
  made.note(row, { kind: 'refused' }, 0, 0)
  for (let n = 0; n < 9; n++) made.note(row, { kind: 'unavailable' }, 0, 0)

  assert.equal(made.isOpen('ch_1'), false)
})

test('a provider is out of reach when it failed for half a minute without a success, and once it was tried only after another', () => {
  const { made } = failing(10)
  const [early, late] = [made.outOfReach(29_999).length, made.outOfReach(30_000).length]
  made.reached('ch_1', 30_000)
  const quiet = made.outOfReach(90_000).length
  made.note(row, { kind: 'unknown' }, 60_000, 90_000)

  assert.deepEqual([early, late, quiet, made.outOfReach(90_000).length], [0, 1, 0, 1])
})

test('after refused credentials, and when a lost link is back, one message goes first', () => {
  const { made } = failing(0)
  made.note(row, { kind: 'refused', channel_lost: true }, 0, 0)
  const afterRefusal = [made.take('ch_1', 0, 5), made.take('ch_1', 0, 5)]
  made.linkLost('ch_1', 500)

  assert.deepEqual([...afterRefusal, made.take('ch_1', 500, 5), made.outOfReach(60_000)], [1, 0, 1, []])
})
