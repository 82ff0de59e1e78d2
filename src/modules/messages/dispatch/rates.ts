/** Rate limits per channel, with a slow restart after throttling (behaviour: messages 7.11). */
import { setMaxListeners } from 'node:events'
import type { Platform } from '../../../platform/platform.ts'

export interface ChannelRates {
  /** Messages a second; null: unlimited. */
  set(channel_id: string, rate: number | null): void
  /** Rates apply until they are set again. */
  forget(): void
  /** Granted messages count as sent. */
  take(channel_id: string, now_ms: number, wanted: number): number
  /** At least one; Infinity if the rate is unlimited or unknown. */
  within(channel_id: string, seconds: number): number
  freeAt(channel_id: string, now_ms: number): number
  /** Returns the pace afterwards: half of the messages of the last second. */
  slow(channel_id: string, now_ms: number, until_ms: number): number
  /** Returns the unchanged pace. */
  slowUntil(channel_id: string, now_ms: number, until_ms: number): number
  /** Starts at this pace, and adds a thirtieth of the rate each second. */
  slowTo(channel_id: string, pace: number, from_ms: number): void
}

const secondMs = 1000
/** Share of a second's messages that may be sent at once. */
const burst = 0.2
const speedUpMs = 30_000
const paceMin = 1

/** Within a second, oldest first. */
interface SentRecently {
  readonly grants: { readonly at_ms: number; readonly count: number }[]
  count: number
  spent: number
  at_ms: number
}

interface Slowed {
  readonly pace: number
  from_ms: number
}

interface State {
  readonly rates: Map<string, number | null>
  /** Forgotten rates. */
  readonly before: Map<string, number>
  readonly sent: Map<string, SentRecently>
  readonly slowed: Map<string, Slowed>
}

/** No second, wherever it begins, has more messages than the rate. With an unknown rate, one at a time. */
export function channelRates(): ChannelRates {
  const state: State = { rates: new Map(), before: new Map(), sent: new Map(), slowed: new Map() }
  const { rates, slowed } = state
  return {
    set: (channel_id, rate) => void rates.set(channel_id, rate),
    forget() {
      for (const [channel_id, rate] of rates) {
        if (rate === null) state.before.delete(channel_id)
        else state.before.set(channel_id, rate)
      }
      rates.clear()
    },
    within: (channel_id, seconds) => Math.max(1, (lastRate(state, channel_id) ?? Infinity) * seconds),
    freeAt(channel_id, now_ms) {
      const rate = rateAt(state, channel_id, now_ms)
      if (rate === undefined || rate === null) return now_ms
      const { grants, count, spent } = sentUntil(state, channel_id, now_ms, rate)
      const burst_free_ms = now_ms + Math.ceil((Math.max(0, spent - rate * burst) * secondMs) / rate)
      return count + 1 <= rate ? burst_free_ms : Math.max(burst_free_ms, grants[0]!.at_ms + secondMs)
    },
    take(channel_id, now_ms, wanted) {
      const rate = rateAt(state, channel_id, now_ms)
      if (rate === null) return wanted
      const last = sentUntil(state, channel_id, now_ms, rate ?? 0)
      const within = rate === undefined ? 1 : Math.min(rate - last.count, 1 + rate * burst - last.spent)
      const free = rates.has(channel_id) ? within : Math.min(1, within)
      const granted = Math.max(0, Math.min(wanted, Math.floor(free)))
      if (granted > 0) last.grants.push({ at_ms: now_ms, count: granted })
      last.count += granted
      last.spent += granted
      return granted
    },
    slow: (channel_id, now_ms, until_ms) => slow(state, channel_id, now_ms, until_ms),
    slowUntil(channel_id, now_ms, until_ms) {
      const known = slowed.get(channel_id)
      if (known === undefined) return slow(state, channel_id, now_ms, until_ms)
      known.from_ms = until_ms
      return known.pace
    },
    slowTo: (channel_id, pace, from_ms) => void slowed.set(channel_id, { pace: Math.max(paceMin, pace), from_ms }),
  }
}

const lastRate = ({ rates, before }: State, channel_id: string): number | null | undefined =>
  rates.has(channel_id) ? rates.get(channel_id) : before.get(channel_id)

/** Undefined if unknown. */
function rateAt(state: State, channel_id: string, now_ms: number): number | null | undefined {
  const { slowed } = state
  const rate = lastRate(state, channel_id)
  const slow = slowed.size === 0 ? undefined : slowed.get(channel_id)
  if (slow === undefined || rate === undefined || rate === null) return rate
  // slower for longer than a pause lasts: the clock was set back
  if (slow.from_ms - now_ms > speedUpMs * 2) slow.from_ms = now_ms
  const pace = slow.pace + (Math.max(0, now_ms - slow.from_ms) / speedUpMs) * rate
  if (pace < rate) return pace
  slowed.delete(channel_id)
  return rate
}

function sentUntil({ sent }: State, channel_id: string, now_ms: number, rate: number): SentRecently {
  const known = sent.get(channel_id)
  // the clock was set back
  if (known === undefined || known.at_ms > now_ms) {
    const fresh: SentRecently = { grants: [], count: 0, spent: 0, at_ms: now_ms }
    sent.set(channel_id, fresh)
    return fresh
  }
  while (known.grants.length > 0 && known.grants[0]!.at_ms <= now_ms - secondMs)
    known.count -= known.grants.shift()!.count
  known.spent = Math.max(0, known.spent - ((now_ms - known.at_ms) * rate) / secondMs)
  known.at_ms = now_ms
  return known
}

function slow(state: State, channel_id: string, now_ms: number, until_ms: number): number {
  const rate = rateAt(state, channel_id, now_ms)
  if (rate === undefined || rate === null) return paceMin
  const pace = Math.max(paceMin, Math.min(rate, sentUntil(state, channel_id, now_ms, rate).count) / 2)
  state.slowed.set(channel_id, { pace, from_ms: until_ms })
  return pace
}

export interface RateWakes {
  at(at_ms: number): void
  stop(): void
}

const wakesApartMs = 20

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
