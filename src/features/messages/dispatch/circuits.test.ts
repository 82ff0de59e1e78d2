import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { circuits } from './circuits.ts'

const row = { account_id: 'acc_1', mode: 'live', channel_id: 'ch_1', channel_type: 'sms' } as const

function failing(times: number) {
  const woken: string[] = []
  const made = circuits({ log: pino({ level: 'silent' }), wake: (...lanes) => void woken.push(...lanes) })
  for (let n = 0; n < times; n++) made.note(row, { kind: n % 2 === 0 ? 'unavailable' : 'unknown' }, 0, 0)
  /** How many of the wanted go at that time. */
  const go = (channel_id: string, now: number, wanted: number) => {
    const may = made.allows(channel_id, now, wanted)
    if (may > 0) made.begins(channel_id, now)
    return may
  }
  return { made, woken, go }
}

test('after ten failures in a row one message goes now and then, and the first answer lets all go', () => {
  const { made, woken, go } = failing(10)
  const granted = [0, 999, 1000, 1001, 2999, 3000, 6999, 7000].map((now) => go('ch_1', now, 5))
  made.note(row, { kind: 'throttled' }, 7000, 7001)

  assert.deepEqual(granted, [0, 0, 1, 0, 0, 1, 0, 1])
  assert.deepEqual([go('ch_1', 7001, 5), made.isOpen('ch_1'), woken], [5, false, ['dispatch']])
})

test('probes are at most half a minute apart, and another channel is none of it', () => {
  const { made, go } = failing(10)
  let last = 0
  for (let n = 0; n < 20; n++) {
    last = made.probeAt('ch_1')!
    go('ch_1', last, 1)
  }

  assert.equal(made.probeAt('ch_1')! - last, 30_000)
  assert.deepEqual([go('ch_2', 0, 7), made.probeAt('ch_2')], [7, null])
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
  const { made, go } = failing(0)
  made.note(row, { kind: 'refused', channel_lost: true }, 0, 0)
  const afterRefusal = [go('ch_1', 0, 5), go('ch_1', 0, 5)]
  made.linkLost('ch_1', 500)

  assert.deepEqual([...afterRefusal, go('ch_1', 500, 5), made.outOfReach(60_000)], [1, 0, 1, []])
})

test('probes take by turns what waits longest and what came last, and one that was not handed over is none', () => {
  const { made, go } = failing(10)
  const choices = [1000, 3000, 7000].map((now) => (go('ch_1', now, 1), made.choice('ch_1')))
  const before = [made.probeAt('ch_1'), go('ch_1', 7001, 1)]
  made.notHandedOver('ch_1', 7001)

  assert.deepEqual(choices, ['newest', 'oldest', 'newest'])
  assert.deepEqual([...before, made.choice('ch_1'), go('ch_1', 7001, 1), made.probeAt('ch_1')], [15_000, 0, 'oldest', 1, 15_001])
})

test('a link that somebody tried lets the next probe go at once, each time that it is tried, and nothing where the circuit is closed', () => {
  const { made, go } = failing(10)
  for (const now of [1000, 3000, 7000, 15_000]) go('ch_1', now, 1)
  made.linkTried('ch_1', 0, 16_000)
  const earlier = go('ch_1', 16_000, 5)
  const granted = [20_000, 20_001, 20_002].map((now) => (made.linkTried('ch_1', 19_000, now), go('ch_1', now, 5)))
  made.linkTried('ch_1', 20_500, 20_600)
  made.linkTried('ch_2', 20_500, 20_600)

  assert.deepEqual([earlier, granted, go('ch_1', 20_600, 5), go('ch_2', 20_600, 5)], [0, [1, 0, 0], 1, 5])
})
