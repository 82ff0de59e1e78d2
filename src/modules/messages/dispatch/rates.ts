/** Capacity by rate: how many messages of a channel may go now, and when more may. One that was throttled goes on slower, and faster again by and by (behaviour: messages 7.11). */
import { setMaxListeners } from 'node:events'
import type { Platform } from '../../../platform/platform.ts'

export interface ChannelRates {
  /** Messages a second; null: as many as come. */
  set(channel_id: string, rate: number | null): void
  /** Forgets the rates, which may have changed: each holds until it is known anew. What went and who is slowed stands. */
  forget(): void
  /** How many of the wanted messages may go now; they are counted as gone. */
  take(channel_id: string, now_ms: number, wanted: number): number
  /** How many may go in so many seconds, at least one; Infinity where as many as come, and where the rate was never known. */
  within(channel_id: string, seconds: number): number
  /** When more may go than now. */
  freeAt(channel_id: string, now_ms: number): number
  /** The provider throttled the channel, which is paused until then: yields how many a second it goes on with, half of what it sent. */
  slow(channel_id: string, now_ms: number, until_ms: number): number
  /** The pause lasts until then: yields how many a second the channel goes on with, as many as before. */
  slowUntil(channel_id: string, now_ms: number, until_ms: number): number
  /** From then on it goes at so many a second, and each second by a thirtieth of its rate more, up to that. */
  slowTo(channel_id: string, pace: number, from_ms: number): void
}

const secondMs = 1000
/** So much of a second's messages may go at once; the others are spread, so that what their providers take to answer does not push two seconds into one. */
const burst = 0.2
/** So long a channel takes from a standstill to its rate. */
const speedUpMs = 30_000
const paceMin = 1

/** What went on a channel in the last second, oldest first. */
interface Gone {
  readonly grants: { readonly at_ms: number; readonly count: number }[]
  count: number
  /** What went and has not flowed off at the rate. */
  spent: number
  at_ms: number
}

interface Slowed {
  readonly pace: number
  from_ms: number
}

interface State {
  readonly rates: Map<string, number | null>
  /** Those that were forgotten: they hold until the rate is known again, whatever it is then. */
  readonly before: Map<string, number>
  readonly gone: Map<string, Gone>
  readonly slowed: Map<string, Slowed>
}

/** No more than a channel's rate goes in any second, wherever the second begins. Until the rate of a channel is known, its messages go one by one, and within the rate that it had. */
export function channelRates(): ChannelRates {
  const state: State = { rates: new Map(), before: new Map(), gone: new Map(), slowed: new Map() }
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
      const { grants, count, spent } = goneUntil(state, channel_id, now_ms, rate)
      const flown_ms = now_ms + Math.ceil((Math.max(0, spent - rate * burst) * secondMs) / rate)
      return count + 1 <= rate ? flown_ms : Math.max(flown_ms, grants[0]!.at_ms + secondMs)
    },
    take(channel_id, now_ms, wanted) {
      const rate = rateAt(state, channel_id, now_ms)
      if (rate === null) return wanted
      const last = goneUntil(state, channel_id, now_ms, rate ?? 0)
      const within = rate === undefined ? 1 : Math.min(rate - last.count, 1 + rate * burst - last.spent)
      // the rate is looked up with the first message; a lower one holds from then on
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

/** The rate, or the last one where it was forgotten; undefined where it was never known. */
const lastRate = ({ rates, before }: State, channel_id: string): number | null | undefined =>
  rates.has(channel_id) ? rates.get(channel_id) : before.get(channel_id)

/** As many a second as may go now; undefined where that is not known yet. */
function rateAt(state: State, channel_id: string, now_ms: number): number | null | undefined {
  const { slowed } = state
  const rate = lastRate(state, channel_id)
  const slow = slowed.size === 0 ? undefined : slowed.get(channel_id)
  if (slow === undefined || rate === undefined || rate === null) return rate
  // nobody is slowed for longer than a pause lasts: else the clock was set back
  if (slow.from_ms - now_ms > speedUpMs * 2) slow.from_ms = now_ms
  const pace = slow.pace + (Math.max(0, now_ms - slow.from_ms) / speedUpMs) * rate
  if (pace < rate) return pace
  slowed.delete(channel_id)
  return rate
}

function goneUntil({ gone }: State, channel_id: string, now_ms: number, rate: number): Gone {
  const known = gone.get(channel_id)
  // a clock that was set back tells nothing of what went before
  if (known === undefined || known.at_ms > now_ms) {
    const made: Gone = { grants: [], count: 0, spent: 0, at_ms: now_ms }
    gone.set(channel_id, made)
    return made
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
  const pace = Math.max(paceMin, Math.min(rate, goneUntil(state, channel_id, now_ms, rate).count) / 2)
  state.slowed.set(channel_id, { pace, from_ms: until_ms })
  return pace
}

export interface RateWakes {
  /** Wakes the dispatch worker then. */
  at(at_ms: number): void
  stop(): void
}

const wakesApartMs = 20

/** Messages that wait for their channel's rate go at the moment when it allows them, not when the worker looks next. */
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
