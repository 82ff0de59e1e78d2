/** State that sending keeps: the window of open requests, the pause after throttling, and what a process remembers between the sessions of a channel. */
import type { SteadyClock } from '../../lib/clock.ts'

export interface SendWindow {
  /** Resolves to a function that frees the place again; null if the signal aborts first. */
  enter(signal: AbortSignal): Promise<(() => void) | null>
  /** Milliseconds left of the pause. */
  pausedFor(): number
  /** The SMSC throttled: pauses for one second, then two, four, up to half a minute. Returns the pause in ms. */
  throttled(): number
  /** The SMSC accepted a message, so the next pause starts at one second again. */
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
      // several responses to requests of the same moment count once
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

/** What a process remembers of a channel between its sessions. All of it is bounded. */
export interface ChannelMemory {
  /** Ids of the accepted parts, by message, of messages that are not complete yet. */
  readonly partial: Map<string, Map<number, string>>
  /** Ids of accepted messages with their recipient, oldest first. */
  readonly ids: Map<string, string>
  /** Hashes of inbound PDUs whose acknowledgement may not have arrived, with the elapsed time: the SMSC repeats them. */
  readonly unconfirmed: Map<string, number>
}

export const channelMemory = (): ChannelMemory => ({ partial: new Map(), ids: new Map(), unconfirmed: new Map() })

/** Drops the oldest entries beyond `max`. */
export function bound(collection: Map<string, unknown>, max: number): void {
  for (const key of collection.keys()) {
    if (collection.size <= max) return
    collection.delete(key)
  }
}
