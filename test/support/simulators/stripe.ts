/** A simulator of Stripe Checkout: sessions and signed events. */
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import Stripe from 'stripe'
import { simulatedHttp, type Odd } from './http.ts'

export interface StripeSession {
  readonly id: string
  readonly url: string
  readonly request: Readonly<Record<string, string>>
}

export interface StripeEvent {
  readonly body: string
  readonly signature: string
}

export interface StripeSimulator {
  readonly url: string
  readonly secret_key: string
  readonly webhook_secret: string
  readonly sessions: StripeSession[]
  answerNext(...answers: Odd[]): void
  /** `fields` override those of the session. Signed at the clock's time. */
  event(type: string, session: StripeSession, fields?: Readonly<Record<string, unknown>>): StripeEvent
}

/** `now`: milliseconds, for signatures. */
export async function simulateStripe(t: TestContext, now: () => number): Promise<StripeSimulator> {
  const secret_key = 'sk_test_simulated'
  const webhook_secret = 'whsec_simulated'
  const sessions: StripeSession[] = []
  const byKey = new Map<string, StripeSession>()
  const http = await simulatedHttp(t, ({ method, path, headers, body }) => {
    if (headers.authorization !== `Bearer ${secret_key}`)
      return { status: 401, body: { error: { type: 'invalid_request_error', message: 'Invalid API Key provided' } } }
    if (method !== 'POST' || path !== '/v1/checkout/sessions')
      return { status: 404, body: { error: { type: 'invalid_request_error' } } }
    const key = String(headers['idempotency-key'])
    const known = byKey.get(key)
    if (known !== undefined) return { body: { id: known.id, object: 'checkout.session', url: known.url } }
    const request = Object.fromEntries(new URLSearchParams(body.toString()))
    const id = `cs_test_${randomBytes(12).toString('hex')}`
    const session = { id, url: `https://checkout.stripe.com/c/pay/${id}`, request }
    sessions.push(session)
    byKey.set(key, session)
    return { body: { id, object: 'checkout.session', url: session.url } }
  })
  const signer = new Stripe(secret_key).webhooks
  return {
    url: http.url,
    secret_key,
    webhook_secret,
    sessions,
    answerNext: http.answerNext,
    event(type, session, fields = {}) {
      const object = {
        id: session.id,
        object: 'checkout.session',
        client_reference_id: session.request['client_reference_id'],
        amount_total: Number(session.request['line_items[0][price_data][unit_amount]']),
        currency: session.request['line_items[0][price_data][currency]'],
        payment_status: type === 'checkout.session.expired' ? 'unpaid' : 'paid',
        payment_intent: `pi_${session.id.slice(-12)}`,
        ...fields,
      }
      const body = JSON.stringify({
        id: `evt_${randomBytes(8).toString('hex')}`,
        object: 'event',
        type,
        data: { object },
      })
      return {
        body,
        signature: signer.generateTestHeaderString({
          payload: body,
          secret: webhook_secret,
          timestamp: Math.floor(now() / 1000),
        }),
      }
    },
  }
}
