/** Prices: the account's own, else the installation's, else the defaults. Held in memory for seconds: a price is no balance. */
import type { Tenant } from '../../contract/caller.ts'
import { limits } from '../../contract/limits.ts'
import { Problem } from '../../contract/problem.ts'
import { defaultPrices } from '../../contract/resources/price.ts'
import type { Clock } from '../../lib/clock.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db, Pool } from '../../platform/database/sql.ts'
import { listPrices, upsertPrice, type PriceRow } from './store.ts'

/** Accounts whose prices are held at once; the oldest make room. */
const heldMax = 10_000

export interface Prices {
  /** Micro-USD of one message; 0 in test mode. At most `limits.cache_ms` behind the database. */
  priceOf(tenant: Tenant, channel_type: string): Promise<number>
  /** Every kind of channel that has a price, with what this account pays, in alphabetical order. */
  pricesOf(tenant: Tenant): Promise<{ channel_type: string; amount_micros: number }[]>
  /** Sets the price of one account, or with null that of all accounts without one of their own. */
  setPrice(sql: Db, account_id: string | null, channel_type: string, amount_micros: number): Promise<PriceRow>
  /** The prices that the operator has set; with an account, those that bear on it. */
  listSet(sql: Db, account_id?: string): Promise<PriceRow[]>
}

export function prices(pool: Pool, clock: Clock): Prices {
  const held = new Map<string, { readonly until: number; readonly amounts: Promise<ReadonlyMap<string, number>> }>()

  const load = async (account_id: string): Promise<ReadonlyMap<string, number>> => {
    const rows = await listPrices(pool, account_id)
    // the account's own rows come last and win
    return new Map([...Object.entries(defaultPrices), ...rows.map((row): [string, number] => [row.channel_type, row.amount_micros])])
  }
  const amountsOf = (account_id: string): Promise<ReadonlyMap<string, number>> => {
    const found = held.get(account_id)
    if (found !== undefined && found.until > clock.now()) return found.amounts
    const amounts = load(account_id)
    held.delete(account_id)
    held.set(account_id, { until: clock.now() + limits.cache_ms, amounts })
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
    async pricesOf(tenant) {
      const amounts = await amountsOf(tenant.account_id)
      return [...amounts.keys()].toSorted().map((channel_type) => ({ channel_type, amount_micros: tenant.mode === 'test' ? 0 : amounts.get(channel_type)! }))
    },
    async setPrice(sql, account_id, channel_type, amount_micros) {
      if (!Object.hasOwn(defaultPrices, channel_type)) {
        throw new Problem('parameter_invalid', `No channel type is called ${JSON.stringify(channel_type)}. Known: ${Object.keys(defaultPrices).join(', ')}.`, { param: 'channel_type' })
      }
      if (!Number.isSafeInteger(amount_micros) || amount_micros < 0) {
        throw new Problem('parameter_invalid', 'A price is a whole number of micro-USD, 0 or more.', { param: 'amount_micros' })
      }
      const row = await upsertPrice(sql, { account_id: account_id ?? '', channel_type, amount_micros, updated_at: isoTime(clock.now()) })
      if (account_id === null) held.clear()
      else held.delete(account_id)
      return row
    },
    listSet: (sql, account_id) => listPrices(sql, account_id),
  }
}
