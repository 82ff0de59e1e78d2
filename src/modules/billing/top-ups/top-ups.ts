/** Money that somebody pays into the wallet from the console: begun at the payment provider, credited once it says that it is paid (behaviour: billing 8). */
import { isId } from '../../../api/ids.ts'
import type { Id } from '../../../api/ids.ts'
import type { Tenant } from '../../../api/caller.ts'
import { invalid, Problem } from '../../../api/problem.ts'
import type { TopUp } from '../../../api/resources/top-up.ts'
import { httpClient, type HttpClient } from '../../../lib/http-client.ts'
import { isoTime } from '../../../lib/clock.ts'
import { nameResolver } from '../../../lib/name-lookup.ts'
import { hostPort } from '../../../lib/public-address.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../../platform/http/paging.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { StripeSettings } from '../../../config/settings.ts'
import { postTopUp } from '../funding.ts'
import { beginCheckout, microsPerCent, readCheckoutEvent, type ToldCheckout } from './checkout.ts'
import * as store from './store.ts'

/** 5 and 10,000 US dollars. */
const amountMicros = { min: 5_000_000, max: 10_000_000_000 } as const
/** How long a checkout may be paid; Stripe allows 24 hours at most. */
const openMs = 23 * 3600_000

export interface NewTopUp {
  readonly amount_micros: number
  readonly account_name: string
  readonly user_id: Id<'usr'>
}

export interface TopUps {
  /** Whether a payment provider is configured. */
  readonly configured: boolean
  /**
   * Begins a payment and keeps it, in a transaction of its own through `keep`. Problems: `live_mode_required`, `resource_missing` where no payment provider is configured,
   * `parameter_invalid` for an amount that cannot be, `upstream_unavailable`.
   */
  begin(
    tenant: Tenant,
    asked: NewTopUp,
    signal: AbortSignal,
    keep: (tx: Db, begun: TopUp) => Promise<void>,
  ): Promise<TopUp>
  /** Up to `limit + 1` top-ups, newest first. Problems: as `begin`. */
  list(sql: Db, tenant: Tenant, page: Page): Promise<TopUp[]>
  /**
   * Takes a webhook of the payment provider: once this resolves, what it tells is kept. `header` is `Stripe-Signature`. Problems: `resource_missing`, `signature_invalid`.
   */
  take(header: string | undefined, body: Uint8Array): Promise<void>
  close(): Promise<void>
}

export function topUps(platform: Platform): TopUps {
  const { stripe } = platform.settings
  const http = stripe === undefined ? undefined : clientOf(platform, stripe)
  return {
    configured: stripe !== undefined,
    async begin(tenant, asked, signal, keep) {
      const settings = requireStripe(tenant, stripe)
      requireAmount(asked.amount_micros)
      const row = await beginTopUp(platform, http!, settings, tenant, asked, signal)
      const begun = topUpObject(row)
      await transact(platform.pool, async (tx) => {
        await store.insertTopUp(tx, row)
        await keep(tx, begun)
      })
      return begun
    },
    async list(sql, tenant, page) {
      requireStripe(tenant, stripe)
      await requireCursor(
        page.starting_after,
        'No top-up has the id',
        async (id) => isId('top', id) && (await store.topUpExists(sql, tenant.account_id, id)),
      )
      return (await store.listTopUps(sql, tenant.account_id, page)).map(topUpObject)
    },
    async take(header, body) {
      if (stripe === undefined) throw new Problem('resource_missing', notConfigured)
      const told = readCheckoutEvent(stripe, header, body, platform.clock.now())
      if (told !== null) await settle(platform, told)
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

async function beginTopUp(
  { clock, ids, settings }: Platform,
  http: HttpClient,
  stripe: StripeSettings,
  { account_id }: Tenant,
  { amount_micros, account_name, user_id }: NewTopUp,
  signal: AbortSignal,
): Promise<store.TopUpRow> {
  const id = ids('top')
  const now = clock.now()
  const return_url = `${settings.base_url}/console/${account_id}/live/billing`
  const asked = { top_up_id: id, account_id, account_name, amount_micros, return_url, expires_at: now + openMs }
  const { id: checkout_id, url } = await beginCheckout(http, stripe, asked, signal)
  return { account_id, id, amount_micros, status: 'open', checkout_id, url, user_id, created_at: isoTime(now) }
}

/** Credits, or notes the end of, the top-up of a checkout. What was not begun here, or is not what was begun, is logged and credits nothing. */
async function settle(platform: Platform, told: ToldCheckout): Promise<void> {
  const { log, clock, pool } = platform
  const outcome = await transact(pool, async (tx) => {
    const row = await store.lockTopUp(tx, told.checkout_id)
    if (row === null) return 'unknown'
    if (told.what === 'processing' || row.status === 'paid') return 'nothing'
    const at = isoTime(clock.now())
    if (told.what === 'expired') {
      await store.moveTopUp(tx, row, 'expired', at)
      return 'expired'
    }
    if (told.currency !== 'usd' || told.amount !== row.amount_micros / microsPerCent) return 'different'
    // money that came after all counts, also where the checkout was told to have expired
    await store.moveTopUp(tx, row, 'paid', at)
    const { account_id, amount_micros, id: top_up_id } = row
    await postTopUp(platform, tx, {
      account_id,
      amount_micros,
      note: null,
      top_up_id,
      payment_reference: told.payment_reference,
    })
    return 'paid'
  })
  const facts = { event: told.event_id, checkout: told.checkout_id }
  if (outcome === 'unknown') log.warn(facts, 'a checkout that nobody began here was told of; nothing was credited')
  if (outcome === 'different')
    log.error(
      { ...facts, amount: told.amount, currency: told.currency },
      'a checkout was paid with another amount than was begun; nothing was credited',
    )
  if (outcome === 'paid') log.info(facts, 'a top-up was credited')
}

const topUpObject = (row: store.TopUpRow): TopUp => ({
  id: row.id,
  object: 'top_up',
  amount_micros: row.amount_micros,
  currency: 'USD',
  status: row.status,
  url: row.status === 'open' ? row.url : null,
  created_by: { type: 'user', id: row.user_id },
  created_at: row.created_at,
})
