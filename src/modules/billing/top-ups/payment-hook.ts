/** What the payment provider tells of its own accord, at `/hooks/payments/stripe` (behaviour: billing 8.2). */
import { Problem } from '../../../api/problem.ts'
import type { TakeHook } from '../../../platform/http/hooks.ts'
import type { TopUps } from './top-ups.ts'

export const takePayment =
  (topUps: TopUps): TakeHook =>
  async (provider, { method, headers }, readBody) => {
    if (provider !== 'stripe' || method !== 'POST' || !topUps.configured)
      throw new Problem(
        'resource_missing',
        'No payment provider of this name is configured here. POST /hooks/payments/stripe is for Stripe, once its two secrets are set.',
      )
    await topUps.take(headers['stripe-signature'], await readBody())
    return { content_type: 'application/json', body: '{"received":true}' }
  }
