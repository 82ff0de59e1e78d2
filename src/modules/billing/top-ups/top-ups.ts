/** Top-ups by card, credited when the payment provider's webhook reports the payment (behaviour: billing 8). */
import { isId } from '../../../api/ids.ts'
import type { Id } from '../../../api/ids.ts'
import type { Tenant } from '../../../api/caller.ts'
import { invalid, Problem } from '../../../api/problem.ts'
import type { TopUp } from '../../../api/resources/top-up.ts'
import { httpClient, type HttpClient } from '../../../lib/http-client.ts'
import { isoTime } from '../../../lib/clock.ts'
import { nameResolver } from '../../../lib/sockets.ts'
import { hostPort } from '../../../lib/public-address.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import type { ReceiveHook } from '../../../platform/http/callback-routes.ts'
import { requireCursor, type Page } from '../../../platform/http/paging.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { StripeSettings } from '../../../config/settings.ts'
import { postTopUp } from '../wallet.ts'
import { createCheckout, microsPerCent, readCheckoutEvent, type CheckoutEvent } from './checkout.ts'
import * as repository from './repository.ts'

const amountMicros = { min: 5_000_000, max: 10_000_000_000 } as const
/** Stripe allows 24 hours at most. */
const checkoutMs = 23 * 3600_000

export interface NewTopUp {
  readonly amount_micros: number
  readonly account_name: string
  readonly user_id: Id<'usr'>
}

export interface TopUps {
  readonly configured: boolean
  /**
   * Stores the top-up in its own transaction. Problems: `live_mode_required`, `resource_missing` without a payment
   * provider, `parameter_invalid` for an invalid amount, `upstream_unavailable`.
   */
  begin(
    tenant: Tenant,
    request: NewTopUp,
    signal: AbortSignal,
    onStored: (tx: Db, topUp: TopUp) => Promise<void>,
  ): Promise<TopUp>
  /** Problems: as `begin`. */
  list(sql: Db, tenant: Tenant, page: Page): Promise<TopUp[]>
  /** `header` is `Stripe-Signature`. Problems: `resource_missing`, `signature_invalid`. */
  receiveWebhook(header: string | undefined, body: Uint8Array): Promise<void>
  close(): Promise<void>
}

export function topUps(platform: Platform): TopUps {
  const { stripe } = platform.settings
  const http = stripe === undefined ? undefined : clientOf(platform, stripe)
  return {
    configured: stripe !== undefined,
    async begin(tenant, request, signal, onStored) {
      const settings = requireStripe(tenant, stripe)
      requireAmount(request.amount_micros)
      const row = await openCheckout(platform, http!, settings, tenant, request, signal)
      const topUp = topUpObject(row)
      await transact(platform.pool, async (tx) => {
        await repository.insertTopUp(tx, row)
        await onStored(tx, topUp)
      })
      return topUp
    },
    async list(sql, tenant, page) {
      requireStripe(tenant, stripe)
      await requireCursor(
        page.starting_after,
        'No top-up has the id',
        async (id) => isId('top', id) && (await repository.topUpExists(sql, tenant.account_id, id)),
      )
      return (await repository.listTopUps(sql, tenant.account_id, page)).map(topUpObject)
    },
    async receiveWebhook(header, body) {
      if (stripe === undefined) throw new Problem('resource_missing', notConfigured)
      const event = readCheckoutEvent(stripe, header, body, platform.clock.now())
      if (event !== null) await applyCheckoutEvent(platform, event)
    },
    close: async () => await http?.close(),
  }
}

const clientOf = ({ clock }: Platform, { url }: StripeSettings): HttpClient =>
  httpClient({ clock, resolve: nameResolver(), allowed_hosts: [hostPort(new URL(url))] })

const notConfigured =
  'No payment provider is configured here. Set POSTHORN_STRIPE_SECRET_KEY and POSTHORN_STRIPE_WEBHOOK_SECRET, or credit the wallet with `posthorn wallet credit`.'

