/** Leases on channels: a live channel is dispatched, at its rate, by the one process that holds its lease or its open session. Test mode needs none. */
import { limits } from '../../../api/limits.ts'
import { ageOf, isoTime, longAgo, mark, type Mark } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './repository.ts'

/** As long as the silence after which a process counts as dead, so that its channels wait no longer than its messages. */
const leaseMs = limits.process_silent_ms
/** The holder stops trusting its lease before another process may take it. */
const trustedForMs = leaseMs - 2000
/** A lease is renewed once half of it is over. */
const renewAfterMs = leaseMs / 2
/** A lease is dropped when its channel has had nothing to send for this long. */
const idleMs = 60_000

export interface ChannelLeases {
  /** Whether no other process can hold it. Ask right before each send attempt. */
  holds(channel_id: string): boolean
  /** Asks for leases on channels that have messages to send. */
  take(channel_ids: readonly string[]): Promise<void>
  /** The channel has messages to send: its lease stays for another minute. */
  use(channel_id: string): void
  /** Renews leases that are half over and drops those of idle channels. */
  renew(): Promise<void>
  release(): Promise<void>
}

interface Lease {
  /** When it was last asked for. */
  asked: Mark
  /** When its channel last had messages to send, in elapsed milliseconds. */
  used_ms: number
}

export function channelLeases({ pool, clock, process_id }: Platform): ChannelLeases {
  const leases = new Map<string, Lease>()
  const holds = (channel_id: string) => ageOf(clock, leases.get(channel_id)?.asked ?? longAgo) < trustedForMs

  // the earlier lease is trusted meanwhile, so that sending continues during a renewal
  const request = async (channel_ids: readonly string[]): Promise<void> => {
    const asked = mark(clock)
    const granted = new Set(
      await store.leaseChannels(pool, channel_ids, process_id, isoTime(asked.now_ms), isoTime(asked.now_ms + leaseMs)),
    )
    for (const channel_id of channel_ids) {
      if (granted.has(channel_id))
        leases.set(channel_id, { asked, used_ms: leases.get(channel_id)?.used_ms ?? asked.elapsed_ms })
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
      for (const [channel_id, { asked, used_ms }] of leases) {
        if (!holds(channel_id)) leases.delete(channel_id)
        else if (now - used_ms >= idleMs) idle.push(channel_id)
        else if (ageOf(clock, asked) >= renewAfterMs) due.push(channel_id)
      }
      for (const channel_id of idle) leases.delete(channel_id)
      if (idle.length > 0) await store.releaseChannels(pool, process_id, idle)
      await request(due)
    },
    release: () => store.releaseChannels(pool, process_id),
  }
}
