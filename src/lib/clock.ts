/**
 * Time as a dependency: no other file reads the machine's clock. Use `now()` for times that are stored or shown,
 * `elapsed()` for durations within this process, and both (`ageOf`) for leases and caches, because `elapsed()` may stop
 * while the machine sleeps.
 */
import { setMaxListeners } from 'node:events'
import { clearTimeout, setTimeout } from 'node:timers'
import { setTimeout as delay } from 'node:timers/promises'

export interface Clock {
  /** Milliseconds since 1970. Jumps when the clock is set. */
  now(): number
  /** At once for a negative time or when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export interface SteadyClock extends Clock {
  /** Milliseconds since an arbitrary moment. */
  elapsed(): number
}

/** The machine's clock plus an offset, which follows database time. */
export interface SystemClock extends SteadyClock {
  readonly offset_ms: number
  adjust(offset_ms: number): void
}

export interface Mark {
  readonly now_ms: number
  readonly elapsed_ms: number
}

export const mark = (clock: Pick<SteadyClock, 'now' | 'elapsed'>): Mark => ({
  now_ms: clock.now(),
  elapsed_ms: clock.elapsed(),
})

export const longAgo: Mark = { now_ms: -Infinity, elapsed_ms: -Infinity }

/** Whichever is more: safe when the clock jumps and when the machine slept. */
export const ageOf = (clock: Pick<SteadyClock, 'now' | 'elapsed'>, { now_ms, elapsed_ms }: Mark): number =>
  Math.max(clock.now() - now_ms, clock.elapsed() - elapsed_ms)

/** The longest timeout of Node's timers. */
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

/** Node's promise timers create an error with a stack for every abort. */
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

/** Real time, to pace work by the machine's speed. */
export const pause = (ms: number): Promise<void> => delay(ms)

export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** Without a reason to abort with, Node creates an error with a stack. */
export const waitEnded = new Error('The wait is over.')

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
    ended.abort(waitEnded)
  }
}

let lastTime = { ms: 0, text: '1970-01-01T00:00:00.000Z' }

/** Caches the last one, because rows of a batch share it (behaviour: conventions 10.1). */
export function isoTime(ms: number): string {
  if (ms !== lastTime.ms) lastTime = { ms, text: new Date(ms).toISOString() }
  return lastTime.text
}
