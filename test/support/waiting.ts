/** Waits for a condition instead of a time. Every wait names its condition, is bounded, and fails with the last value. */
import { inspect } from 'node:util'
import { pause, systemClock } from '../../src/lib/clock.ts'

/** Longer than anything takes on a busy machine, shorter than the runner's limit per test. */
export const boundMs = 120_000
/** Polls quickly at first and then more slowly, because each may cost a request. */
const [firstPauseMs, lastPauseMs, pauseGrowth] = [2, 50, 1.2]

const machine = systemClock()

/** Blocks this process, like a busy machine. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Polls until `isIt` accepts the value, and resolves to it. `what` continues "waited for". */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  isIt: (seen: T) => boolean = Boolean,
): Promise<T> {
  const deadline = machine.now() + boundMs
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * pauseGrowth, lastPauseMs)) {
    const seen = await within(what, Promise.resolve(look()))
    if (isIt(seen)) return seen
    if (machine.now() > deadline)
      throw new Error(`waited ${boundMs / 1000} s for ${what}; last seen: ${inspect(seen, { depth: 4 })}`)
    await pause(pauseMs)
  }
}

/** Rejects if the promise takes longer than the bound. */
export async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`waited ${boundMs / 1000} s for ${what}`)), boundMs)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
