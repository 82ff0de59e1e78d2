/** One attempt of a delivery: what is sent (behaviour: webhooks 4), and what follows from how it ended. */
import type { DeliveryError } from '../../../api/resources/webhook-delivery.ts'
import type { SteadyClock } from '../../../lib/clock.ts'
import { isoTime } from '../../../lib/clock.ts'
import { eventHeaders, signingKey, type SigningKey } from '../../../lib/event-headers.ts'
import type { PostOutcome } from '../../../lib/http-post.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { Settings } from '../../../config/settings.ts'
import type { EndpointRow } from '../endpoints/store.ts'

/** What an attempt needs of its endpoint, secrets opened. */
export interface Target {
  readonly url: string
  readonly secret: SigningKey
  readonly previous_secret: SigningKey | null
  /** Milliseconds since 1970. */
  readonly previous_secret_until: number
  readonly verification_token: string | null
}

export const targetOf = (
  secrets: Secrets,
  row: Pick<EndpointRow, 'url' | 'secret' | 'previous_secret' | 'previous_secret_until' | 'verification_token'>,
): Target => ({
  url: row.url,
  secret: signingKey(secrets.open(row.secret)),
  previous_secret: row.previous_secret === null ? null : signingKey(secrets.open(row.previous_secret)),
  previous_secret_until: row.previous_secret_until === null ? 0 : Date.parse(row.previous_secret_until),
  verification_token: row.verification_token === null ? null : secrets.open(row.verification_token),
})

/** The headers of an attempt at `now`, names and values in turn. During an overlap both secrets sign. */
export function deliveryHeaders(
  target: Target,
  event: { readonly id: string; readonly type: string },
  body: Buffer,
  now: number,
): string[] {
  const keys =
    target.previous_secret !== null && now < target.previous_secret_until
      ? [target.secret, target.previous_secret]
      : [target.secret]
  const headers = eventHeaders(keys, event, body, now)
  if (target.verification_token !== null) headers.push('Service-Verification-Token', target.verification_token)
  return headers
}

/** Jitter is added, never taken off: at most a tenth of the delay and five seconds (behaviour: webhooks 5.1). */
const jitterShare = 0.1
const jitterMsMax = 5_000

export interface Attempted {
  readonly endpoint_id: string
  readonly id: string
  /** Made before this attempt. */
  readonly attempts: number
  /** False: this one only. */
  readonly scheduled: boolean
  /** By the elapsed time, in milliseconds. */
  readonly started_at: number
}

/** How one attempt ended. */
export interface AttemptResult {
  readonly endpoint_id: string
  readonly id: string
  /** Null: another attempt follows at `next_attempt_at`. */
  readonly status: 'delivered' | 'failed' | null
  readonly attempts: number
  readonly response_status: number | null
  readonly duration_ms: number
  /** `aborted` is not written down: the attempt is made again. */
  readonly error: DeliveryError | 'aborted' | null
  readonly error_message: string | null
  readonly next_attempt_at: string | null
}

/** What is written down after an attempt that just ended. The delay of a retry counts from now. */
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
