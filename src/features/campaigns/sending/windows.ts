/**
 * Send windows: wall-clock times of a time zone, start inclusive, end exclusive; an end not after the start lies on the next day, an equal one means the whole day. A start that daylight
 * saving leaves out is the first instant after the gap (behaviour: campaigns 4). Pure.
 */
import { Temporal } from 'temporal-polyfill'

export interface SendWindow {
  /** HH:MM. */
  readonly start: string
  readonly end: string
}

/** From when on, in milliseconds, it may be sent at `now` or next; `now` itself while the window is open. */
export function openFrom(window: SendWindow | null, timezone: string, now: number): number {
  if (window === null || window.start === window.end) return now
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate()
  const days = [-1, 0, 1, 2].map((offset) => today.add({ days: offset }))
  const spans = days.map((day) => spanOf(window, timezone, day))
  let next = Infinity
  for (const { from, until } of spans) {
    if (from <= now && now < until) return now
    if (from > now && from < until) next = Math.min(next, from)
  }
  return next
}

/** The window that begins on this day. */
function spanOf({ start, end }: SendWindow, timezone: string, day: Temporal.PlainDate): { from: number; until: number } {
  const lastDay = end > start ? day : day.add({ days: 1 })
  return { from: instantOf(day, start, timezone), until: instantOf(lastDay, end, timezone) }
}

/** The first instant at which the wall clock shows this time or, where it is left out, a later one. */
function instantOf(day: Temporal.PlainDate, time: string, timezone: string): number {
  const plain = day.toPlainDateTime(Temporal.PlainTime.from(time))
  const earlier = plain.toZonedDateTime(timezone, { disambiguation: 'earlier' })
  if (earlier.toPlainDateTime().equals(plain)) return earlier.epochMilliseconds
  return earlier.getTimeZoneTransition('next')?.epochMilliseconds ?? plain.toZonedDateTime(timezone, { disambiguation: 'later' }).epochMilliseconds
}
