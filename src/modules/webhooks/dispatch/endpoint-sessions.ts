/** An endpoint as this process attends to it: what was read for it, what is under way, and the rules that keep it from hurting others. */
import type { PostOutcome } from '../../../lib/http-post.ts'
import type { Target } from '../signing.ts'
import { breakerThreshold, breakerIntervalMs } from './circuit-breaker.ts'
import type { DueRow } from './repository.ts'

/** Attempts under way to one endpoint: few until it has answered, then one more with every quick success. */
const limitAtFirst = 4
const limitMax = 64
const limitWhenSlow = 8
/** An endpoint whose answers take longer counts as slow. */
const slowAfterMs = 1_000

export interface DeliveryJob extends Omit<DueRow, 'next_run_at'> {
  /** Milliseconds since 1970. */
  readonly due_ms: number
  /** By the elapsed time, in milliseconds; 0 before it begins. */
  started_at: number
  /** Begun while the circuit was open. */
  breaker_open: boolean
  /** What it takes of the slots of this process, once it has begun. */
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
  /** It was changed since it was read: nothing begins before it is read anew. */
  stale: boolean
  /** Its lease is this process's; false: nobody's, as far as this process could see. */
  taken: boolean
  active: boolean
  target: Target | undefined
  /** Failed attempts in a row, as far as this process knows. */
  failures: number
  /** Read and not begun, oldest first. */
  buffer: DeliveryJob[]
  /** Ids that were read and are not recorded. */
  readonly loaded: Set<string>
  inProgress: Set<DeliveryJob>
  limit: number
  slow: boolean
  /** The id after which to read on; empty: from the start. */
  after: string
  /** There may be rows that were not read. */
  more: boolean
  /** When its last attempt began, by the elapsed time. */
  started_at: number
  /** By the elapsed time. */
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

/**
 * Something is due for the endpoint, whose lease is this process's or nobody's. Nobody's: either there is no endpoint any more, and what is left for it is
 * dropped by whoever finds it, or another process is just taking it; reading the endpoint tells which.
 */
export function markDue(session: EndpointSession, taken: boolean, now: number): void {
  session.taken = taken
  if (!taken) session.version = 0
  session.more = true
  session.used_at = now
}

/** The endpoint was changed: what is known of it no longer holds. */
export const markStale = (session: EndpointSession): EndpointSession =>
  Object.assign(session, { stale: true, version: 0 })

/** Whether the endpoint's own rules let one more attempt begin now. */
export function canStart(session: EndpointSession, now: number): boolean {
  if (!session.active || session.stale || session.buffer.length === 0) return false
  if (session.failures >= breakerThreshold)
    return session.inProgress.size === 0 && now - session.started_at >= breakerIntervalMs
  // so that an endpoint that is down meets its circuit exactly at the fifth attempt
  return (
    session.inProgress.size <
    (session.failures > 0 ? Math.min(session.limit, breakerThreshold - session.failures) : session.limit)
  )
}

/** Rows to hold ready beyond those under way. */
export const prefetchOf = (session: EndpointSession): number =>
  session.failures >= breakerThreshold ? 2 : Math.min(256, Math.max(8, session.limit * 4))

/** Learns from how an attempt ended: quick successes widen, failures narrow. */
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

/** Marks the endpoint slow when something has been under way for long. */
export function detectSlowness(session: EndpointSession, now: number): void {
  if (session.slow) return
  for (const job of session.inProgress) {
    if (now - job.started_at > slowAfterMs) session.slow = true
    break // the oldest comes first
  }
}

/** Deliveries at hand and not recorded, over all endpoints. */
const loadedMax = 16_000

export class EndpointSessions {
  readonly #byEndpoint = new Map<string, EndpointSession>()
  #loaded = 0
  /** While rows are read, which may still show them. */
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

  /** The session of an endpoint, opened if there is none. */
  open(endpoint_id: string, now: number): EndpointSession {
    let session = this.#byEndpoint.get(endpoint_id)
    if (session === undefined) this.#byEndpoint.set(endpoint_id, (session = newSession(endpoint_id, now)))
    return session
  }

  /** How many deliveries more may be held. */
  capacity(): number {
    return loadedMax - this.#loaded
  }

  /** Puts deliveries behind those that wait for the endpoint. */
  enqueue(session: EndpointSession, jobs: readonly DeliveryJob[]): void {
    for (const job of jobs) {
      session.loaded.add(job.id)
      session.buffer.push(job)
    }
    this.#loaded += jobs.length
  }

  /** A delivery is recorded, or given back. */
  release(session: EndpointSession, job: DeliveryJob): void {
    if (!session.loaded.delete(job.id)) return
    this.#loaded -= 1
    this.#releasedMeanwhile?.add(job.id)
  }

  /** The result of `read`, with the ids that were released while it went on. */
  async whileReading<T>(read: () => Promise<T>): Promise<{ read: T; released: ReadonlySet<string> }> {
    const released = (this.#releasedMeanwhile = new Set<string>())
    return { read: await read().finally(() => (this.#releasedMeanwhile = undefined)), released }
  }

  /** Forgets the deliveries that have not begun: they are read again from the queue. */
  reread(session: EndpointSession): void {
    for (const job of session.buffer.splice(0)) this.release(session, job)
    session.after = ''
    session.more = true
  }

  /** Ends a session; what it has under way goes on. */
  close(session: EndpointSession): void {
    this.reread(session)
    this.#byEndpoint.delete(session.endpoint_id)
  }

  clear(): void {
    this.#byEndpoint.clear()
  }
}
