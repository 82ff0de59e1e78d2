import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import type { LimitOn } from '../../../providers/provider.ts'
import { circuitBreakers } from './circuit-breakers.ts'

const row = { account_id: 'acc_1', mode: 'live', channel_id: 'ch_1', channel_type: 'sms' } as const

function failing(times: number) {
  const woken: string[] = []
  const made = circuitBreakers({ log: pino({ level: 'silent' }), wake: (...workers) => void woken.push(...workers) })
  for (let n = 0; n < times; n++)
    made.record(row, { kind: n % 2 === 0 ? 'unavailable' : 'unknown' }, { began_ms: 0, now_ms: 0 })
  /** How many of the wanted messages may be sent at that time. */
  const go = (channel_id: string, now: number, wanted: number) => {
    const may = made.allows(channel_id, now, wanted)
    if (may > 0) made.attemptBegins(channel_id, now)
    return may
  }
  return { made, woken, go }
}

test('after ten failures in a row only probes are sent, and the first answer ends the pause', () => {
  const { made, woken, go } = failing(10)
  const granted = [0, 999, 1000, 1001, 2999, 3000, 6999, 7000].map((now) => go('ch_1', now, 5))
  made.record(row, { kind: 'throttled', limit_on: 'recipient' }, { began_ms: 7000, now_ms: 7001 })

  assert.deepEqual(granted, [0, 0, 1, 0, 0, 1, 0, 1])
  assert.deepEqual([go('ch_1', 7001, 5), made.isOpen('ch_1'), woken], [5, false, ['dispatch']])
})

test('probes are at most half a minute apart, and other channels are not affected', () => {
  const { made, go } = failing(10)
  let last = 0
  for (let n = 0; n < 20; n++) {
    last = made.probeAt('ch_1')!
    go('ch_1', last, 1)
  }

  assert.equal(made.probeAt('ch_1')! - last, 30_000)
  assert.deepEqual([go('ch_2', 0, 7), made.probeAt('ch_2')], [7, null])
})

test('an answer between failures restarts the count', () => {
  const { made } = failing(9)
  made.record(row, { kind: 'refused' }, { began_ms: 0, now_ms: 0 })
  for (let n = 0; n < 9; n++) made.record(row, { kind: 'unavailable' }, { began_ms: 0, now_ms: 0 })

  assert.equal(made.isOpen('ch_1'), false)
})

test('a provider is unreachable after half a minute of failures, and again only after another half minute', () => {
  const { made } = failing(10)
  const [early, late] = [made.unreachable(29_999).length, made.unreachable(30_000).length]
  made.connectionWorks('ch_1', 30_000)
  const quiet = made.unreachable(90_000).length
  made.record(row, { kind: 'unknown' }, { began_ms: 60_000, now_ms: 90_000 })

  assert.deepEqual([early, late, quiet, made.unreachable(90_000).length], [0, 1, 0, 1])
})

test('after refused credentials or a lost connection one message is sent first', () => {
  const { made, go } = failing(0)
  made.record(row, { kind: 'refused', channel_lost: true }, { began_ms: 0, now_ms: 0 })
  const afterRefusal = [go('ch_1', 0, 5), go('ch_1', 0, 5)]
  made.disconnected('ch_1', 500)

  assert.deepEqual([...afterRefusal, go('ch_1', 500, 5), made.unreachable(60_000)], [1, 0, 1, []])
})

test('probes alternate between the oldest and the newest message, and an unsent probe does not count', () => {
  const { made, go } = failing(10)
  const choices = [1000, 3000, 7000].map((now) => (go('ch_1', now, 1), made.probeChoice('ch_1')))
  const before = [made.probeAt('ch_1'), go('ch_1', 7001, 1)]
  made.probeNotSent('ch_1', 7001)

  assert.deepEqual(choices, ['newest', 'oldest', 'newest'])
  assert.deepEqual(
    [...before, made.probeChoice('ch_1'), go('ch_1', 7001, 1), made.probeAt('ch_1')],
    [15_000, 0, 'oldest', 1, 15_001],
  )
})

