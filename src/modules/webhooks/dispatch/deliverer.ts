/**
 * The deliver worker: composed of the keeper of sessions, the reader of the queue, the scheduler (what may begin), the executor (which posts) and the completer
 * (which records). Nothing waits for a receiver but that receiver's own deliveries.
 */
import type { HttpPoster, PostOutcome } from '../../../lib/http-post.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { HandoffConsumer } from '../fan-out/handoff.ts'
import { attemptResultOf } from './attempt.ts'
import { Completer } from './completer.ts'
import { aheadOf, learn, type DeliveryJob, type EndpointSession } from './endpoint-session.ts'
import { eventBodies } from './event-bodies.ts'
import { executor, type Executor } from './executor.ts'
import { handoffConsumer } from './handoff-consumer.ts'
import { openHandoffs, type OpenHandoffs } from './open-handoffs.ts'
import { QueueReader } from './queue-reader.ts'
import { Quiet } from './quiet.ts'
import { Scheduler } from './scheduler.ts'
import { SessionKeeper } from './session-keeper.ts'
import { EndpointSessions } from './endpoint-sessions.ts'

export interface DelivererDeps {
  readonly platform: Platform
  readonly poster: HttpPoster
  /** Disables an endpoint that failed too often in a row. */
  readonly disable: (tenant: { account_id: string; mode: string }, endpoint_id: string) => Promise<void>
  /** Emits endpoints that this process has changed: whoever changed one relies on it from the answer on. */
  readonly onChange: (listener: (endpoint_id: string) => void) => void
  /** 0 ≤ x < 1, for jitter. */
  readonly random: () => number
}

/** What was handed off in memory and is not recorded after this time goes to the queue, where it is seen. */
const inMemoryForMs = 1_000
/** How long a pass waits for what it began; the rest goes on beside the next pass. */
const patienceMs = 25
const graceMs = 3_000

export class Deliverer {
  readonly worker: Worker
  /** For the fan-out of this process. */
  readonly consumer: HandoffConsumer
  readonly #deps: DelivererDeps
  readonly #sessions: EndpointSessions
  readonly #keeper: SessionKeeper
  readonly #reader: QueueReader
  readonly #scheduler: Scheduler
  readonly #executor: Executor
  readonly #completer: Completer
  readonly #handoffs: OpenHandoffs = openHandoffs()
  readonly #quiet: Quiet
  #stopping = false

  constructor(deps: DelivererDeps) {
    const { platform, poster, onChange } = deps
    const { clock, pool } = platform
    const bodies = eventBodies(pool, platform.fresh_events)
    this.#deps = deps
    this.#sessions = new EndpointSessions((batches) => this.#completer.toQueue(batches))
    this.#keeper = new SessionKeeper(platform, this.#sessions)
    this.#executor = executor(platform, poster)
    this.#scheduler = new Scheduler({
      clock,
      sessions: this.#sessions,
      bodies,
      begin: (...begun) => void this.#deliver(...begun),
    })
    this.#reader = new QueueReader({ pool, sessions: this.#sessions, bodies, begin: () => this.#scheduler.beginAll() })
    this.#quiet = new Quiet(clock, () => this.#scheduler.underWay === 0 && !this.#completer.busy)
    this.#completer = new Completer({
      platform,
      handoffs: this.#handoffs,
      sessions: this.#sessions,
      failing: (endpoint_id, failures) => this.#failing(endpoint_id, failures),
      quiet: () => this.#quiet.check(),
    })
    this.consumer = handoffConsumer({
      platform,
      sessions: this.#sessions,
      handoffs: this.#handoffs,
      bodies,
      toQueue: (batches) => this.#completer.toQueue(batches),
      begin: () => this.#beginHandedOff(),
      isStopping: () => this.#stopping,
    })
    this.worker = { name: 'deliver', idle_ms: 250, tick: () => this.#tick() }
    onChange((endpoint_id) => this.#keeper.changed(endpoint_id))
  }

  /** Finishes what is under way within `grace_ms`, gives back the rest uncounted, and lets go of its leases. */
  async stop(grace_ms = graceMs): Promise<void> {
    this.#stopping = true
    this.#scheduler.stop()
    this.#completer.giveUp()
    this.#completer.soon()
    await this.#reader.stop()
    await this.#quiet.waitAtMost(grace_ms)
    this.#executor.abort()
    this.#completer.toQueue(this.#handoffs.ids())
    await this.#quiet.wait()
    await this.#keeper.stop()
  }

  async #tick(): Promise<number> {
    if (this.#stopping) return 0
    this.#scheduler.takeBegun()
    if (this.#completer.busy) this.#completer.soon()
    this.#scheduler.noticeSlow()
    await this.#keeper.keepLeases()
    const ready = await this.#keeper.openDue()
    await this.#keeper.refresh(ready)
    const dropped = await this.#keeper.dropForInactive(ready)
    const late = this.#handoffs.takenBefore(this.#deps.platform.clock.elapsed() - inMemoryForMs)
    this.#completer.toQueue(late)
    await this.#reader.readMore()
    this.#scheduler.beginAll()
    const worked = this.#scheduler.takeBegun() + dropped + late.length
    await this.#quiet.waitAtMost(patienceMs)
    return worked
  }

  /** Begins what the fan-out has handed off; when the process stops, resolves once everything is written down. */
  async #beginHandedOff(): Promise<void> {
    this.#scheduler.beginAll()
    if (this.#stopping) await this.#quiet.wait()
  }

  /** One attempt from its beginning to its place among the outcomes, and what may begin after it. */
  async #deliver(session: EndpointSession, job: DeliveryJob, body: Buffer): Promise<void> {
    const wasSlow = session.slow
    const outcome = await this.#executor.post(session, job, body)
    this.#scheduler.ended(job, wasSlow)
    this.#complete(session, job, outcome)
    this.#scheduler.beginNext(session)
    if (!session.more || session.buffer.length > aheadOf(session) / 4 || this.#reader.isReading || this.#stopping)
      return
    const { log } = this.#deps.platform
    await this.#reader.readMore().catch((error: unknown) => log.warn({ err: error }, 'reading due deliveries failed'))
  }

  #complete(session: EndpointSession, job: DeliveryJob, outcome: PostOutcome): void {
    if (outcome.error?.code === 'aborted') {
      session.underWay.delete(job)
      this.#sessions.release(session, job)
      return this.#completer.soon()
    }
    const { platform, random } = this.#deps
    const { clock, settings } = platform
    learn(session, job, outcome, clock.elapsed())
    this.#completer.add({
      session,
      job,
      failed: outcome.error !== null,
      result: attemptResultOf(job, outcome, { clock, settings, random }),
    })
    // when the process stops, no pass comes by any more that would write it down
    if (this.#scheduler.underWay === 0 || this.#stopping) this.#completer.soon()
  }

  /** The database says that an endpoint has failed so often in a row. */
  async #failing(endpoint_id: string, failures: number): Promise<void> {
    const { platform, disable } = this.#deps
    const session = this.#sessions.get(endpoint_id)
    if (session === undefined) return
    if (!this.#completer.isPending(session)) session.failures = failures
    if (failures < platform.settings.webhook_disable_after || !session.active) return
    session.active = false
    try {
      await disable(session, endpoint_id)
      this.#sessions.reread(session)
    } catch (error) {
      session.active = true // its next failure tries again
      platform.log.warn({ err: error, endpoint_id }, 'disabling a failing webhook endpoint failed')
    }
  }
}
