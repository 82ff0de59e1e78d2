/** Which deliveries may begin now: the rules of their endpoints, the places of this process, and fairness between accounts. */
import type { SteadyClock } from '../../../lib/clock.ts'
import { circuitAt } from './circuit.ts'
import { mayBegin, notice, type DeliveryJob, type EndpointSession } from './endpoint-session.ts'
import type { EventBodies } from './event-bodies.ts'
import type { EndpointSessions } from './endpoint-sessions.ts'

/** Places of attempts under way in this process; slow endpoints together may take half of them. */
const placesMax = 2_048
const slowMax = placesMax / 2
/** An attempt takes a place for so much of its body: it may be a megabyte, and is held until its receiver has read it. */
const bytesPerPlace = 64 * 1024

export interface SchedulerDeps {
  readonly clock: Pick<SteadyClock, 'elapsed'>
  readonly sessions: EndpointSessions
  readonly bodies: Pick<EventBodies, 'get'>
  /** Makes the attempt. */
  readonly begin: (session: EndpointSession, job: DeliveryJob, body: Buffer) => void
}

export class Scheduler {
  readonly #deps: SchedulerDeps
  #underWay = 0
  #taken = 0
  #takenBySlow = 0
  /** Some endpoint found no place. */
  #starved = false
  #stopped = false
  #begun = 0

  constructor(deps: SchedulerDeps) {
    this.#deps = deps
  }

  get underWay(): number {
    return this.#underWay
  }

  /** Deliveries from the queue that began since this was asked last. */
  takeBegun(): number {
    const begun = this.#begun
    this.#begun = 0
    return begun
  }

  /** Finds out anew which endpoints are slow, and how much they have under way. */
  noticeSlow(): void {
    const now = this.#deps.clock.elapsed()
    this.#takenBySlow = 0
    for (const session of this.#deps.sessions.all()) {
      notice(session, now)
      if (session.slow) for (const { places = 1 } of session.underWay) this.#takenBySlow += places
    }
  }

  beginAll(): void {
    this.#starved = false
    beginInTurn(this.#deps.sessions.all(), (session) => this.#beginOne(session))
  }

  /** An attempt has ended; `wasSlow`: its endpoint counted as slow when it began. What it made room for begins with `beginNext`. */
  ended({ places = 1 }: DeliveryJob, wasSlow: boolean): void {
    this.#underWay -= 1
    this.#taken -= places
    if (wasSlow) this.#takenBySlow = Math.max(0, this.#takenBySlow - places)
  }

  beginNext(session: EndpointSession): void {
    if (this.#starved) this.beginAll()
    else while (this.#beginOne(session)) continue
  }

  /** Nothing begins any more. */
  stop(): void {
    this.#stopped = true
  }

  #beginOne(session: EndpointSession): boolean {
    const { clock, sessions, bodies, begin } = this.#deps
    const now = clock.elapsed()
    if (this.#stopped || !mayBegin(session, now)) return false
    if (this.#taken >= placesMax || (session.slow && this.#takenBySlow >= slowMax)) {
      this.#starved = true
      return false
    }
    const body = bodies.get(session.buffer[0]!.event_id)
    if (body === undefined) {
      // fallen out of memory: it is read again with its row
      sessions.reread(session)
      return false
    }
    const job = session.buffer.shift()!
    job.started_at = now
    job.circuit = session.failures >= circuitAt
    session.started_at = now
    session.underWay.add(job)
    job.places = Math.max(1, Math.ceil(body.length / bytesPerPlace))
    this.#underWay += 1
    this.#taken += job.places
    if (session.slow) this.#takenBySlow += job.places
    if (job.group === undefined) this.#begun += 1
    begin(session, job, body)
    return true
  }
}

/** Begins one for each account in turn until none begins any more: when places are scarce, no account takes them all. */
function beginInTurn(sessions: readonly EndpointSession[], begin: (session: EndpointSession) => boolean): void {
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
