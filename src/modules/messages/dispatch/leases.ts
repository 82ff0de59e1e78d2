/** Leases on channels: a channel of live mode is dispatched, at its rate, by the process that holds its lease, or its session, which has a lease of its own. Test mode needs none. */
import { limits } from '../../../api/limits.ts'
import { ageOf, isoTime, longAgo, mark, type Mark } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './store.ts'

/** No longer than the silence after which a process is taken for dead: its channels wait no longer than its messages. */
const leaseMs = limits.process_silent_ms
/** Until a lease ends no other process takes it; its holder, by a clock of its own, trusts it for so long from the moment in which it asked, and no longer for a clock that was set back. */
const trustedForMs = leaseMs - 2000

export interface ChannelLeases {
  /** Whether no other process can have it: asked at the last moment before each hand-over. */
  holds(channel_id: string): boolean
  take(channel_ids: readonly string[]): Promise<void>
  renew(): Promise<void>
  release(): Promise<void>
}

/** The leases of this process: it keeps the rate of these channels, and may be handed their messages in memory. */
export function channelLeases({ pool, clock, process_id }: Platform): ChannelLeases {
  /** When each was asked for. */
  const asked = new Map<string, Mark>()
  const holds = (channel_id: string) => ageOf(clock, asked.get(channel_id) ?? longAgo) < trustedForMs
  // what was asked for before is trusted meanwhile: hand-overs go on beside a renewal
  const take = async (channel_ids: readonly string[]) => {
    const began = mark(clock)
    const { now_ms } = began
    const taken = new Set(
      await store.leaseChannels(pool, channel_ids, process_id, isoTime(now_ms), isoTime(now_ms + leaseMs)),
    )
    for (const channel_id of channel_ids) {
      if (taken.has(channel_id)) asked.set(channel_id, began)
      else asked.delete(channel_id)
    }
  }
  return {
    holds,
    take,
    async renew() {
      for (const channel_id of asked.keys()) if (!holds(channel_id)) asked.delete(channel_id)
      await take([...asked.keys()])
    },
    release: () => store.releaseChannels(pool, process_id),
  }
}