test('each test of the connection makes the next probe due, and changes nothing on a channel that is not paused', () => {
  const { made, go } = failing(10)
  for (const now of [1000, 3000, 7000, 15_000]) go('ch_1', now, 1)
  made.connectionTested('ch_1', 0, 16_000)
  const earlier = go('ch_1', 16_000, 5)
  const granted = [20_000, 20_001, 20_002].map(
    (now) => (made.connectionTested('ch_1', 19_000, now), go('ch_1', now, 5)),
  )
  made.connectionTested('ch_1', 20_500, 20_600)
  made.connectionTested('ch_2', 20_500, 20_600)

  assert.deepEqual([earlier, granted, go('ch_1', 20_600, 5), go('ch_2', 20_600, 5)], [0, [1, 0, 0], 1, 5])
})

const throttled = (more: { readonly limit_on?: LimitOn; readonly retry_after_ms?: number } = {}) =>
  ({ kind: 'throttled', limit_on: 'channel', ...more }) as const

test('a throttled channel waits as long as its provider asks, then a probe ends the pause', () => {
  const { made, woken, go } = failing(0)
  const begun = made.record(row, throttled({ retry_after_ms: 7000 }), { began_ms: 0, now_ms: 0 })
  const granted = [0, 6999, 7000, 7001].map((now) => go('ch_1', now, 5))
  const over = made.record(row, { kind: 'accepted' }, { began_ms: 7000, now_ms: 7100, probe: true })

  assert.deepEqual([begun, granted], [{ ...row, until_ms: 7000, times: 1, begins: true }, [0, 0, 1, 0]])
  assert.deepEqual([over, woken, go('ch_1', 7100, 5)], ['over', ['dispatch'], 5])
})

