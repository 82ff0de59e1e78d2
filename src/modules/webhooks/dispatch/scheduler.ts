/** The scheduler decides which deliveries start, by limits per endpoint, slots, and fairness between accounts. */
import type { SteadyClock } from '../../../lib/clock.ts'
import { breakerThreshold } from './circuit-breaker.ts'
import {
  canStart,
  detectSlowness,
  type DeliveryJob,
  type EndpointSession,
  type EndpointSessions,
} from './endpoint-sessions.ts'
import type { EventBodies } from './event-bodies.ts'

/** Slow endpoints together may use half of the slots. */
const slotsMax = 2_048
const slowMax = slotsMax / 2
/** A large body stays in memory until its receiver has read it. */
const bytesPerSlot = 64 * 1024

export interface SchedulerDeps {
  readonly clock: Pick<SteadyClock, 'elapsed'>
  readonly sessions: EndpointSessions
  readonly bodies: Pick<EventBodies, 'get'>
  readonly begin: (session: EndpointSession, job: DeliveryJob, body: Buffer) => void
}

export class Scheduler {
  readonly #deps: SchedulerDeps
  #inProgress = 0
  #taken = 0
  #takenBySlow = 0
  #starved = false
  #stopped = false
  #started = 0

  constructor(deps: SchedulerDeps) {
    this.#deps = deps
  }

  get inProgress(): number {
    return this.#inProgress
  }

  takeStarted(): number {
    const begun = this.#started
    this.#started = 0
    return begun
  }

  detectSlow(): void {
    const now = this.#deps.clock.elapsed()
    this.#takenBySlow = 0
    for (const session of this.#deps.sessions.all()) {
      detectSlowness(session, now)
      if (session.slow) for (const { slots = 1 } of session.inProgress) this.#takenBySlow += slots
    }
  }

  startAll(): void {
    this.#starved = false
    startInTurn(this.#deps.sessions.all(), (session) => this.#startOne(session))
  }

  /** `wasSlow`: at the start. Call `startNext` afterwards. */
  ended({ slots = 1 }: DeliveryJob, wasSlow: boolean): void {
    this.#inProgress -= 1
    this.#taken -= slots
    if (wasSlow) this.#takenBySlow = Math.max(0, this.#takenBySlow - slots)
  }

  startNext(session: EndpointSession): void {
    if (this.#starved) this.startAll()
    else while (this.#startOne(session)) continue
  }

  stop(): void {
    this.#stopped = true
  }

  #startOne(session: EndpointSession): boolean {
    const { clock, sessions, bodies, begin } = this.#deps
    const now = clock.elapsed()
    if (this.#stopped || !canStart(session, now)) return false
    if (this.#taken >= slotsMax || (session.slow && this.#takenBySlow >= slowMax)) {
      this.#starved = true
      return false
    }
    const body = bodies.get(session.buffer[0]!.event_id)
    if (body === undefined) {
      // the body was evicted: read it again with its row
      sessions.reread(session)
      return false
    }
    const job = session.buffer.shift()!
    job.started_at = now
    job.breaker_open = session.failures >= breakerThreshold
    session.started_at = now
    session.inProgress.add(job)
    job.slots = Math.max(1, Math.ceil(body.length / bytesPerSlot))
    this.#inProgress += 1
    this.#taken += job.slots
    if (session.slow) this.#takenBySlow += job.slots
    this.#started += 1
    begin(session, job, body)
    return true
  }
}

/** One per account in turn, so that no account uses all slots. */
function startInTurn(sessions: readonly EndpointSession[], begin: (session: EndpointSession) => boolean): void {
  const waiting = sessions.filter((session) => session.buffer.length > 0)
  const accounts = [...Map.groupBy(waiting, (session) => session.account_id).values()]
  for (let progress = true; progress;) {
    progress = false
    for (const own of accounts) {
      for (let i = 0; i < own.length; i++) {
        const session = own.shift()!
        own.push(session)
        if (!begin(session)) continue
        progress = true
        break
      }
    }
  }
}
