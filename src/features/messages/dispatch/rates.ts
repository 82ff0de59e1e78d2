/** Capacity by rate: how many messages of a channel may go now, and when more may. */
import { setMaxListeners } from 'node:events'
import type { Platform } from '../../../platform/platform.ts'

export interface ChannelRates {
  /** Messages a second; null: as many as come. */
  set(channel_id: string, rate: number | null): void
  /** How many of the wanted messages may go now; they are counted as gone. */
  take(channel_id: string, now_ms: number, wanted: number): number
  /** How many may go in so many seconds, at least one; Infinity where as many as come, and where the rate is not known yet. */
  within(channel_id: string, seconds: number): number
  /** When more may go than now. */
  freeAt(channel_id: string, now_ms: number): number
}

const secondMs = 1000
/** So much of a second's messages may go at once; the others are spread, so that what their providers take to answer does not push two seconds into one. */
const burst = 0.2

/** What went on a channel in the last second, oldest first. */
interface Gone {
  readonly grants: { readonly at_ms: number; readonly count: number }[]
  count: number
  /** What went and has not flowed off at the rate. */
  spent: number
  at_ms: number
}

/** No more than a channel's rate goes in any second, wherever the second begins. Until the rate of a channel is set, its messages go one by one. */
export function channelRates(): ChannelRates {
  const rates = new Map<string, number | null>()
  const gone = new Map<string, Gone>()

  function goneUntil(channel_id: string, now_ms: number, rate: number): Gone {
    const known = gone.get(channel_id)
    // a clock that was set back tells nothing of what went before
    if (known === undefined || known.at_ms > now_ms) {
      const made: Gone = { grants: [], count: 0, spent: 0, at_ms: now_ms }
      gone.set(channel_id, made)
      return made
    }
    while (known.grants.length > 0 && known.grants[0]!.at_ms <= now_ms - secondMs) known.count -= known.grants.shift()!.count
    known.spent = Math.max(0, known.spent - ((now_ms - known.at_ms) * rate) / secondMs)
    known.at_ms = now_ms
    return known
  }

  return {
    set: (channel_id, rate) => void rates.set(channel_id, rate),
    within: (channel_id, seconds) => Math.max(1, (rates.get(channel_id) ?? Infinity) * seconds),
    freeAt(channel_id, now_ms) {
      const rate = rates.get(channel_id)
      if (rate === undefined || rate === null) return now_ms
      const { grants, count, spent } = goneUntil(channel_id, now_ms, rate)
      const flown_ms = now_ms + Math.ceil((Math.max(0, spent - rate * burst) * secondMs) / rate)
      return count < rate ? flown_ms : Math.max(flown_ms, grants[0]!.at_ms + secondMs)
    },
    take(channel_id, now_ms, wanted) {
      const rate = rates.get(channel_id)
      if (rate === null) return wanted
      const last = goneUntil(channel_id, now_ms, rate ?? 0)
      // the rate is looked up with the first message
      const free = rate === undefined ? 1 : Math.min(rate - last.count, Math.floor(1 + rate * burst - last.spent))
      const granted = Math.max(0, Math.min(wanted, free))
      if (granted > 0) last.grants.push({ at_ms: now_ms, count: granted })
      last.count += granted
      last.spent += granted
      return granted
    },
  }
}

export interface RateWakes {
  /** Wakes the dispatch lane then. */
  at(at_ms: number): void
  stop(): void
}

const wakesApartMs = 20

/** Messages that wait for their channel's rate go at the moment when it allows them, not when the lane looks next. */
export function rateWakes({ clock, wake }: Pick<Platform, 'clock' | 'wake'>): RateWakes {
  const stopped = new AbortController()
  setMaxListeners(0, stopped.signal)
  let next_ms = Infinity
  return {
    at(wanted_ms) {
      const at_ms = Math.max(wanted_ms, clock.now() + wakesApartMs)
      if (at_ms >= next_ms) return
      next_ms = at_ms
      void clock.sleep(at_ms - clock.now(), stopped.signal).then(() => {
        if (next_ms === at_ms) next_ms = Infinity
        if (!stopped.signal.aborted) wake('dispatch')
      })
    },
    stop: () => stopped.abort(),
  }
}
