/** The worker `deliver`: posts due deliveries and records the outcomes. */
import type { HttpPoster, PostOutcome } from '../../../lib/http-poster.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { WebhookService } from '../service.ts'
import { attemptResultOf } from '../attempt.ts'
import { Completer } from './completion.ts'
import { prefetchOf, adapt, type DeliveryJob, type EndpointSession, EndpointSessions } from './endpoint-sessions.ts'
import { eventBodies } from './event-bodies.ts'
import { executor, type Executor } from './executor.ts'
import { QueueReader } from './queue-reader.ts'
import { Scheduler } from './scheduler.ts'
import { SessionManager } from './leases.ts'
import type { Clock } from '../../../lib/clock.ts'

export interface DeliveryWorkerDeps {
  readonly platform: Platform
  readonly poster: HttpPoster
  readonly disable: (tenant: { account_id: string; mode: string }, endpoint_id: string) => Promise<void>
  /**
   * Of endpoints that this process changed: after the request was answered, no attempt may start with the old state.
   */
  readonly onChange: (listener: (endpoint_id: string) => void) => void
  /** 0 ≤ x < 1, for jitter. */
  readonly random: () => number
}

/** Unfinished attempts continue during the next run. */
const batchWaitMs = 25
const graceMs = 3_000

class DeliveryWorker {
  readonly worker: Worker
  readonly #deps: DeliveryWorkerDeps
  readonly #sessions = new EndpointSessions()
  readonly #manager: SessionManager
  readonly #reader: QueueReader
  readonly #scheduler: Scheduler
  readonly #executor: Executor
  readonly #completer: Completer
  readonly #idle: Idle
  #stopping = false

  constructor(deps: DeliveryWorkerDeps) {
    const { platform, poster, onChange } = deps
    const { clock, pool } = platform
    const bodies = eventBodies(pool, platform.recent_events)
    this.#deps = deps
    this.#manager = new SessionManager(platform, this.#sessions)
    this.#executor = executor(platform, poster)
    this.#scheduler = new Scheduler({
      clock,
      sessions: this.#sessions,
      bodies,
      begin: (...begun) => void this.#deliver(...begun),
    })
    this.#reader = new QueueReader({ pool, sessions: this.#sessions, bodies, begin: () => this.#scheduler.startAll() })
    this.#idle = new Idle(clock, () => this.#scheduler.inProgress === 0 && !this.#completer.busy)
    this.#completer = new Completer({
      platform,
      sessions: this.#sessions,
      onFailures: (endpoint_id, failures) => this.#onFailures(endpoint_id, failures),
      onIdle: () => this.#idle.check(),
    })
    this.worker = { name: 'deliver', poll_every_ms: 250, tick: () => this.#tick() }
    onChange((endpoint_id) => this.#manager.changed(endpoint_id))
  }

  /** Finishes attempts within `grace_ms`, aborts the others without counting them, and releases the leases. */
  async stop(grace_ms = graceMs): Promise<void> {
    this.#stopping = true
    this.#scheduler.stop()
    this.#completer.abandon()
    this.#completer.flush()
    await this.#reader.stop()
    await this.#idle.waitAtMost(grace_ms)
    this.#executor.abort()
    await this.#idle.wait()
    await this.#manager.stop()
  }

  async #tick(): Promise<number> {
    if (this.#stopping) return 0
    this.#scheduler.takeStarted()
    if (this.#completer.busy) this.#completer.flush()
    this.#scheduler.detectSlow()
    await this.#manager.renewLeases()
    const ready = await this.#manager.openDue()
    await this.#manager.refresh(ready)
    const dropped = await this.#manager.dropForInactive(ready)
    await this.#reader.readMore()
    this.#scheduler.startAll()
    const worked = this.#scheduler.takeStarted() + dropped
    await this.#idle.waitAtMost(batchWaitMs)
    return worked
  }

  async #deliver(session: EndpointSession, job: DeliveryJob, body: Buffer): Promise<void> {
    const wasSlow = session.slow
    const outcome = await this.#executor.post(session, job, body)
    this.#scheduler.ended(job, wasSlow)
    this.#complete(session, job, outcome)
    this.#scheduler.startNext(session)
    if (!session.more || session.buffer.length > prefetchOf(session) / 4 || this.#reader.isReading || this.#stopping)
      return
    const { log } = this.#deps.platform
    await this.#reader.readMore().catch((error: unknown) => log.warn({ err: error }, 'reading due deliveries failed'))
  }

  #complete(session: EndpointSession, job: DeliveryJob, outcome: PostOutcome): void {
    if (outcome.error?.code === 'aborted') {
      session.inProgress.delete(job)
      this.#sessions.release(session, job)
      return this.#completer.flush()
    }
    const { platform, random } = this.#deps
    const { clock, settings } = platform
    adapt(session, job, outcome, clock.elapsed())
    this.#completer.add({
      session,
      job,
      failed: outcome.error !== null,
      result: attemptResultOf(job, outcome, { clock, settings, random }),
    })
    // no further run would write it when the process stops
    if (this.#scheduler.inProgress === 0 || this.#stopping) this.#completer.flush()
  }

  async #onFailures(endpoint_id: string, failures: number): Promise<void> {
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
      session.active = true // the next failure retries
      platform.log.warn({ err: error, endpoint_id }, 'disabling a failing webhook endpoint failed')
    }
  }
}

export const webhookDeliveryWorker = (
  platform: Platform,
  { poster, endpoints }: WebhookService,
  random: () => number = Math.random,
): DeliveryWorker =>
  new DeliveryWorker({
    platform,
    poster,
    disable: (tenant, endpoint_id) => endpoints.disableFailing(tenant, endpoint_id),
    onChange: (listener) => endpoints.onChange(listener),
    random,
  })

class Idle {
  readonly #clock: Clock
  readonly #isIdle: () => boolean
  #waiting: (() => void)[] = []

  /** Call `check` whenever something ends. */
  constructor(clock: Clock, isIdle: () => boolean) {
    this.#clock = clock
    this.#isIdle = isIdle
  }

  check(): void {
    if (!this.#isIdle()) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  async wait(): Promise<void> {
    if (this.#isIdle()) return
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Removes its waiter, because under load the worker may never be idle. */
  async waitAtMost(ms: number): Promise<void> {
    if (this.#isIdle()) return
    const over = new AbortController()
    let resolve = (): void => undefined
    const quiet = new Promise<void>((done) => this.#waiting.push((resolve = done)))
    await Promise.race([quiet, this.#clock.sleep(ms, over.signal)])
    over.abort()
    this.#waiting = this.#waiting.filter((waiter) => waiter !== resolve)
  }
}
