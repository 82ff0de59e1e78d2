/** What money means: charges, refunds, top-ups, packages, prices and usage. Every movement is a ledger entry; balances are their sums (behaviour: billing 7). */
import type { Tenant } from '../../api/caller.ts'
import type { Id } from '../../api/ids.ts'
import type { Balance } from '../../api/resources/balance.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { recordBilling } from './announcements.ts'
import { balanceObject } from './present.ts'
import { isFree, isUsable, allocate, type Charge, type ChargeItem } from './charging.ts'
import { funding, type Funding } from './funding.ts'
import { prices, type Prices } from './prices.ts'
import { refundEntries, refundUsage, type RefundedMessage } from './refunding.ts'
import { statements, type Statements } from './statements.ts'
import * as store from './store.ts'
import { topUps, type TopUps } from './top-ups/top-ups.ts'
import { mergeUsage, type UsageDelta } from './usage.ts'
import { insertUsage } from './usage-store.ts'

export type { Charge, ChargeItem } from './charging.ts'
export type { NewPackage } from './funding.ts'
export type { RefundedMessage } from './refunding.ts'
export type { Prices } from './prices.ts'
export type { UsageDelta } from './usage.ts'
export { grantAccount, ledgerAccounts } from './ledger.ts'
export { usageOfCharge } from './usage.ts'
export { entriesOfMessages } from './audit-store.ts'
export { chargesFrom, fundsFor, usageFrom } from './charge-store.ts'

/** What a number of messages can be paid with. */
export interface Funds {
  /** Credits of packages that apply. */
  readonly credits: number
  readonly wallet_micros: number
  /** Of one message; 0: it is free. */
  readonly price_micros: number
}

export interface BillingService extends Statements, Funding {
  readonly prices: Prices
  readonly topUps: TopUps
  /**
   * The locking path of a charge: locks the accounts' wallets, then their grants, and charges the items in order, each by
   * itself. Writes entries, balances and the events package.exhausted and balance.low in the transaction `tx`; usage is
   * the caller's (`addUsage`), because free messages count there too. The answer has one charge an item, in order.
   *
   * An optimistic statement beside it must leave to this path whatever has an event: a grant that it would empty, and
   * a wallet that it would bring below `low_balance_micros`, unless `low_balance_at` is less than 24 hours ago.
   * Messages at price 0 and those of test mode have no entry, need no funds and use no credits.
   */
  chargeInOrder(tx: Db, items: readonly ChargeItem[]): Promise<Charge[]>
  /**
   * Gives back what failed messages were charged, each exactly once however often it is asked, and counts it in the usage of the
   * day of `at`. What a message was charged is read from the ledger. Lock order: wallets, then grants.
   */
  refund(tx: Db, messages: readonly RefundedMessage[], at: string): Promise<void>
  /** An ID for an entry that another module's statement posts. */
  entryId(): Id<'txn'>
  /** Counts a batch in the usage of its days and channels; rows of the same key are summed first. */
  addUsage(tx: Db, deltas: readonly UsageDelta[]): Promise<void>
  /** What messages on this kind of channel could be paid with at this moment, and at which price. Nothing is locked. Test mode pays nothing. */
  fundsOf(sql: Db, tenant: Tenant, channel_type: string): Promise<Funds>
  /** Whether no credits remain and the wallet is below its threshold (`balance.low`); never in test mode. */
  isLow(sql: Db, tenant: Tenant): Promise<boolean>
  /** The prepaid balance as `GET /v1/balance` shows it; in test mode the wallet is 0 and there are no packages. */
  balance(sql: Db, tenant: Tenant): Promise<Balance>
}

export function billingService(platform: Platform): BillingService {
  const { clock, pool } = platform
  const now = (): string => isoTime(clock.now())
  const entryId = (): Id<'txn'> => platform.ids('txn')
  const funded = funding(platform)
  const priced = prices(pool, clock)

  return {
    ...funded,
    ...statements(clock),
    entryId,
    prices: priced,
    topUps: topUps(platform),

    async chargeInOrder(tx, items) {
      const account_ids = distinct(items.filter((item) => !isFree(item)).map((item) => item.account_id))
      if (account_ids.length === 0) return [...allocate(items, [], [], now(), entryId).charges]
      const wallets = await store.lockWallets(tx, account_ids)
      const at = now()
      const grants = await store.lockUsableGrants(tx, account_ids, at)
      const allocation = allocate(items, wallets, grants, at, entryId)
      await store.postEntries(tx, allocation.entries)
      await recordBilling(tx, platform, { at, wallets: allocation.wallets, grants: allocation.grants })
      return [...allocation.charges]
    },

    async refund(tx, messages, at) {
      const charged = messages.filter(
        (message) => message.mode === 'live' && (message.amount_micros > 0 || message.package_grant_id !== null),
      )
      if (charged.length === 0) return
      const account_ids = distinct(charged.map((message) => message.account_id))
      const wallets = await store.lockWallets(tx, account_ids)
      const charges = await store.listUnrefundedCharges(
        tx,
        account_ids,
        charged.map((message) => message.message_id),
      )
      const paidByCredit = charges.filter((charge) => charge.package_grant_id !== null)
      const grants =
        paidByCredit.length === 0
          ? []
          : await store.lockGrants(
              tx,
              distinctGrants(
                paidByCredit.map((charge) => ({ account_id: charge.account_id, id: charge.package_grant_id! })),
              ),
            )
      await store.postEntries(tx, refundEntries(charges, wallets, grants, at, entryId))
      await insertUsage(tx, mergeUsage(refundUsage(charged, charges, at)))
    },

    addUsage: (tx, deltas) => insertUsage(tx, mergeUsage(deltas)),

    fundsOf: (sql, tenant, channel_type) => fundsOf(priced, sql, tenant, channel_type, now()),

    async isLow(sql, { account_id, mode }) {
      const wallet = mode === 'test' ? null : await store.findWallet(sql, account_id)
      if (wallet === null || wallet.balance_micros >= wallet.low_balance_micros) return false
      const at = now()
      return !(await store.listShownGrants(sql, [account_id], at)).some((grant) => isUsable(grant, at))
    },

    balance: async (sql, tenant) =>
      tenant.mode === 'test' ? balanceObject('test', 0, [], now()) : await funded.liveBalance(sql, tenant.account_id),
  }
}

async function fundsOf(priced: Prices, sql: Db, tenant: Tenant, channel_type: string, at: string): Promise<Funds> {
  const price_micros = await priced.priceIn(sql, tenant, channel_type)
  if (tenant.mode === 'test') return { credits: 0, wallet_micros: 0, price_micros }
  const grants = await store.listShownGrants(sql, [tenant.account_id], at)
  const usable = grants.filter(
    (grant) => isUsable(grant, at) && (grant.channel_types.length === 0 || grant.channel_types.includes(channel_type)),
  )
  return {
    credits: usable.reduce((sum, grant) => sum + grant.credits_remaining, 0),
    wallet_micros: (await store.findWallet(sql, tenant.account_id))?.balance_micros ?? 0,
    price_micros,
  }
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)]

const distinctGrants = <T extends { account_id: string; id: string }>(grants: readonly T[]): T[] => [
  ...new Map(grants.map((grant) => [grant.id, grant])).values(),
]
