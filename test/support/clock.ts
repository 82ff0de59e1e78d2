/** A clock that only moves by `advance`. */
import type { SteadyClock } from '../../src/lib/clock.ts'

export interface FakeClock extends SteadyClock {
  advance(ms: number): Promise<void>
  jump(ms: number): void
  /** ISO 8601, `ms` from now. */
  iso(ms?: number): string
  wakesAt(): readonly number[]
}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

export function fakeClock(start = '2026-01-31T09:30:00.000Z'): FakeClock {
  const [start_ms, bootedFor_ms] = [Date.parse(start), 500.25]
  let now = start_ms
  let jumped = 0
  let sleepers: Sleeper[] = []
  return {
    now: () => now,
    // starts at another moment and has fractions, like a machine's
    elapsed: () => now - jumped - start_ms + bootedFor_ms,
    jump(ms) {
      now += ms
      jumped += ms
      sleepers = sleepers.map(({ at, wake }) => ({ at: at + ms, wake }))
    },
    wakesAt: () => sleepers.map(({ at }) => at),
    iso: (ms = 0) => new Date(now + ms).toISOString(),
    sleep(ms, signal) {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (signal?.aborted === true) return Promise.resolve()
      const sleeper = { at: now + ms, wake: resolve }
      sleepers.push(sleeper)
      signal?.addEventListener('abort', () => {
        sleepers = sleepers.filter((other) => other.wake !== resolve)
        resolve()
      })
      return promise
    },
    async advance(ms) {
      const until = now + ms
      for (;;) {
        const next = sleepers.toSorted((a, b) => a.at - b.at)[0]
        if (next === undefined || next.at > until) break
        now = Math.max(now, next.at)
        sleepers = sleepers.filter((other) => other !== next)
        next.wake()
        await new Promise((resolve) => setImmediate(resolve))
      }
      now = Math.max(now, until)
    },
  }
}
