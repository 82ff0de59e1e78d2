/** The leases of this process on endpoints: all attempts at one are made by one process at a time, so that its circuit and its concurrency are one. */
import { limits } from '../../../api/limits.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './leases-store.ts'
import { asWorker, listDueEndpoints, queueDueRetries, type DueEndpoint } from './queue-store.ts'

export interface EndpointLeases {
  /**
   * The endpoints behind `after` that have something due, with who holds each lease once this process has taken those that nobody living held. Brings retries whose time has
   * come to the queue first.
   */
  dueEndpoints(after: string): Promise<DueEndpoint[]>
  /** Prolongs these; resolves to those that this process still holds. */
  renew(endpoint_ids: readonly string[]): Promise<string[]>
  release(endpoint_ids: readonly string[]): Promise<void>
}

/** Endpoints looked at in one pass. */
export const endpointsPerPass = 1_000
const retriesPerPass = 2_000
const leaseMs = 60_000

export function endpointLeases({
  pool,
  clock,
  process_id,
}: Pick<Platform, 'pool' | 'clock' | 'process_id'>): EndpointLeases {
  async function listDue(after: string): Promise<DueEndpoint[]> {
    const look = { at: isoTime(clock.now()), after, limit: endpointsPerPass }
    const found = await listDueEndpoints(pool, look)
    if (!found.retries_due) return found.endpoints
    await transact(pool, async (tx) => {
      await asWorker(tx)
      await queueDueRetries(tx, look.at, retriesPerPass)
    })
    return (await listDueEndpoints(pool, look)).endpoints
  }
  return {
    async dueEndpoints(after) {
      const due = await listDue(after)
      const foreign = due.filter((endpoint) => endpoint.process_id !== process_id).map(({ endpoint_id }) => endpoint_id)
      if (foreign.length === 0) return due
      const now = clock.now()
      const wanted = {
        process_id,
        at: isoTime(now),
        lease_until: isoTime(now + leaseMs),
        alive_since: isoTime(now - limits.process_silent_ms),
      }
      const taken = new Set(await store.takeLeases(pool, foreign, wanted))
      return due.map((endpoint) => (taken.has(endpoint.endpoint_id) ? { ...endpoint, process_id } : endpoint))
    },
    renew: (endpoint_ids) => store.renewLeases(pool, process_id, endpoint_ids, isoTime(clock.now() + leaseMs)),
    release: (endpoint_ids) => store.releaseLeases(pool, process_id, endpoint_ids),
  }
}
