/**
 * Time as an argument. Nothing outside this file reads the machine's clock for the product's meaning of "now". A clock may be set back, or ahead, at any moment: `now()` is for what is
 * stored, or compared with what is stored, sent or shown; `elapsed()` is for how long something took, waits or is trusted within this process. What others change or take over meanwhile is
 * trusted by both (`ageOf`), as while the machine sleeps only the time may go on: leases, what is known of keys, prices.
 */
import { setMaxListeners } from 'node:events'
import { clearTimeout, setTimeout } from 'node:timers'
import { setTimeout as delay } from 'node:timers/promises'

export interface Clock {
  /** Milliseconds since 1970: for what is stored, or compared with what is stored, sent or shown. It jumps when the clock is set. */
  now(): number
  /** Resolves after `ms` milliseconds of this clock, at once for a time that is past or when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** A clock that also tells how long something took, whatever was done to its time meanwhile. */
export interface SteadyClock extends Clock {
  /** Milliseconds since some moment: for how long something took, waits or is trusted within this process. It goes on evenly, and never jumps, but may stand still while the machine sleeps. */
  elapsed(): number
}

/** The machine's clock plus an offset, by which the database's time is followed (`adjust`). */
export interface SystemClock extends SteadyClock {
  /** What is added to the machine's time, in milliseconds. */
  readonly offset_ms: number
  /** Sets the offset to database time, in milliseconds. */
  adjust(offset_ms: number): void
}

/** A moment by both times of a clock. */
export interface Mark {
  readonly now_ms: number
  readonly elapsed_ms: number
}

export const mark = (clock: Pick<SteadyClock, 'now' | 'elapsed'>): Mark => ({
  now_ms: clock.now(),
  elapsed_ms: clock.elapsed(),
})

/** A moment that is older than anything. */
export const longAgo: Mark = { now_ms: -Infinity, elapsed_ms: -Infinity }

/**
 * How old a moment is by the time that went on further: of a lease, which others take over by its stored end after a jump ahead, and whose holder trusts it no longer for a jump back; and of
 * what may have changed elsewhere while the machine slept.
 */
export const ageOf = (clock: Pick<SteadyClock, 'now' | 'elapsed'>, { now_ms, elapsed_ms }: Mark): number =>
  Math.max(clock.now() - now_ms, clock.elapsed() - elapsed_ms)

/** The longest time that a timer of Node takes: 24 days. */
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

/** Without the rejection and the error with its stack that a timer of Node makes of every signal: workers are woken hundreds of times a second. */
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

/** Lets `ms` milliseconds of real time pass, whatever a clock says: to pace work by the machine's speed, never for what time means to the product. */
export const pause = (ms: number): Promise<void> => delay(ms)

/** Why a signal aborts that only ends a wait: where none is given Node makes an error, with its stack. */
export const over = new Error('The wait is over.')

/** Does work whose signal aborts after `ms` milliseconds of this clock; resolves and rejects as the work does. */
export async function withDeadline<T>(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const [deadline, ended] = [new AbortController(), new AbortController()]
  // hundreds of hand-overs may share one deadline
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

/** A time stamp as it is written everywhere (behaviour: conventions 10.1). The last one is kept: rows of a batch share theirs. */
export function isoTime(ms: number): string {
  if (ms !== lastTime.ms) lastTime = { ms, text: new Date(ms).toISOString() }
  return lastTime.text
}
