/** An endpoint as this process attends to it: what was read for it, what is under way, and the rules that keep it from hurting others. */
import type { PostOutcome } from '../../../lib/http-post.ts'
import type { Target } from './attempt.ts'
import { circuitAt, circuitEveryMs } from './circuit.ts'
import type { DueRow } from './queue-store.ts'
import type { Offer } from '../fan-out/handoff.ts'
import type { DeliveryGroup } from '../fan-out/handoff-store.ts'

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
  circuit: boolean
  /** What it takes of the places of this process, once it has begun. */
  places?: number
  /** With which it was handed off in memory; undefined: it stands in the queue. */
  group: DeliveryGroup | undefined
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
  circuit: false,
  group: undefined,
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
  /** Ids that were read or handed off, and are not recorded. */
  readonly held: Set<string>
  underWay: Set<DeliveryJob>
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

export const newSession = (endpoint_id: string, now: number): EndpointSession => ({
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
  held: new Set(),
  underWay: new Set(),
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
export function lookAgain(session: EndpointSession, taken: boolean, now: number): void {
  session.taken = taken
  if (!taken) session.version = 0
  session.more = true
  session.used_at = now
}

/** The endpoint was changed: what is known of it no longer holds. */
export const outdate = (session: EndpointSession): EndpointSession =>
  Object.assign(session, { stale: true, version: 0 })

/** Whether the endpoint's own rules let one more attempt begin now. */
export function mayBegin(session: EndpointSession, now: number): boolean {
  if (!session.active || session.stale || session.buffer.length === 0) return false
  if (session.failures >= circuitAt) return session.underWay.size === 0 && now - session.started_at >= circuitEveryMs
  // so that an endpoint that is down meets its circuit exactly at the fifth attempt
  return (
    session.underWay.size <
    (session.failures > 0 ? Math.min(session.limit, circuitAt - session.failures) : session.limit)
  )
}

/** Rows to hold ready beyond those under way. */
export const aheadOf = (session: EndpointSession): number =>
  session.failures >= circuitAt ? 2 : Math.min(256, Math.max(8, session.limit * 4))

/** What the fan-out may hand off to an endpoint in memory. */
export interface Offered {
  readonly session: EndpointSession
  readonly offer: Offer
}

/**
 * Offers to `max` endpoints, those used last first, `capacity` deliveries in all; when there is little capacity, none takes it all. Deliveries to one that
 * fails or is slow stand in the queue, and so do those to one for which something older may be waiting there.
 */
export function offersTo(sessions: readonly EndpointSession[], max: number, capacity: number): Offered[] {
  const fit = sessions.filter(
    (session) =>
      session.active &&
      !session.stale &&
      !session.more &&
      !session.slow &&
      session.failures === 0 &&
      session.buffer.length < aheadOf(session),
  )
  if (fit.length > max) fit.sort((a, b) => b.used_at - a.used_at).splice(max)
  const share = Math.floor(capacity / fit.length)
  if (!(share > 0)) return []
  return fit.map((session) => ({
    session,
    offer: {
      endpoint_id: session.endpoint_id,
      version: session.version,
      capacity: Math.min(share, aheadOf(session) - session.buffer.length),
    },
  }))
}

/** Learns from how an attempt ended: quick successes widen, failures narrow. */
export function learn(session: EndpointSession, job: DeliveryJob, outcome: PostOutcome, now: number): void {
  session.underWay.delete(job)
  session.used_at = now
  session.slow = now - job.started_at > slowAfterMs
  if (outcome.error !== null) {
    session.limit = Math.max(1, session.limit >> 1)
    session.failures = job.circuit
      ? session.failures + 1
      : Math.max(session.failures, Math.min(session.failures + 1, circuitAt))
  } else {
    session.failures = 0
    session.limit = session.slow
      ? Math.max(2, Math.min(session.limit, limitWhenSlow))
      : Math.min(limitMax, session.limit + 1)
  }
}

/** Marks the endpoint slow when something has been under way for long. */
export function notice(session: EndpointSession, now: number): void {
  if (session.slow) return
  for (const job of session.underWay) {
    if (now - job.started_at > slowAfterMs) session.slow = true
    break // the oldest comes first
  }
}
