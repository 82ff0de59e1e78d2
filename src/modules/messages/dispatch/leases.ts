/** Leases on live channels: the owner of a channel's lease or session dispatches it, at its rate. */
import { limits } from '../../../api/limits.ts'
import { ageOf, isoTime, longAgo, mark, type Mark } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './repository.ts'

/** As long as messages of a dead process wait. */
const leaseMs = limits.process_silent_ms
/** The owner stops trusting its lease before another process may acquire it. */
const trustedForMs = leaseMs - 2000
const renewAfterMs = leaseMs / 2
const idleMs = 60_000

export interface ChannelLeases {
  /** Checked before each attempt. */
  holds(channel_id: string): boolean
  take(channel_ids: readonly string[]): Promise<void>
  /** Keeps the lease for `idleMs`. */
  use(channel_id: string): void
  /** Also releases leases of idle channels. */
  renew(): Promise<void>
  release(): Promise<void>
}

interface Lease {
  requested: Mark
  used_ms: number
}

export function channelLeases({ pool, clock, process_id }: Platform): ChannelLeases {
  const leases = new Map<string, Lease>()
  const holds = (channel_id: string) => ageOf(clock, leases.get(channel_id)?.requested ?? longAgo) < trustedForMs

  // the earlier lease is trusted during the renewal
  const request = async (channel_ids: readonly string[]): Promise<void> => {
    const requested = mark(clock)
    const granted = new Set(
      await store.leaseChannels(
        pool,
        channel_ids,
        process_id,
        isoTime(requested.now_ms),
        isoTime(requested.now_ms + leaseMs),
      ),
    )
    for (const channel_id of channel_ids) {
      if (granted.has(channel_id))
        leases.set(channel_id, { requested, used_ms: leases.get(channel_id)?.used_ms ?? requested.elapsed_ms })
      else leases.delete(channel_id)
    }
  }

  return {
    holds,
    take: request,
    use(channel_id) {
      const lease = leases.get(channel_id)
      if (lease !== undefined) lease.used_ms = clock.elapsed()
    },
    async renew() {
      const now = clock.elapsed()
      const [idle, due]: [string[], string[]] = [[], []]
      for (const [channel_id, { requested, used_ms }] of leases) {
        if (!holds(channel_id)) leases.delete(channel_id)
        else if (now - used_ms >= idleMs) idle.push(channel_id)
        else if (ageOf(clock, requested) >= renewAfterMs) due.push(channel_id)
      }
      for (const channel_id of idle) leases.delete(channel_id)
      if (idle.length > 0) await store.releaseChannels(pool, process_id, idle)
      await request(due)
    },
    release: () => store.releaseChannels(pool, process_id),
  }
}
