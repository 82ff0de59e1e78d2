/** Opens, refreshes and closes endpoint sessions by leases and due deliveries. */
import * as store from './repository.ts'
import { ageOf, longAgo, mark, isoTime } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import { dropPending } from '../delivery-repository.ts'
import { targetOf } from '../signing.ts'
import { markDue, markStale, type EndpointSession, type EndpointSessions } from './endpoint-sessions.ts'
import { readEndpoints, asWorker, listDueEndpoints, queueDueRetries, type DueEndpoint } from './repository.ts'
import { limits } from '../../../api/limits.ts'
import { transact } from '../../../platform/database/sql.ts'

const droppedPerRun = 2_000
const renewEveryMs = 20_000
const idleLeaseMs = 10_000

export class SessionManager {
  readonly #platform: Platform
  readonly #sessions: EndpointSessions
  readonly #leases: EndpointLeases
  #renewed = longAgo
  #scannedTo = ''

  constructor(platform: Platform, sessions: EndpointSessions) {
    this.#platform = platform
    this.#sessions = sessions
    this.#leases = endpointLeases(platform)
  }

  /** Also closes idle sessions and those of lost leases. */
  async renewLeases(): Promise<void> {
    const { clock } = this.#platform
    if (ageOf(clock, this.#renewed) < renewEveryMs || this.#sessions.size === 0) return
    this.#renewed = mark(clock)
    const now = this.#renewed.elapsed_ms
    const unused = this.#sessions
      .all()
      .filter((session) => session.loaded.size === 0 && now - session.used_at > idleLeaseMs)
    for (const session of unused) this.#sessions.close(session)
    if (unused.length > 0) await this.#leases.release(unused.map(({ endpoint_id }) => endpoint_id))
    const kept = new Set(await this.#leases.renew(this.#sessions.ids()))
    for (const session of this.#sessions.all()) if (!kept.has(session.endpoint_id)) this.#sessions.close(session)
  }

  /** Of endpoints with due deliveries whose lease this process or no process has. */
  async openDue(): Promise<EndpointSession[]> {
    const { clock, process_id } = this.#platform
    const now = clock.elapsed()
    const due = await this.#leases.dueEndpoints(this.#scannedTo)
    this.#scannedTo = due.length < endpointsPerRun ? '' : due.at(-1)!.endpoint_id
    const ready: EndpointSession[] = []
    for (const { endpoint_id, process_id: holder } of due) {
      if (holder !== process_id && holder !== null) {
        const lost = this.#sessions.get(endpoint_id)
        if (lost !== undefined) this.#sessions.close(lost)
        continue
      }
      const session = this.#sessions.open(endpoint_id, now)
      markDue(session, holder === process_id, now)
      ready.push(session)
    }
    return ready
  }

  /** An attempt uses the current address and secret. */
  async refresh(ready: readonly EndpointSession[]): Promise<void> {
    const concerned = new Set([...ready, ...this.#sessions.all().filter((session) => session.buffer.length > 0)])
    if (concerned.size === 0) return
    const known = Array.from(concerned, (session) => ({ id: session.endpoint_id, version: session.version }))
    for (const row of await readEndpoints(this.#platform.pool, known)) {
      const session = this.#sessions.get(row.id)
      if (session === undefined) continue
      // deliveries read under the old version may have been dropped
      this.#sessions.reread(session)
      if (!session.taken && row.status === 'active') this.#sessions.close(session)
      const { account_id, mode, version, failures } = row
      Object.assign(session, { account_id, mode, version, failures, stale: false })
      session.active = row.status === 'active'
      session.target = session.active ? targetOf(this.#platform.secrets, row) : undefined
    }
  }

  /** Left by a race with the fan-out. Skips endpoints enabled meanwhile. Resolves to how many were dropped. */
  async dropForInactive(ready: readonly EndpointSession[]): Promise<number> {
    let dropped = 0
    for (const session of ready) {
      if (session.active || session.loaded.size > 0) continue
      dropped += await dropPending(this.#platform.pool, session.endpoint_id, droppedPerRun, true)
      this.#sessions.close(session)
    }
    return dropped
  }

  changed(endpoint_id: string): void {
    const session = this.#sessions.get(endpoint_id)
    if (session !== undefined) this.#sessions.reread(markStale(session))
  }

  /** Never rejects: without the database, leases expire. */
  async stop(): Promise<void> {
    await this.#leases.release(this.#sessions.ids()).catch(() => undefined)
    this.#sessions.clear()
  }
}

export interface EndpointLeases {
  /** After `after`. Acquires free leases and queues due retries. */
  dueEndpoints(after: string): Promise<DueEndpoint[]>
  renew(endpoint_ids: readonly string[]): Promise<string[]>
  release(endpoint_ids: readonly string[]): Promise<void>
}

const endpointsPerRun = 1_000
const retriesPerRun = 2_000
const leaseMs = 60_000

function endpointLeases({ pool, clock, process_id }: Pick<Platform, 'pool' | 'clock' | 'process_id'>): EndpointLeases {
  async function listDue(after: string): Promise<DueEndpoint[]> {
    const scan = { at: isoTime(clock.now()), after, limit: endpointsPerRun }
    const found = await listDueEndpoints(pool, scan)
    if (!found.retries_due) return found.endpoints
    await transact(pool, async (tx) => {
      await asWorker(tx)
      await queueDueRetries(tx, scan.at, retriesPerRun)
    })
    return (await listDueEndpoints(pool, scan)).endpoints
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
      const taken = new Set(await store.acquireLeases(pool, foreign, wanted))
      return due.map((endpoint) => (taken.has(endpoint.endpoint_id) ? { ...endpoint, process_id } : endpoint))
    },
    renew: (endpoint_ids) => store.renewLeases(pool, process_id, endpoint_ids, isoTime(clock.now() + leaseMs)),
    release: (endpoint_ids) => store.releaseLeases(pool, process_id, endpoint_ids),
  }
}
