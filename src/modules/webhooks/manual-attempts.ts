/** Requested tests and retries, attempted by the process that received the request. */
import * as store from './delivery-repository.ts'
import type { Tenant } from '../../api/caller.ts'
import type { WebhookDelivery } from '../../api/resources/webhook-delivery.ts'
import type { HttpPoster } from '../../lib/http-poster.ts'
import { transact } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { attemptResultOf } from './attempt.ts'
import { deliveryHeaders, targetOf } from './signing.ts'
import { failuresOf } from './dispatch/repository.ts'
import type { EndpointRow } from './endpoint.ts'
import { deliveryObject, type DeliveryRow } from './delivery.ts'
import { eventBody } from './feed/event.ts'

export interface AttemptDeps {
  readonly platform: Platform
  readonly poster: HttpPoster
  /** 0 ≤ x < 1, for jitter. */
  readonly random: () => number
  readonly disableFailing: (tenant: Tenant, endpoint_id: string) => Promise<void>
}

/** How long a caller waits. */
const waitMs = 5_000

export class ManualAttempts {
  readonly #deps: AttemptDeps
  readonly #inProgress = new Set<Promise<void>>()
  readonly #end = new AbortController()

  constructor(deps: AttemptDeps) {
    this.#deps = deps
  }

  /** Answers after the attempt or the wait. `scheduled`: retries follow a failure. */
  async attemptAndAnswer(endpoint: EndpointRow, delivery: DeliveryRow, scheduled: boolean): Promise<WebhookDelivery> {
    const { clock, pool, log } = this.#deps.platform
    const work: Promise<void> = this.#attempt(endpoint, delivery, scheduled)
      .catch((error: unknown) =>
        log.error(
          { err: error, delivery_id: delivery.id },
          'a webhook attempt on request failed; the worker makes it later',
        ),
      )
      .finally(() => this.#inProgress.delete(work))
    this.#inProgress.add(work)
    const answered = new AbortController()
    await Promise.race([work, clock.sleep(waitMs, answered.signal)])
    answered.abort()
    return deliveryObject((await store.findDelivery(pool, endpoint, endpoint.id, delivery.id)) ?? delivery)
  }

  /** Aborts attempts without counting them; the worker repeats them. */
  async stop(): Promise<void> {
    this.#end.abort()
    while (this.#inProgress.size > 0) await Promise.all(this.#inProgress)
  }

  async #attempt(endpoint: EndpointRow, delivery: DeliveryRow, scheduled: boolean): Promise<void> {
    const { platform, poster, random, disableFailing } = this.#deps
    const { clock, pool, settings, secrets, metrics } = platform
    const event = await store.findEvent(pool, endpoint, delivery.event_id)
    if (event === null) throw new Error(`the event ${delivery.event_id} is gone`)
    const started_at = clock.elapsed()
    const [body, target] = [Buffer.from(eventBody(event)), targetOf(secrets, endpoint)]
    const headers = deliveryHeaders(target, event, body, clock.now())
    const outcome = await poster.post({
      url: target.url,
      headers,
      body,
      timeout_ms: settings.webhook_timeout_ms,
      signal: this.#end.signal,
    })
    if (outcome.error?.code === 'aborted') return
    metrics.attempts.inc({ kind: 'webhook', outcome: outcome.error?.code ?? 'delivered' })
    const attempted = { endpoint_id: endpoint.id, id: delivery.id, attempts: delivery.attempts, scheduled, started_at }
    const done = attemptResultOf(attempted, outcome, { clock, settings, random })
    await transact(pool, (tx) => store.recordRequested(tx, done))
    if (done.status !== 'delivered' && (await failuresOf(pool, endpoint.id)) >= settings.webhook_disable_after)
      await disableFailing(endpoint, endpoint.id)
  }
}
