/** The operations of billing. Balances are sums of ledger entries (behaviour: billing 7). */
import type { Tenant } from '../../api/caller.ts'
import { isId, type Id } from '../../api/ids.ts'
import type { Balance } from '../../api/resources/balance.ts'
import type { BalanceTransaction, TransactionType } from '../../api/resources/balance-transaction.ts'
import type { Package } from '../../api/resources/package.ts'
import type { UsageGroup, UsageRecord } from '../../api/resources/usage.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../platform/http/paging.ts'
import type { Platform } from '../../platform/platform.ts'
import { balanceObject } from './balance.ts'
import { chargeInOrder, type Charge, type ChargeItem } from './charge.ts'
import { transactionObject } from './ledger.ts'
import { grantPackage, type NewPackage } from './package-lifecycle.ts'
import { appliesTo, isUsable } from './package.ts'
import { prices, type Prices } from './prices.ts'
import { refundMessages, type RefundedMessage } from './refund.ts'
import * as repository from './repository.ts'
import { topUps, type TopUps } from './top-ups/top-ups.ts'
import { mergeUsage, usageObject, usagePeriod, type UsageDelta } from './usage.ts'
import { insertUsage, sumUsage } from './usage-repository.ts'
import { creditWallet, isLowBalance, liveBalance, lowBalance, setLowBalance } from './wallet.ts'

export type { Charge, ChargeItem } from './charge.ts'
export type { NewPackage } from './package-lifecycle.ts'
export type { RefundedMessage } from './refund.ts'
export type { Prices } from './prices.ts'
export type { UsageDelta } from './usage.ts'
export { grantAccount, ledgerAccounts } from './ledger.ts'
export { usageOfCharge } from './usage.ts'
export { chargesFrom, fundsFor, usageFrom } from './charge-repository.ts'
export { entriesOfMessages } from './repository.ts'

export interface Funds {
  readonly credits: number
  readonly wallet_micros: number
  /** 0: free. */
  readonly price_micros: number
}

export interface TransactionFilters {
  readonly type?: TransactionType
  readonly message_id?: string
  readonly package_grant_id?: string
  readonly created_after?: string
  readonly created_before?: string
}

export interface UsageQuery {
  /** YYYY-MM-DD, both inclusive. */
  readonly from?: string
  readonly to?: string
  readonly group_by?: UsageGroup
}

export interface BillingService {
  readonly prices: Prices
  readonly topUps: TopUps
  /**
   * Charges each item by itself, in order. Lock order: wallets, then grants. Records package.exhausted and balance.low.
   * Free messages (price 0, test mode) have no entry, need no funds and use no credits. The caller counts usage
   * (`addUsage`), because free messages count there too.
   */
  chargeInOrder(tx: Db, items: readonly ChargeItem[]): Promise<Charge[]>
  /** Once per message, however often this is called. Also counts usage. Lock order: wallets, then grants. */
  refund(tx: Db, messages: readonly RefundedMessage[], at: string): Promise<void>
  entryId(): Id<'txn'>
  addUsage(tx: Db, deltas: readonly UsageDelta[]): Promise<void>
  /** Locks nothing. */
  fundsOf(sql: Db, tenant: Tenant, channel_type: string): Promise<Funds>
  /** No credits remain and the wallet is below its threshold; never in test mode. */
  isLow(sql: Db, tenant: Tenant): Promise<boolean>
  /** In test mode the wallet is 0 and there are no packages. */
  balance(sql: Db, tenant: Tenant): Promise<Balance>
  /** Problems, here and below: resource_missing for an unknown account, parameter_invalid for invalid values. */
  liveBalance(sql: Db, account_id: string): Promise<Balance>
  /** `amount_micros` is positive; `note` has up to 500 characters. */
  creditWallet(sql: Db, account_id: string, amount_micros: number, note: string | null): Promise<Balance>
  grantPackage(sql: Db, grant: NewPackage): Promise<Package>
  lowBalance(sql: Db, account_id: string): Promise<number>
  setLowBalance(sql: Db, account_id: string, low_balance_micros: number): Promise<void>
  /** Test mode has none. */
  transactions(sql: Db, tenant: Tenant, filters: TransactionFilters, page: Page): Promise<BalanceTransaction[]>
  transaction(sql: Db, tenant: Tenant, id: string): Promise<BalanceTransaction | null>
  /** By group (default `day`), newest day first; days, months and channels without usage have no record. */
  usage(sql: Db, tenant: Tenant, query: UsageQuery): Promise<UsageRecord[]>
}

