/**
 * Time as a dependency: no other file reads the machine's clock. The clock may be set at any moment. Use `now()` for times that are stored, compared with stored
 * times, sent or shown, and `elapsed()` for durations within this process. Use both (`ageOf`) for what other processes may change meanwhile, such as leases and
 * cached keys, because `elapsed()` may stop while the machine sleeps.
 */
import { setMaxListeners } from 'node:events'
import { clearTimeout, setTimeout } from 'node:timers'
import { setTimeout as delay } from 'node:timers/promises'

export interface Clock {
  /** Milliseconds since 1970. Jumps when the clock is set. */
  now(): number
  /** Resolves after `ms` milliseconds; at once for a negative time or when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** A clock that also measures durations, unaffected by setting the clock. */
export interface SteadyClock extends Clock {
  /** Monotonic milliseconds since an arbitrary moment. May stop while the machine sleeps. */
  elapsed(): number
}

/** The machine's clock plus an offset, which follows database time. */
export interface SystemClock extends SteadyClock {
  /** Milliseconds added to the machine's time. */
  readonly offset_ms: number
  /** Sets the offset to database time, in milliseconds. */
  adjust(offset_ms: number): void
}

/** A moment by wall clock and elapsed time. */
export interface Mark {
  readonly now_ms: number
  readonly elapsed_ms: number
}

export const mark = (clock: Pick<SteadyClock, 'now' | 'elapsed'>): Mark => ({
  now_ms: clock.now(),
  elapsed_ms: clock.elapsed(),
})

/** Older than any moment. */
export const longAgo: Mark = { now_ms: -Infinity, elapsed_ms: -Infinity }

/** The age of a moment by wall clock or elapsed time, whichever is more: safe for leases when the clock jumps ahead or back, and when the machine slept. */
export const ageOf = (clock: Pick<SteadyClock, 'now' | 'elapsed'>, { now_ms, elapsed_ms }: Mark): number =>
  Math.max(clock.now() - now_ms, clock.elapsed() - elapsed_ms)

/** The longest timeout of Node's timers: 24 days. */
const longestMs = 2 ** 31 - 1

export function systemClock(): SystemClock {
  let offset = 0
  return {
    now: () => Math.floor(Date.now() + offset),
    elapsed: () => performance.now(),
    get offset_ms() {
      return offset
    },
    adjust: (offset_ms) => {
      offset = offset_ms
    },
    sleep,
  }
}

/** Node's promise timers create an error with a stack for every abort, and workers are woken hundreds of times a second. */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, Math.min(Math.max(ms, 0), longestMs))
    signal?.addEventListener('abort', end)
  })
}

/** Waits in real time, to pace work by the machine's speed. Not for the product's time. */
export const pause = (ms: number): Promise<void> => delay(ms)

/** The reason for aborting a wait: without one Node creates an error with a stack. */
export const over = new Error('The wait is over.')

/** Runs work with a signal that aborts after `ms` milliseconds; resolves and rejects as the work does. */
export async function withDeadline<T>(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const [deadline, ended] = [new AbortController(), new AbortController()]
  // hundreds of send attempts may share one deadline
  setMaxListeners(0, deadline.signal)
  void clock.sleep(ms, ended.signal).then(() => {
    if (!ended.signal.aborted) deadline.abort(new DOMException(`not done within ${ms} ms`, 'TimeoutError'))
  })
  try {
    return await work(deadline.signal)
  } finally {
    ended.abort(over)
  }
}

let lastTime = { ms: 0, text: '1970-01-01T00:00:00.000Z' }

/** An ISO 8601 timestamp (behaviour: conventions 10.1). Caches the last one, because rows of a batch share it. */
export function isoTime(ms: number): string {
  if (ms !== lastTime.ms) lastTime = { ms, text: new Date(ms).toISOString() }
  return lastTime.text
}
