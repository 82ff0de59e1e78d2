/**
 * Stripe Checkout: opens payment pages, and reads webhooks (https://docs.stripe.com/api/checkout/sessions,
 * https://docs.stripe.com/webhooks).
 */
import { Problem } from '../../../api/problem.ts'
import type { HttpAnswer, HttpClient } from '../../../lib/http-client.ts'
import { signatureHeaderFault } from '../../../lib/hmac.ts'
import type { StripeSettings } from '../../../config/settings.ts'

export const microsPerCent = 10_000

const timeoutMs = 15_000
const toleranceMs = 5 * 60_000

export interface NewCheckout {
  readonly top_up_id: string
  readonly account_id: string
  readonly account_name: string
  readonly amount_micros: number
  readonly return_url: string
  /** Milliseconds; between 30 minutes and 24 hours ahead. */
  readonly expires_at: number
}

export interface Checkout {
  /** `cs_…`. */
  readonly id: string
  readonly url: string
}

/** Throws `upstream_unavailable` when Stripe cannot be reached or refuses. */
export async function createCheckout(
  http: HttpClient,
  { url, secret_key }: StripeSettings,
  request: NewCheckout,
  signal: AbortSignal,
): Promise<Checkout> {
  const answer = await http.call({
    method: 'POST',
    url: `${url}/v1/checkout/sessions`,
    headers: {
      authorization: `Bearer ${secret_key}`,
      'content-type': 'application/x-www-form-urlencoded',
      'idempotency-key': request.top_up_id,
    },
    body: new URLSearchParams(checkoutForm(request)).toString(),
    timeout_ms: timeoutMs,
    signal,
  })
  const checkout = answer.kind === 'answer' && answer.status === 200 ? checkoutIn(answer.body) : undefined
  if (checkout === undefined)
    throw new Problem(
      'upstream_unavailable',
      `The payment provider opened no checkout${reason(answer)}. Nothing was paid; try again in a minute.`,
    )
  return checkout
}

function checkoutForm(request: NewCheckout): Record<string, string> {
  return {
    mode: 'payment',
    client_reference_id: request.top_up_id,
    'metadata[top_up_id]': request.top_up_id,
    'metadata[account_id]': request.account_id,
    'payment_intent_data[metadata][top_up_id]': request.top_up_id,
    'line_items[0][quantity]': '1',
    'line_items[0][price_data][currency]': 'usd',
    'line_items[0][price_data][unit_amount]': String(request.amount_micros / microsPerCent),
    'line_items[0][price_data][product_data][name]': `Wallet of ${request.account_name}`,
    success_url: request.return_url,
    cancel_url: request.return_url,
    expires_at: String(Math.floor(request.expires_at / 1000)),
  }
}

function checkoutIn(body: Buffer): Checkout | undefined {
  const { id, url } = objectIn(body) ?? {}
  return typeof id === 'string' && typeof url === 'string' && /^https?:\/\//.test(url) ? { id, url } : undefined
}

/** Without Stripe's own text, which may contain the key. */
function reason(answer: HttpAnswer): string {
  if (answer.kind !== 'answer') return `: ${answer.message.replace(/\.$/, '')}`
  return answer.status === 401
    ? ': it rejects the key of POSTHORN_STRIPE_SECRET_KEY'
    : ` (it answered ${answer.status})`
}

export interface CheckoutEvent {
  readonly event_id: string
  readonly status: 'paid' | 'processing' | 'expired'
  readonly checkout_id: string
  /** In the smallest unit of `currency`; null if the event has none. */
  readonly amount: number | null
  /** Lower case. */
  readonly currency: string | null
  /** `pi_…` */
  readonly payment_reference: string | null
}

/**
 * null for an event that is not about the end of a checkout. Throws `signature_invalid` for a wrong signature, or one
 * more than five minutes off (https://docs.stripe.com/webhooks/signature).
 */
export function readCheckoutEvent(
  { webhook_secret }: StripeSettings,
  header: string | undefined,
  body: Uint8Array,
  now: number,
): CheckoutEvent | null {
  const fault = header === undefined ? 'form' : signatureHeaderFault(webhook_secret, header, body, now, toleranceMs)
  if (fault !== null) throw new Problem('signature_invalid', signatureFaults[fault])
  const event = objectIn(body)
  const session = objectOf(objectOf(event?.['data'])?.['object'])
  if (event === undefined || session === undefined || typeof session['id'] !== 'string') return null
  const status = statusOf(event['type'], session['payment_status'])
  if (status === null) return null
  return {
    event_id: String(event['id']),
    status,
    checkout_id: session['id'],
    amount: typeof session['amount_total'] === 'number' ? session['amount_total'] : null,
    currency: typeof session['currency'] === 'string' ? session['currency'] : null,
    payment_reference: typeof session['payment_intent'] === 'string' ? session['payment_intent'] : null,
  }
}

const signatureFaults = {
  form: 'The header Stripe-Signature is missing or has another form than `t=<unix seconds>,v1=<hex>`. Only Stripe calls this address.',
  time: 'The time in Stripe-Signature is more than 5 minutes off. Set the clock of this machine, then have Stripe send the event again.',
  signature:
    'The header Stripe-Signature does not fit the body. Set POSTHORN_STRIPE_WEBHOOK_SECRET to the signing secret of this endpoint.',
} as const

/**
 * The payment of a completed session may take days; a later event confirms it
 * (https://docs.stripe.com/checkout/fulfillment).
 */
function statusOf(type: unknown, payment_status: unknown): CheckoutEvent['status'] | null {
  if (type === 'checkout.session.expired') return 'expired'
  if (type === 'checkout.session.async_payment_failed') return 'expired'
  if (type !== 'checkout.session.completed' && type !== 'checkout.session.async_payment_succeeded') return null
  return payment_status === 'paid' ? 'paid' : 'processing'
}

function objectIn(body: Uint8Array): Record<string, unknown> | undefined {
  try {
    return objectOf(JSON.parse(Buffer.from(body).toString()))
  } catch {
    return undefined
  }
}

const objectOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
