import assert from 'node:assert/strict'
import test from 'node:test'
import { expectedTimes, type ExpectedTimes, type Pace } from './expected-times.ts'

const at = (time: string): number => Date.parse(`2026-03-${time}:00.000Z`)
const pace: Pace = { from: at('10T08:00'), per_second: 1, window: { start: '09:00', end: '09:01' }, timezone: 'UTC' }
const shown = ({ starts_at, ends_at }: ExpectedTimes) =>
  [starts_at, ends_at].map((time) => (time === null ? null : new Date(time).toISOString().slice(8, 19)))

test('without a window the first message is sent at once and the others follow at the rate', async () => {
  const sent = await expectedTimes({ ...pace, window: null, per_second: 20 }, [{ timezone: '', count: 101 }], null)

  assert.deepEqual([sent.starts_at! - pace.from, sent.ends_at! - pace.from], [0, 5000])
  assert.deepEqual(await expectedTimes(pace, [], null), { starts_at: null, ends_at: null })
})

test('messages outside the window are sent when it opens next', async () => {
  // sixty a day: at second 0 to 59
  assert.deepEqual(shown(await expectedTimes(pace, [{ timezone: '', count: 60 }], null)), [
    '10T09:00:00',
    '10T09:00:59',
  ])
  assert.deepEqual(shown(await expectedTimes(pace, [{ timezone: '', count: 61 }], null)), [
    '10T09:00:00',
    '11T09:00:00',
  ])
  assert.deepEqual(
    shown(await expectedTimes({ ...pace, from: at('10T09:00') + 30_000 }, [{ timezone: '', count: 31 }], null)),
    ['10T09:00:30', '11T09:00:00'],
  )
})

test('recipients in their own time zones are sent to when their windows open, in audience order', async () => {
  const zones = [
    { timezone: '', count: 2 },
    { timezone: 'Europe/Vienna', count: 2 },
    { timezone: 'Asia/Tokyo', count: 1 },
  ]
  const order = [0, 1, 0, 1, 2]

  // 09:00 in Vienna is 08:00 UTC; midnight in Tokyo
  assert.deepEqual(shown(await expectedTimes(pace, zones, order)), ['10T08:00:00', '11T00:00:00'])
  assert.deepEqual(shown(await expectedTimes(pace, [{ timezone: 'Mars/Base', count: 1 }], [0])), [
    '10T09:00:00',
    '10T09:00:00',
  ])
  // both are open between 09:00 and 10:00 UTC: the fourth of the order is the third that is sent
  const wide: Pace = { ...pace, from: at('10T09:00'), window: { start: '09:00', end: '11:00' } }
  assert.deepEqual(shown(await expectedTimes(wide, zones.slice(0, 2), order.slice(0, 4))), [
    '10T09:00:00',
    '10T09:00:03',
  ])
})

test('an hour that daylight saving skips moves the start; an end years ahead is null', async () => {
  const night: Pace = {
    ...pace,
    from: at('28T20:00'),
    window: { start: '02:30', end: '03:01' },
    timezone: 'Europe/Vienna',
  }

  assert.deepEqual(shown(await expectedTimes(night, [{ timezone: '', count: 61 }], null)), [
    '29T01:00:00',
    '30T00:30:00',
  ])
  assert.equal((await expectedTimes(pace, [{ timezone: '', count: 1_000_000 }], null)).ends_at, null)
})
