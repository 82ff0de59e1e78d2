/** Waiting for the thing and not for a time: every wait of a test names what it waits for, is bounded, and fails with what was seen instead. */
import { inspect } from 'node:util'
import { pause, systemClock } from '../../src/lib/clock.ts'

/** Far more than anything takes on a machine that is busy with other things, far less than the runner gives a test. */
export const boundMs = 120_000
/** Looks are close together at first, and get rarer while nothing happens: each may cost a request. */
const [firstPauseMs, lastPauseMs, pauseGrowth] = [2, 50, 1.2]

const machine = systemClock()

/** Lets this process stand still, as a busy machine does: nothing in it goes on meanwhile. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Looks again and again until `isIt` holds of what is seen, and resolves to that. `what` continues "waited for". */
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

/** The value of a promise that something else fulfils; rejects when that takes longer than the bound. */
export async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = machine.sleep(boundMs, over.signal).then(() => {
    if (!over.signal.aborted) throw new Error(`waited ${boundMs / 1000} s for ${what}`)
  })
  try {
    return (await Promise.race([promise, late])) as T
  } finally {
    over.abort()
  }
}
