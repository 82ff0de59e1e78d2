/** Loaded deliveries and attempts per endpoint, within limits that protect other endpoints. */
import type { PostOutcome } from '../../../lib/http-poster.ts'
import type { Target } from '../signing.ts'
import { breakerThreshold, breakerIntervalMs } from './circuit-breaker.ts'
import type { DueRow } from './repository.ts'

/** Concurrent attempts; each quick success adds one. */
const limitAtFirst = 4
const limitMax = 64
const limitWhenSlow = 8
const slowAfterMs = 1_000

export interface DeliveryJob extends Omit<DueRow, 'next_run_at'> {
  readonly due_ms: number
  /** By the monotonic clock; 0 before the attempt. */
  started_at: number
  breaker_open: boolean
  slots?: number
}

export const jobOf = (row: DueRow): DeliveryJob => ({
  endpoint_id: row.endpoint_id,
  id: row.id,
  account_id: row.account_id,
  mode: row.mode,
  event_id: row.event_id,
  event_type: row.event_type,
  attempts: row.attempts,
  scheduled: row.scheduled,
  due_ms: Date.parse(row.next_run_at),
  started_at: 0,
  breaker_open: false,
})

export interface EndpointSession {
  readonly endpoint_id: string
  account_id: string
  mode: string
  version: number
  /** No attempt starts before the changed endpoint is read again. */
  stale: boolean
  /** By this process; false: by no process when it was last read. */
  taken: boolean
  active: boolean
  target: Target | undefined
  failures: number
  /** Not started, oldest first. */
  buffer: DeliveryJob[]
  /** Not recorded. */
  readonly loaded: Set<string>
  inProgress: Set<DeliveryJob>
  limit: number
  slow: boolean
  /** Where reading continues; empty: at the start. */
  after: string
  more: boolean
  /** Of the last attempt, by the monotonic clock. */
  started_at: number
  /** By the monotonic clock. */
  used_at: number
}

const newSession = (endpoint_id: string, now: number): EndpointSession => ({
  endpoint_id,
  taken: false,
  account_id: '',
  mode: '',
  version: 0,
  stale: false,
  active: false,
  target: undefined,
  failures: 0,
  buffer: [],
  loaded: new Set(),
  inProgress: new Set(),
  limit: limitAtFirst,
  slow: false,
  after: '',
  more: true,
  started_at: -Infinity,
  used_at: now,
})

/** Without a lease, the endpoint was deleted or another process is acquiring it. */
export function markDue(session: EndpointSession, taken: boolean, now: number): void {
  session.taken = taken
  if (!taken) session.version = 0
  session.more = true
  session.used_at = now
}

export const markStale = (session: EndpointSession): EndpointSession =>
  Object.assign(session, { stale: true, version: 0 })

export function canStart(session: EndpointSession, now: number): boolean {
  if (!session.active || session.stale || session.buffer.length === 0) return false
  if (session.failures >= breakerThreshold)
    return session.inProgress.size === 0 && now - session.started_at >= breakerIntervalMs
  // an endpoint that is down opens its breaker at exactly the fifth attempt
  return (
    session.inProgress.size <
    (session.failures > 0 ? Math.min(session.limit, breakerThreshold - session.failures) : session.limit)
  )
}

export const prefetchOf = (session: EndpointSession): number =>
  session.failures >= breakerThreshold ? 2 : Math.min(256, Math.max(8, session.limit * 4))

export function adapt(session: EndpointSession, job: DeliveryJob, outcome: PostOutcome, now: number): void {
  session.inProgress.delete(job)
  session.used_at = now
  session.slow = now - job.started_at > slowAfterMs
  if (outcome.error !== null) {
    session.limit = Math.max(1, session.limit >> 1)
    session.failures = job.breaker_open
      ? session.failures + 1
      : Math.max(session.failures, Math.min(session.failures + 1, breakerThreshold))
  } else {
    session.failures = 0
    session.limit = session.slow
      ? Math.max(2, Math.min(session.limit, limitWhenSlow))
      : Math.min(limitMax, session.limit + 1)
  }
}

export function detectSlowness(session: EndpointSession, now: number): void {
  if (session.slow) return
  for (const job of session.inProgress) {
    if (now - job.started_at > slowAfterMs) session.slow = true
    break // the oldest comes first
  }
}

const loadedMax = 16_000

export class EndpointSessions {
  readonly #byEndpoint = new Map<string, EndpointSession>()
  #loaded = 0
  /** Released during a read, whose rows may still include them. */
  #releasedMeanwhile: Set<string> | undefined

  get size(): number {
    return this.#byEndpoint.size
  }

  get(endpoint_id: string): EndpointSession | undefined {
    return this.#byEndpoint.get(endpoint_id)
  }

  all(): EndpointSession[] {
    return [...this.#byEndpoint.values()]
  }

  ids(): string[] {
    return [...this.#byEndpoint.keys()]
  }

  open(endpoint_id: string, now: number): EndpointSession {
    let session = this.#byEndpoint.get(endpoint_id)
    if (session === undefined) this.#byEndpoint.set(endpoint_id, (session = newSession(endpoint_id, now)))
    return session
  }

  capacity(): number {
    return loadedMax - this.#loaded
  }

  enqueue(session: EndpointSession, jobs: readonly DeliveryJob[]): void {
    for (const job of jobs) {
      session.loaded.add(job.id)
      session.buffer.push(job)
    }
    this.#loaded += jobs.length
  }

  release(session: EndpointSession, job: DeliveryJob): void {
    if (!session.loaded.delete(job.id)) return
    this.#loaded -= 1
    this.#releasedMeanwhile?.add(job.id)
  }

  async whileReading<T>(read: () => Promise<T>): Promise<{ read: T; released: ReadonlySet<string> }> {
    const released = (this.#releasedMeanwhile = new Set<string>())
    return { read: await read().finally(() => (this.#releasedMeanwhile = undefined)), released }
  }

  /** Deliveries that have not begun are loaded again. */
  reread(session: EndpointSession): void {
    for (const job of session.buffer.splice(0)) this.release(session, job)
    session.after = ''
    session.more = true
  }

  close(session: EndpointSession): void {
    this.reread(session)
    this.#byEndpoint.delete(session.endpoint_id)
  }

  clear(): void {
    this.#byEndpoint.clear()
  }
}
