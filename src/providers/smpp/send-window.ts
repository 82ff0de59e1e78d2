/** Send window, throttling pause, and a channel's memory between sessions. */
import type { SteadyClock } from '../../lib/clock.ts'

export interface SendWindow {
  /** Resolves to a function that frees the place; null if the signal aborts first. */
  enter(signal: AbortSignal): Promise<(() => void) | null>
  pausedFor(): number
  /** Pauses for 1, 2, 4 … 30 seconds. Returns milliseconds. */
  throttled(): number
  accepted(): void
}

const pauseFirstMs = 1000
const pauseMaxMs = 30_000

export function sendWindow({ elapsed }: Pick<SteadyClock, 'elapsed'>, size: number): SendWindow {
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
      // responses of the same moment count once
      if (paused_until_ms <= elapsed()) {
        pause_ms = Math.min(Math.max(pauseFirstMs, pause_ms * 2), pauseMaxMs)
        paused_until_ms = elapsed() + pause_ms
      }
      return Math.ceil(paused_until_ms - elapsed())
    },
    accepted() {
      if (paused_until_ms <= elapsed()) pause_ms = 0
    },
  }
}

export interface ChannelMemory {
  readonly partial: Map<string, Map<number, string>>
  readonly ids: Map<string, string>
  /** Elapsed time by the hash of inbound PDUs whose acknowledgement may be lost. */
  readonly unconfirmed: Map<string, number>
}

export const channelMemory = (): ChannelMemory => ({ partial: new Map(), ids: new Map(), unconfirmed: new Map() })

export function bound(collection: Map<string, unknown>, max: number): void {
  for (const key of collection.keys()) {
    if (collection.size <= max) return
    collection.delete(key)
  }
}