test('pauses grow up to half a minute while a provider keeps throttling', () => {
  for (const retry_after_ms of [0, 250, NaN]) {
    const { made } = failing(0)
    let [now_ms, waits] = [0, [] as number[]]
    for (let n = 0; n < 7; n++) {
      const pause = made.record(row, throttled({ retry_after_ms }), { began_ms: now_ms, now_ms, probe: n > 0 })
      assert.ok(pause !== null && pause !== 'over')
      waits = [...waits, pause.until_ms - now_ms]
      now_ms = pause.until_ms
    }
    assert.deepEqual(waits, [retry_after_ms === 250 ? 250 : 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  }
})

test('a provider that asks for hours is probed once a minute', () => {
  const { made } = failing(0)
  made.record(row, throttled({ retry_after_ms: 86_400_000 }), { began_ms: 0, now_ms: 0 })

  assert.equal(made.probeAt('ch_1'), 60_000)
})

test('attempts in progress at the start of a pause neither end nor lengthen it, except by a longer wait', () => {
  const { made } = failing(0)
  made.record(row, throttled(), { began_ms: 0, now_ms: 0 })
  const told = [throttled(), { kind: 'accepted' } as const, { kind: 'refused' } as const].map((one) =>
    made.record(row, one, { began_ms: 0, now_ms: 10 }),
  )
  const after = made.probeAt('ch_1')
  made.record(row, throttled({ retry_after_ms: 5000 }), { began_ms: 0, now_ms: 20 })

  assert.deepEqual([told, after, made.probeAt('ch_1')], [[null, null, null], 1000, 5020])
})

test('a pause begins once, whatever later answers say', () => {
  const { made } = failing(0)
  const note = (retry_after_ms: number, probe = false) => {
    const told = made.record(row, throttled({ retry_after_ms }), { began_ms: 0, now_ms: 0, probe })
    return told === null || told === 'over' ? told : told.begins
  }
  const burst = [1000, 1001, 1002, 1002].map((retry_after_ms) => note(retry_after_ms))
  const probed = note(1000, true)
  made.record(row, { kind: 'unknown' }, { began_ms: 2000, now_ms: 22_000, probe: true })

  assert.deepEqual([burst, probed, note(1000, true)], [[true, false, false, null], false, false])
})

test('a limit on one recipient does not pause the channel; an unspecified limit does at the second recipient in a row', () => {
  const { made } = failing(0)
  const meet = (limit_on: LimitOn, to: string) => (
    made.record(row, throttled({ limit_on }), { began_ms: 0, now_ms: 0, to }),
    made.isOpen('ch_1')
  )
  const single = [meet('recipient', 'a'), meet('recipient', 'b'), meet('unspecified', 'a'), meet('unspecified', 'a')]
  made.record(row, { kind: 'accepted' }, { began_ms: 0, now_ms: 0, to: 'b' })

  assert.deepEqual(
    [...single, meet('unspecified', 'b'), meet('unspecified', 'a')],
    [false, false, false, false, false, true],
  )
})

test('an unanswered probe turns throttling into failing, and an answer ends it', () => {
  const { made, go } = failing(0)
  made.record(row, throttled(), { began_ms: 0, now_ms: 0 })
  go('ch_1', 1000, 1)
  const over = made.record(row, { kind: 'unknown' }, { began_ms: 1000, now_ms: 31_000, probe: true })
  const { failing: failed, throttled: waiting } = made.allPaused()
  made.record(row, { kind: 'accepted' }, { began_ms: 32_000, now_ms: 32_000, probe: true })

  assert.deepEqual([over, failed.length, waiting.length, made.isOpen('ch_1')], ['over', 1, 0, false])
})

test('a pause for throttling ends with the connection and reports it', () => {
  const { made } = failing(0)
  made.record(row, throttled(), { began_ms: 0, now_ms: 0 })
  const lost = made.record(row, { kind: 'refused', channel_lost: true }, { began_ms: 0, now_ms: 10 })
  made.record({ ...row, channel_id: 'ch_2' }, throttled(), { began_ms: 0, now_ms: 0 })

  assert.deepEqual([lost, made.disconnected('ch_2', 10), made.disconnected('ch_2', 20)], ['over', true, false])
})

test('the pause of another process is adopted once, while it lasts', () => {
  const { made, go } = failing(0)
  const pause = { ...row, until_ms: 20_000, times: 3 }
  const adopted = [made.adopt(pause, 5000), made.adopt(pause, 5001)]
  const granted = [19_999, 20_000].map((now) => go('ch_1', now, 5))
  const over = made.record(row, { kind: 'accepted' }, { began_ms: 20_000, now_ms: 20_100, probe: true })

  assert.deepEqual([adopted, granted, over], [[true, false], [0, 1], 'over'])
  assert.deepEqual([made.adopt(pause, 20_200), made.adopt({ ...pause, channel_id: 'ch_2' }, 60_000)], [false, false])
})

test('a clock that is set back does not delay the end of a pause', () => {
  const { made, go } = failing(0)
  made.record(row, throttled(), { began_ms: 3_600_000, now_ms: 3_600_000 })

  assert.deepEqual([made.waits('ch_1', 3_600_999), made.waits('ch_1', 0), go('ch_1', 0, 5)], [true, false, 1])
  assert.deepEqual([made.waits('ch_1', 1), made.waits('ch_2', 1)], [true, false])
})

test('a clock that is set back does not prevent probes or disconnection', () => {
  const { made, go } = failing(0)
  const fails = (now_ms: number, times: number) => {
    for (let n = 0; n < times; n++) made.record(row, { kind: 'unavailable' }, { began_ms: now_ms, now_ms })
  }
  fails(3_600_000, 10)
  go('ch_1', 0, 1)
  fails(100, 1)
  const early = made.unreachable(30_099).length
  fails(30_100, 1)
  const late = made.unreachable(30_100).length
  const tried = [31_000, 31_000, 31_000].map(
    (tried_ms, n) => (made.connectionTested('ch_1', tried_ms, 31_001 + n), go('ch_1', 31_001 + n, 5)),
  )

  assert.deepEqual([early, late, tried], [0, 1, [1, 0, 0]])
})

test('a pause from before the clock was set back is forgotten where nothing waits', () => {
  const { made } = failing(0)
  made.record(row, throttled(), { began_ms: 3_600_000, now_ms: 3_600_000 })

  assert.deepEqual([made.idle(3_601_000).length, made.idle(0).length], [0, 1])
})