export function billingService(platform: Platform): BillingService {
  const { clock, pool } = platform
  const now = (): string => isoTime(clock.now())
  const priced = prices(pool, clock)

  return {
    prices: priced,
    topUps: topUps(platform),
    chargeInOrder: (tx, items) => chargeInOrder(platform, tx, items),
    refund: (tx, messages, at) => refundMessages(platform, tx, messages, at),
    entryId: () => platform.ids('txn'),
    addUsage: (tx, deltas) => insertUsage(tx, mergeUsage(deltas)),
    fundsOf: (sql, tenant, channel_type) => fundsOf(priced, sql, tenant, channel_type, now()),
    isLow: async (sql, { account_id, mode }) => mode === 'live' && (await isLowBalance(sql, account_id, now())),
    balance: async (sql, { account_id, mode }) =>
      mode === 'test' ? balanceObject('test', 0, [], now()) : await liveBalance(platform, sql, account_id),
    liveBalance: (sql, account_id) => liveBalance(platform, sql, account_id),
    creditWallet: (sql, account_id, amount_micros, note) =>
      creditWallet(platform, sql, account_id, amount_micros, note),
    grantPackage: (sql, grant) => grantPackage(platform, sql, grant),
    lowBalance,
    setLowBalance,
    transactions: listTransactions,

    async transaction(sql, { account_id, mode }, id) {
      const entry = mode === 'live' && isId('txn', id) ? await repository.findEntry(sql, account_id, id) : null
      return entry === null ? null : transactionObject(entry)
    },

    async usage(sql, tenant, query) {
      const days = usagePeriod(query, clock.now())
      const group_by = query.group_by ?? 'day'
      return (await sumUsage(sql, tenant, days, group_by)).map((sum) => usageObject(sum, days, group_by))
    },
  }
}

async function fundsOf(priced: Prices, sql: Db, tenant: Tenant, channel_type: string, at: string): Promise<Funds> {
  const price_micros = await priced.priceIn(sql, tenant, channel_type)
  if (tenant.mode === 'test') return { credits: 0, wallet_micros: 0, price_micros }
  const grants = await repository.listShownGrants(sql, [tenant.account_id], at)
  return {
    credits: grants
      .filter((grant) => isUsable(grant, at) && appliesTo(grant, channel_type))
      .reduce((sum, grant) => sum + grant.credits_remaining, 0),
    wallet_micros: (await repository.findWallet(sql, tenant.account_id))?.balance_micros ?? 0,
    price_micros,
  }
}

async function listTransactions(
  sql: Db,
  { account_id, mode }: Tenant,
  filters: TransactionFilters,
  page: Page,
): Promise<BalanceTransaction[]> {
  const exists = async (id: string) =>
    mode === 'live' && isId('txn', id) && (await repository.entryExists(sql, account_id, id))
  await requireCursor(page.starting_after, 'No balance transaction has the id', exists)
  if (mode === 'test') return []
  const wanted: repository.EntryFilters = {
    type: filters.type ?? null,
    message_id: filters.message_id ?? null,
    package_grant_id: filters.package_grant_id ?? null,
    created_after: filters.created_after ?? null,
    created_before: filters.created_before ?? null,
  }
  return (await repository.listEntries(sql, account_id, wanted, page)).map(transactionObject)
}
