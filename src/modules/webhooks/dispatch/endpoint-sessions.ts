/** The endpoint sessions of this process, and the deliveries that they hold: read or handed off, and not recorded. */
import { newSession, type DeliveryJob, type EndpointSession } from './endpoint-session.ts'

/** Deliveries at hand and not recorded, over all endpoints. */
const heldMax = 16_000

export class EndpointSessions {
  readonly #byEndpoint = new Map<string, EndpointSession>()
  /** Brings what is left of these batches to the queue. */
  readonly #queueBatches: (batches: readonly number[]) => void
  #held = 0
  /** While rows are read, which may still show them. */
  #releasedMeanwhile: Set<string> | undefined

  constructor(queueBatches: (batches: readonly number[]) => void) {
    this.#queueBatches = queueBatches
  }

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
    return heldMax - this.#held
  }

  /** Puts deliveries behind those that wait for the endpoint. */
  keep(session: EndpointSession, jobs: readonly DeliveryJob[]): void {
    for (const job of jobs) {
      session.held.add(job.id)
      session.buffer.push(job)
    }
    this.#held += jobs.length
  }

  /** A delivery is recorded, or given back. */
  release(session: EndpointSession, job: DeliveryJob): void {
    if (!session.held.delete(job.id)) return
    this.#held -= 1
    this.#releasedMeanwhile?.add(job.id)
  }

  /** The result of `read`, with the ids that were released while it went on. */
  async whileReading<T>(read: () => Promise<T>): Promise<{ read: T; released: ReadonlySet<string> }> {
    const released = (this.#releasedMeanwhile = new Set<string>())
    return { read: await read().finally(() => (this.#releasedMeanwhile = undefined)), released }
  }

  /** Lets go of what waits, to be found in the queue; what was handed off in memory is brought there. */
  reread(session: EndpointSession): void {
    const waited = session.buffer.splice(0)
    for (const job of waited) this.release(session, job)
    this.#queueBatches(waited.flatMap((job) => job.group?.batch ?? []))
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
