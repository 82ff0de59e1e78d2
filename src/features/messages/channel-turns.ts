/** Whose turn a channel is: the lease by which one process dispatches it, and the rate at which messages may go. */
import { limits } from '../../contract/limits.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Platform } from '../../platform/platform.ts'
import * as store from './dispatch-store.ts'

const lease_ms = 15_000
/** Given up so long before it ends, so that two processes never both think they hold it. */
const margin_ms = 2000

export interface ChannelLeases {
  holds(channel_id: string): boolean
  take(channel_ids: readonly string[]): Promise<void>
  renew(): Promise<void>
  release(): Promise<void>
}

/** The channels that this process dispatches: it owns their rate and their session, and may be handed messages in memory. */
export function channelLeases({ pool, clock, process_id }: Platform): ChannelLeases {
  const held = new Map<string, number>()
  const take = async (channel_ids: readonly string[]) => {
    const now = clock.now()
    for (const channel_id of channel_ids) held.delete(channel_id)
    const taken = await store.leaseChannels(pool, channel_ids, process_id, isoTime(now), isoTime(now + lease_ms), isoTime(now - limits.process_silent_ms))
    for (const channel_id of taken) held.set(channel_id, now + lease_ms - margin_ms)
  }
  const holds = (channel_id: string) => (held.get(channel_id) ?? 0) > clock.now()
  return {
    holds,
    take,
    renew: () => take([...held.keys()].filter(holds)),
    release: () => store.releaseChannels(pool, process_id),
  }
}

export interface ChannelRates {
  /** Messages a second; null: as many as come. */
  set(channel_id: string, rate: number | null): void
  /** How many of the wanted messages may go now; they are counted as gone. */
  take(channel_id: string, now_ms: number, wanted: number): number
  /** How many may go in so many seconds, at least one; Infinity where as many as come, and where the rate is not known yet. */
  within(channel_id: string, seconds: number): number
}

/** A bucket for each channel that holds at most a second's worth. Until the rate of a channel is set, its messages go one by one. */
export function channelRates(): ChannelRates {
  const rates = new Map<string, number | null>()
  const buckets = new Map<string, { readonly spent: number; readonly at_ms: number }>()
  return {
    set: (channel_id, rate) => void rates.set(channel_id, rate),
    within: (channel_id, seconds) => Math.max(1, (rates.get(channel_id) ?? Infinity) * seconds),
    take(channel_id, now_ms, wanted) {
      const rate = rates.get(channel_id)
      if (rate === null) return wanted
      // the rate is looked up with the first message
      if (rate === undefined) {
        buckets.set(channel_id, { spent: 1, at_ms: now_ms })
        return Math.min(1, wanted)
      }
      const bucket = buckets.get(channel_id) ?? { spent: 0, at_ms: now_ms }
      const spent = Math.max(0, bucket.spent - ((now_ms - bucket.at_ms) * rate) / 1000)
      const granted = Math.max(0, Math.min(wanted, Math.floor(rate - spent)))
      buckets.set(channel_id, { spent: spent + granted, at_ms: now_ms })
      return granted
    },
  }
}
