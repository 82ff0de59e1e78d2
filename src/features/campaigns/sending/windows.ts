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
export const openFrom = (window: SendWindow | null, timezone: string, now: number): number => Math.max(now, spanFrom(window, timezone, now).from)

export interface Span {
  readonly from: number
  /** Exclusive. */
  readonly until: number
}

/** The time, in milliseconds, in which it may be sent at `now` or next; without a window, or with one of the whole day, always. */
export function spanFrom(window: SendWindow | null, timezone: string, now: number): Span {
  if (window === null || window.start === window.end) return { from: -Infinity, until: Infinity }
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate()
  // yesterday's may go on overnight; one that daylight saving leaves out as a whole is passed over
  for (let days = window.end > window.start ? 0 : -1; ; days++) {
    const span = spanOf(window, timezone, today.add({ days }))
    if (span.until > now && span.from < span.until) return span
  }
}

/** The window that begins on this day. */
function spanOf({ start, end }: SendWindow, timezone: string, day: Temporal.PlainDate): Span {
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
