/** Prices: the account's own, else the installation's, else the defaults. Held in memory for seconds: a price is no balance. */
import type { Tenant } from '../../api/caller.ts'
import { limits } from '../../api/limits.ts'
import { defaultPrices } from '../../api/resources/price.ts'
import { ageOf, isoTime, mark, type Mark, type SteadyClock } from '../../lib/clock.ts'
import type { Db, Pool } from '../../platform/database/sql.ts'
import { noAccount } from '../accounts/service.ts'
import { requireChannelTypes, requireWhole } from './refusals.ts'
import { findWallet, listPrices, upsertPrice, type PriceRow } from './store.ts'

/** Accounts whose prices are held at once; the oldest make room. */
const heldMax = 10_000

export interface SetPrice {
  /** null: the price of every account without one of its own. */
  readonly account_id: string | null
  readonly channel_type: string
  /** Micro-USD of one message. */
  readonly amount_micros: number
}

export interface Prices {
  /** Micro-USD of one message; 0 in test mode. At most `limits.cache_ms` behind the database. */
  priceOf(tenant: Tenant, channel_type: string): Promise<number>
  /** As `priceOf`, read fresh through `sql`: an open transaction asks on its own connection and waits for no other. */
  priceIn(sql: Db, tenant: Tenant, channel_type: string): Promise<number>
  /** Every kind of channel that has a price, with what this account pays, in alphabetical order. */
  pricesOf(tenant: Tenant): Promise<{ channel_type: string; amount_micros: number }[]>
  /** Sets the price of one account, or with null that of all accounts without one of their own. */
  setPrice(sql: Db, account_id: string | null, channel_type: string, amount_micros: number): Promise<SetPrice>
  /**
   * Read fresh, live mode. Of an account: what it pays on each kind of channel. Without one: the installation's price of each kind, then every
   * account's own. Refused for an unknown account.
   */
  listPrices(sql: Db, account_id?: string): Promise<SetPrice[]>
}

export function prices(pool: Pool, clock: SteadyClock): Prices {
  const held = new Map<string, { readonly read: Mark; readonly amounts: Promise<ReadonlyMap<string, number>> }>()

  const load = async (sql: Db, account_id: string): Promise<ReadonlyMap<string, number>> => {
    const rows = await listPrices(sql, account_id)
    // the account's own rows come last and win
    return new Map([
      ...Object.entries(defaultPrices),
      ...rows.map((row): [string, number] => [row.channel_type, row.amount_micros]),
    ])
  }
  const amountsOf = (account_id: string): Promise<ReadonlyMap<string, number>> => {
    const found = held.get(account_id)
    if (found !== undefined && ageOf(clock, found.read) < limits.cache_ms) return found.amounts
    const amounts = load(pool, account_id)
    held.delete(account_id)
    held.set(account_id, { read: mark(clock), amounts })
    if (held.size > heldMax) held.delete(held.keys().next().value!)
    // a failed look-up is not held
    amounts.catch(() => held.delete(account_id))
    return amounts
  }

  return {
    async priceOf(tenant, channel_type) {
      if (tenant.mode === 'test') return 0
      return (await amountsOf(tenant.account_id)).get(channel_type) ?? 0
    },
    async priceIn(sql, tenant, channel_type) {
      if (tenant.mode === 'test') return 0
      return (await load(sql, tenant.account_id)).get(channel_type) ?? 0
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
      if (account_id !== null && (await findWallet(sql, account_id)) === null) throw noAccount(account_id)
      const row = await upsertPrice(sql, {
        account_id: account_id ?? '',
        channel_type,
        amount_micros,
        updated_at: isoTime(clock.now()),
      })
      if (account_id === null) held.clear()
      else held.delete(account_id)
      return setPriceOf(row)
    },
    async listPrices(sql, account_id) {
      if (account_id !== undefined && (await findWallet(sql, account_id)) === null) throw noAccount(account_id)
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
    },
  }
}

const setPriceOf = ({ account_id, channel_type, amount_micros }: PriceRow): SetPrice => ({
  account_id: account_id === '' ? null : account_id,
  channel_type,
  amount_micros,
})
