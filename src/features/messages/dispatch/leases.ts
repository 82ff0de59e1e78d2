/** Leases on channels: the one process that dispatches a channel of live mode holds its lease, and with it the channel's rate and session. */
import { limits } from '../../../contract/limits.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './store.ts'

const leaseMs = 15_000
/** Given up so long before it ends, so that two processes never both think they hold it. */
const marginMs = 2000

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
    const taken = await store.leaseChannels(pool, channel_ids, process_id, isoTime(now), isoTime(now + leaseMs), isoTime(now - limits.process_silent_ms))
    for (const channel_id of taken) held.set(channel_id, now + leaseMs - marginMs)
  }
  const holds = (channel_id: string) => (held.get(channel_id) ?? 0) > clock.now()
  return {
    holds,
    take,
    renew: () => take([...held.keys()].filter(holds)),
    release: () => store.releaseChannels(pool, process_id),
  }
}
