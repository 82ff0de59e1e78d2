/** Prices per message: the account's own, else the installation's, else the default; cached (behaviour: billing 1). */
import type { Tenant } from '../../api/caller.ts'
import { limits } from '../../api/limits.ts'
import { defaultPrices } from '../../api/resources/price.ts'
import { ageOf, isoTime, mark, type Mark, type SteadyClock } from '../../lib/clock.ts'
import type { Db, Pool } from '../../platform/database/sql.ts'
import { unknownAccount } from '../accounts/service.ts'
import { requireChannelTypes, requireWhole } from './validation.ts'
import { findWallet, listPrices, upsertPrice, type PriceRow } from './repository.ts'

const cachedMax = 10_000

export interface SetPrice {
  /** null: the price of accounts without one of their own. */
  readonly account_id: string | null
  readonly channel_type: string
  readonly amount_micros: number
}

export interface Prices {
  /** Micro-USD; 0 in test mode. At most `limits.cache_ms` behind the database. */
  priceOf(tenant: Tenant, channel_type: string): Promise<number>
  /** Not cached, for callers inside a transaction. */
  priceIn(sql: Db, tenant: Tenant, channel_type: string): Promise<number>
  pricesOf(tenant: Tenant): Promise<{ channel_type: string; amount_micros: number }[]>
  setPrice(sql: Db, account_id: string | null, channel_type: string, amount_micros: number): Promise<SetPrice>
  /**
   * Without an account: the installation's prices, then every account's own. 404 `resource_missing` for an unknown
   * account.
   */
  listPrices(sql: Db, account_id?: string): Promise<SetPrice[]>
}

export function prices(pool: Pool, clock: SteadyClock): Prices {
  const cache = new Map<string, { readonly read: Mark; readonly amounts: Promise<ReadonlyMap<string, number>> }>()

  const amountsOf = (account_id: string): Promise<ReadonlyMap<string, number>> => {
    const cached = cache.get(account_id)
    if (cached !== undefined && ageOf(clock, cached.read) < limits.cache_ms) return cached.amounts
    const amounts = loadAmounts(pool, account_id)
    cache.delete(account_id)
    cache.set(account_id, { read: mark(clock), amounts })
    if (cache.size > cachedMax) cache.delete(cache.keys().next().value!)
    // failures are not cached
    amounts.catch(() => cache.delete(account_id))
    return amounts
  }

  return {
    async priceOf(tenant, channel_type) {
      if (tenant.mode === 'test') return 0
      return (await amountsOf(tenant.account_id)).get(channel_type) ?? 0
    },
    async priceIn(sql, tenant, channel_type) {
      if (tenant.mode === 'test') return 0
      return (await loadAmounts(sql, tenant.account_id)).get(channel_type) ?? 0
    },
    async pricesOf(tenant) {
      const amounts = await amountsOf(tenant.account_id)
      return [...amounts.keys()].toSorted().map((channel_type) => ({
        channel_type,
        amount_micros: tenant.mode === 'test' ? 0 : amounts.get(channel_type)!,
      }))
    },
    async setPrice(sql, account_id, channel_type, amount_micros) {
      requireChannelTypes('channel_type', [channel_type])
      requireWhole('amount_micros', 'A price in micro-USD', amount_micros, 0)
      if (account_id !== null && (await findWallet(sql, account_id)) === null) throw unknownAccount(account_id)
      const row = await upsertPrice(sql, {
        account_id: account_id ?? '',
        channel_type,
        amount_micros,
        updated_at: isoTime(clock.now()),
      })
      if (account_id === null) cache.clear()
      else cache.delete(account_id)
      return setPriceOf(row)
    },
    listPrices: listSetPrices,
  }
}

async function loadAmounts(sql: Db, account_id: string): Promise<ReadonlyMap<string, number>> {
  const rows = await listPrices(sql, account_id)
  // the account's own rows come last and win
  return new Map([
    ...Object.entries(defaultPrices),
    ...rows.map((row): [string, number] => [row.channel_type, row.amount_micros]),
  ])
}

async function listSetPrices(sql: Db, account_id?: string): Promise<SetPrice[]> {
  if (account_id !== undefined && (await findWallet(sql, account_id)) === null) throw unknownAccount(account_id)
  const rows = (await listPrices(sql, account_id)).map(setPriceOf)
  const general = Object.entries(defaultPrices).map(([channel_type, amount_micros]): SetPrice => {
    return (
      rows.find((row) => row.account_id === null && row.channel_type === channel_type) ?? {
        account_id: null,
        channel_type,
        amount_micros,
      }
    )
  })
  const own = rows.filter((row) => row.account_id !== null)
  if (account_id === undefined) return [...general, ...own]
  return general.map((price) => own.find((row) => row.channel_type === price.channel_type) ?? price)
}

const setPriceOf = ({ account_id, channel_type, amount_micros }: PriceRow): SetPrice => ({
  account_id: account_id === '' ? null : account_id,
  channel_type,
  amount_micros,
})
