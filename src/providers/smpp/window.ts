/** How many requests may wait for an answer at once, and how long none goes while the SMSC is too busy. */
import type { SteadyClock } from '../../lib/clock.ts'

export interface Window {
  /** Resolves to how a place is given back, once there is one; null when the signal aborts before. */
  enter(signal: AbortSignal): Promise<(() => void) | null>
  /** Milliseconds until the SMSC is tried again; 0: now. */
  pausedFor(): number
  /** The SMSC throttled: nothing goes for a second, then two, four, up to half a minute. Resolves to how long. */
  throttled(): number
  /** The SMSC took something. */
  taken(): void
}

const pauseFirstMs = 1000
const pauseMaxMs = 30_000

export function window({ elapsed }: Pick<SteadyClock, 'elapsed'>, size: number): Window {
  let free = size
  const waiting: (() => void)[] = []
  let [pause_ms, paused_until_ms] = [0, 0]
  const leave = () => {
    const next = waiting.shift()
    if (next === undefined) free += 1
    else next()
  }
  return {
    async enter(signal) {
      if (signal.aborted) return null
      if (free > 0) {
        free -= 1
        return leave
      }
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const mine = () => resolve(true)
      const giveUp = () => {
        const at = waiting.indexOf(mine)
        if (at === -1) return
        waiting.splice(at, 1)
        resolve(false)
      }
      waiting.push(mine)
      signal.addEventListener('abort', giveUp, { once: true })
      const entered = await promise
      signal.removeEventListener('abort', giveUp)
      return entered ? leave : null
    },
    pausedFor: () => Math.max(0, Math.ceil(paused_until_ms - elapsed())),
    throttled() {
      // answers to what was under way together count once
      if (paused_until_ms <= elapsed()) {
        pause_ms = Math.min(Math.max(pauseFirstMs, pause_ms * 2), pauseMaxMs)
        paused_until_ms = elapsed() + pause_ms
      }
      return Math.ceil(paused_until_ms - elapsed())
    },
    taken() {
      if (paused_until_ms <= elapsed()) pause_ms = 0
    },
  }
}
