/** Attempt results and the time of the next attempt (behaviour: webhooks 5). */
import type { DeliveryError } from '../../api/resources/webhook-delivery.ts'
import { isoTime, type SteadyClock } from '../../lib/clock.ts'
import type { PostOutcome } from '../../lib/http-poster.ts'
import type { Settings } from '../../config/settings.ts'

/** (behaviour: webhooks 5.1) */
const jitterShare = 0.1
const jitterMsMax = 5_000

export interface Attempted {
  readonly endpoint_id: string
  readonly id: string
  /** Before this attempt. */
  readonly attempts: number
  /** False: no further attempts. */
  readonly scheduled: boolean
  /** In milliseconds of the monotonic clock. */
  readonly started_at: number
}

export interface AttemptResult {
  readonly endpoint_id: string
  readonly id: string
  /** Null: another attempt follows at `next_attempt_at`. */
  readonly status: 'delivered' | 'failed' | null
  readonly attempts: number
  readonly response_status: number | null
  readonly duration_ms: number
  /** `aborted` is not stored: the attempt is repeated. */
  readonly error: DeliveryError | 'aborted' | null
  readonly error_message: string | null
  readonly next_attempt_at: string | null
}

export function attemptResultOf(
  attempted: Attempted,
  outcome: PostOutcome,
  deps: { clock: SteadyClock; settings: Settings; random: () => number },
): AttemptResult {
  const now = deps.clock.now()
  const delay = attempted.scheduled ? deps.settings.webhook_retry_delays[attempted.attempts] : undefined
  const again = outcome.error !== null && delay !== undefined
  return {
    endpoint_id: attempted.endpoint_id,
    id: attempted.id,
    status: outcome.error === null ? 'delivered' : again ? null : 'failed',
    attempts: attempted.attempts + 1,
    response_status: outcome.status,
    duration_ms: Math.max(0, Math.round(deps.clock.elapsed() - attempted.started_at)),
    error: outcome.error?.code ?? null,
    error_message: outcome.error?.message ?? null,
    next_attempt_at: again
      ? isoTime(now + delay * 1000 + Math.floor(deps.random() * Math.min(delay * 1000 * jitterShare, jitterMsMax)))
      : null,
  }
}