function requireStripe(tenant: Tenant, stripe: StripeSettings | undefined): StripeSettings {
  if (tenant.mode !== 'live')
    throw new Problem(
      'live_mode_required',
      'Test mode is never billed and has no wallet to top up. Change to live mode.',
    )
  if (stripe === undefined) throw new Problem('resource_missing', notConfigured)
  return stripe
}

function requireAmount(amount_micros: number): void {
  if (amount_micros >= amountMicros.min && amount_micros <= amountMicros.max && amount_micros % microsPerCent === 0)
    return
  throw invalid(
    'amount_micros',
    'invalid_value',
    `The amount must be whole cents (a multiple of ${microsPerCent}) from ${amountMicros.min} to ${amountMicros.max} micro-USD, which is 5 to 10,000 US dollars.`,
  )
}

async function openCheckout(
  { clock, ids, settings }: Platform,
  http: HttpClient,
  stripe: StripeSettings,
  { account_id }: Tenant,
  { amount_micros, account_name, user_id }: NewTopUp,
  signal: AbortSignal,
): Promise<repository.TopUpRow> {
  const id = ids('top')
  const now = clock.now()
  const return_url = `${settings.base_url}/console/${account_id}/live/billing`
  const checkout = { top_up_id: id, account_id, account_name, amount_micros, return_url, expires_at: now + checkoutMs }
  const { id: checkout_id, url } = await createCheckout(http, stripe, checkout, signal)
  return { account_id, id, amount_micros, status: 'open', checkout_id, url, user_id, created_at: isoTime(now) }
}

/** An unknown checkout, or another amount, is logged and credits nothing. */
async function applyCheckoutEvent(platform: Platform, event: CheckoutEvent): Promise<void> {
  const { log, clock, pool } = platform
  const outcome = await transact(pool, async (tx) => {
    const row = await repository.lockTopUp(tx, event.checkout_id)
    if (row === null) return 'unknown'
    if (event.status === 'processing' || row.status === 'paid') return 'unchanged'
    const at = isoTime(clock.now())
    if (event.status === 'expired') {
      await repository.updateTopUpStatus(tx, row, 'expired', at)
      return 'expired'
    }
    if (event.currency !== 'usd' || event.amount !== row.amount_micros / microsPerCent) return 'different'
    // a late payment counts, even after the checkout expired
    await repository.updateTopUpStatus(tx, row, 'paid', at)
    const { account_id, amount_micros, id: top_up_id } = row
    await postTopUp(platform, tx, {
      account_id,
      amount_micros,
      note: null,
      top_up_id,
      payment_reference: event.payment_reference,
    })
    return 'paid'
  })
  const fields = { event: event.event_id, checkout: event.checkout_id }
  if (outcome === 'unknown') log.warn(fields, 'received an event of an unknown checkout; nothing was credited')
  if (outcome === 'different')
    log.error(
      { ...fields, amount: event.amount, currency: event.currency },
      'a checkout was paid with another amount or currency; nothing was credited',
    )
  if (outcome === 'paid') log.info(fields, 'a top-up was credited')
}

const topUpObject = (row: repository.TopUpRow): TopUp => ({
  id: row.id,
  object: 'top_up',
  amount_micros: row.amount_micros,
  currency: 'USD',
  status: row.status,
  url: row.status === 'open' ? row.url : null,
  created_by: { type: 'user', id: row.user_id },
  created_at: row.created_at,
})

/** (behaviour: billing 8.2) */
export const receivePayment =
  (topUps: TopUps): ReceiveHook =>
  async (provider, { method, headers }, readBody) => {
    if (provider !== 'stripe' || method !== 'POST' || !topUps.configured)
      throw new Problem(
        'resource_missing',
        'No payment provider of this name is configured here. POST /hooks/payments/stripe is for Stripe, once its two secrets are set.',
      )
    await topUps.receiveWebhook(headers['stripe-signature'], await readBody())
    return { content_type: 'application/json', body: '{"received":true}' }
  }
