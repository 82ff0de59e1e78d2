/** The executor signs and posts one delivery. */
import type { HttpPoster, PostOutcome } from '../../../lib/http-poster.ts'
import { traceparentOf } from '../../../lib/trace-context.ts'
import type { Platform } from '../../../platform/platform.ts'
import { deliveryHeaders } from '../signing.ts'
import type { DeliveryJob, EndpointSession } from './endpoint-sessions.ts'

export interface Executor {
  /** Never rejects; `aborted` after `abort`. */
  post(session: EndpointSession, job: DeliveryJob, body: Buffer): Promise<PostOutcome>
  abort(): void
}

export function executor(
  { clock, settings, metrics, tracing }: Pick<Platform, 'clock' | 'settings' | 'metrics' | 'tracing'>,
  poster: HttpPoster,
): Executor {
  const end = new AbortController()
  return {
    async post(session, job, body) {
      const now = clock.now()
      metrics.delivery_lag_seconds.observe(Math.max(0, now - job.due_ms) / 1000)
      const target = session.target!
      const signed = deliveryHeaders(target, { id: job.event_id, type: job.event_type }, body, now)
      const parent = tracing.of(job.event_id)
      const span = tracing.start(`deliver ${job.event_type}`, 'client', parent, {
        'posthorn.delivery_id': job.id,
        'posthorn.event_id': job.event_id,
        'posthorn.endpoint_id': job.endpoint_id,
        'posthorn.account_id': job.account_id,
      })
      const trace = span?.context ?? parent
      const headers = trace === undefined ? signed : [...signed, 'traceparent', traceparentOf(trace)]
      const outcome = await poster.post({
        url: target.url,
        headers,
        body,
        timeout_ms: settings.webhook_timeout_ms,
        signal: end.signal,
      })
      span?.end({
        attributes: { 'http.response.status_code': outcome.status ?? undefined, 'error.type': outcome.error?.code },
        failed: outcome.error !== null,
      })
      if (outcome.error?.code !== 'aborted')
        metrics.attempts.inc({ kind: 'webhook', outcome: outcome.error?.code ?? 'delivered' })
      return outcome
    },
    abort: () => end.abort(),
  }
}
