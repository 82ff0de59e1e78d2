import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { type SendWindow, windowState, WindowTable } from './send-windows.ts'
import { effort } from '../../../../test/support/effort.ts'

const zones = Intl.supportedValuesOf('timeZone')
const minuteMs = 60_000
const at = (text: string): number => Temporal.Instant.from(text).epochMilliseconds

function openFrom(window: SendWindow | null, timezone: string, now: number): number {
  const { open, until } = windowState(window, timezone, now)
  return open ? now : until
}
const opens = (window: SendWindow, zone: string, now: string): string =>
  new Date(openFrom(window, zone, at(now))).toISOString()

const formats = new Map<string, Intl.DateTimeFormat>()

/** HH:MM, as the runtime computes it. */
function wallClock(zone: string, ms: number): string {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  formats.set(zone, format)
  return format.format(ms)
}

/** The slow reference: uses the wall clock. */
function isOpen({ start, end }: SendWindow, zone: string, ms: number): boolean {
  const time = wallClock(zone, ms)
  if (start === end) return true
  return start < end ? start <= time && time < end : start <= time || time < end
}

const time = fc
  .tuple(fc.nat(23), fc.nat(59))
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`)
const window = fc.record({ start: time, end: time })

function changesOf(zone: string, from: string, until: string): number[] {
  const found: number[] = []
  let moment = Temporal.Instant.from(from).toZonedDateTimeISO(zone).getTimeZoneTransition('next')
  while (moment !== null && moment.epochMilliseconds < at(until)) {
    found.push(moment.epochMilliseconds)
    moment = moment.getTimeZoneTransition('next')
  }
  return found
}

const changes = zones.flatMap((zone) =>
  changesOf(zone, '2026-01-01T00:00Z', '2027-01-01T00:00Z').map((ms) => ({ zone, ms })),
)

/** Compares every minute up to the minute of the next change. */
function agrees(found: SendWindow, zone: string, now: number, minutes: number): void {
  const state = windowState(found, zone, now)
  assert.equal(state.open, isOpen(found, zone, now))
  for (let ms = now; ms < now + minutes * minuteMs; ms += minuteMs) {
    const passed = ms >= state.until
    assert.equal(isOpen(found, zone, ms), passed ? !state.open : state.open, `${zone} at ${new Date(ms).toISOString()}`)
    if (passed) break
  }
}

test('a window follows the wall clock around every clock change of a year, in every time zone', () => {
  assert.ok(changes.length > 150, 'clocks are set in many zones')
  fc.assert(
    fc.property(
      fc.constantFrom(...changes),
      window,
      fc.integer({ min: -240, max: 240 }),
      ({ zone, ms }, found, minutes) => agrees(found, zone, ms + minutes * minuteMs, 300),
    ),
    { numRuns: effort(600, 6000) },
  )
})

test('a window follows the wall clock at any other time', () => {
  const moments = fc.integer({ min: at('2026-01-01T00:00Z') / minuteMs, max: at('2027-01-01T00:00Z') / minuteMs })
  fc.assert(
    fc.property(fc.constantFrom(...zones), window, moments, (zone, found, minute) =>
      agrees(found, zone, minute * minuteMs, 1500),
    ),
    { numRuns: effort(100, 600) },
  )
})

test('a window that begins within an hour of a clock change agrees with the slow reference', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...changes),
      fc.integer({ min: -90, max: 90 }),
      fc.integer({ min: 1, max: 180 }),
      ({ zone, ms }, offset, length) => {
        const start = wallClock(zone, ms + offset * minuteMs)
        const end = wallClock(zone, ms + (offset + length) * minuteMs)
        agrees({ start, end }, zone, ms - 200 * minuteMs, 500)
      },
    ),
    { numRuns: effort(300, 3000) },
  )
})

test('the start of a window is inclusive, the end exclusive', () => {
  const day = { start: '09:00', end: '17:00' }

  assert.equal(opens(day, 'Europe/Berlin', '2026-07-01T06:59:59.999Z'), '2026-07-01T07:00:00.000Z')
  assert.equal(opens(day, 'Europe/Berlin', '2026-07-01T07:00:00Z'), '2026-07-01T07:00:00.000Z')
  assert.equal(opens(day, 'Europe/Berlin', '2026-07-01T14:59:59.999Z'), '2026-07-01T14:59:59.999Z')
  assert.equal(opens(day, 'Europe/Berlin', '2026-07-01T15:00:00Z'), '2026-07-02T07:00:00.000Z')
})

test('an end before the start is on the next day; an equal one means all day', () => {
  const night = { start: '20:00', end: '06:00' }

  assert.equal(opens(night, 'UTC', '2026-07-01T05:59:00Z'), '2026-07-01T05:59:00.000Z')
  assert.equal(opens(night, 'UTC', '2026-07-01T06:00:00Z'), '2026-07-01T20:00:00.000Z')
  assert.equal(opens({ start: '09:00', end: '09:00' }, 'UTC', '2026-07-01T03:00:00Z'), '2026-07-01T03:00:00.000Z')
  assert.equal(opens({ start: '00:00', end: '00:00' }, 'UTC', '2026-07-01T03:00:00Z'), '2026-07-01T03:00:00.000Z')
})

test('a start that daylight saving skips is the first instant after the gap', () => {
  const early = { start: '02:30', end: '05:00' }

  assert.equal(opens(early, 'Europe/Berlin', '2026-03-29T00:00:00Z'), '2026-03-29T01:00:00.000Z')
  // the whole window is skipped: it opens the next day
  assert.equal(
    opens({ start: '02:10', end: '02:50' }, 'Europe/Berlin', '2026-03-29T00:00:00Z'),
    '2026-03-30T00:10:00.000Z',
  )
})

test('a start that occurs twice opens the window the first time; the repeated hour before it is outside', () => {
  const early = { start: '02:30', end: '05:00' }

  assert.equal(opens(early, 'Europe/Berlin', '2026-10-25T00:00:00Z'), '2026-10-25T00:30:00.000Z')
  assert.equal(opens(early, 'Europe/Berlin', '2026-10-25T01:00:00Z'), '2026-10-25T01:30:00.000Z')
})

test('a time zone that skips a whole day has its window on the next day', () => {
  assert.equal(
    opens({ start: '09:00', end: '10:00' }, 'Pacific/Apia', '2011-12-30T08:00:00Z'),
    '2011-12-30T19:00:00.000Z',
  )
})

test('a window state is cached until it changes; an unknown time zone falls back to the default', () => {
  const table = new WindowTable()
  const day = { start: '09:00', end: '17:00' }
  const opening = at('2026-07-01T07:00:00Z')

  const before = table.stateOf(day, 'Europe/Berlin', 'UTC', opening - 1)
  assert.deepEqual([before.open, before.until], [false, opening])
  assert.equal(table.stateOf(day, 'Europe/Berlin', 'UTC', opening).open, true)
  // a clock set back finds no stale state
  assert.equal(table.stateOf(day, 'Europe/Berlin', 'UTC', opening - 1).open, false)
  assert.equal(table.stateOf(day, 'Mars/Olympus', 'Europe/Berlin', opening).open, true)
  assert.throws(() => table.stateOf(day, 'Mars/Olympus', 'Mars/Olympus', opening), RangeError)
})
