/** What money means: charges, refunds, top-ups, packages, prices and usage. Every movement is a ledger entry; balances are their sums (decisions 8). */
import type { Tenant } from '../../contract/caller.ts'
import type { Id } from '../../contract/ids.ts'
import { Problem, missing } from '../../contract/problem.ts'
import type { Balance } from '../../contract/resources/balance.ts'
import type { Package } from '../../contract/resources/package.ts'
import { defaultPrices } from '../../contract/resources/price.ts'
import { isoTime } from '../../lib/clock.ts'
import { transact, type Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { recordBilling } from './announcements.ts'
import { balanceOf, packageOf, shownFor_ms } from './balances.ts'
import { isFree, walk, type Charge, type ChargeItem, type GrantRow, type WalletRow } from './charging.ts'
import { grantAccount, ledgerAccounts, type LedgerEntry } from './ledger.ts'
import { prices, type Prices } from './prices.ts'
import { refundEntries, refundUsage, type RefundedMessage } from './refunding.ts'
import { statements, type Statements } from './statements.ts'
import * as store from './store.ts'
import { mergeUsage, type UsageDelta } from './usage.ts'
import { insertUsage } from './usage-store.ts'

export type { Charge, ChargeItem } from './charging.ts'
export type { RefundedMessage } from './refunding.ts'
export type { Prices } from './prices.ts'
export type { UsageDelta } from './usage.ts'
export { grantAccount, ledgerAccounts } from './ledger.ts'
export { usageOfCharge } from './usage.ts'

export interface NewPackage {
  readonly account_id: string
  /** 1 or more. */
  readonly credits: number
  /** Kinds of channel that the credits pay for; empty: all. */
  readonly channel_types: readonly string[]
  /** ISO 8601, in the future; null: never. */
  readonly expires_at: string | null
  readonly name: string
}

export interface BillingService extends Statements {
  readonly prices: Prices
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
  /** Counts a batch in the usage of its days and channels; rows of the same key are summed first. */
  addUsage(tx: Db, deltas: readonly UsageDelta[]): Promise<void>
  /** The prepaid balance as `GET /v1/balance` shows it; in test mode the wallet is 0 and there are no packages. */
  balance(sql: Db, tenant: Tenant): Promise<Balance>
  /** Puts money into the wallet. `amount_micros` is positive. Throws `resource_missing` for an unknown account. */
  creditWallet(sql: Db, account_id: string, amount_micros: number, note: string | null): Promise<Balance>
  /** Grants a package of credits. Throws `resource_missing` for an unknown account. */
  grantPackage(sql: Db, grant: NewPackage): Promise<Package>
  /** Sets the threshold of balance.low. Throws `resource_missing` for an unknown account. */
  setLowBalance(sql: Db, account_id: string, low_balance_micros: number): Promise<void>
  /** Writes off what is left of grants past their expiry, at most `rows_max` of them; returns how many it ended. */
  writeOffExpired(rows_max: number): Promise<number>
}

export function billingService(platform: Platform): BillingService {
  const { clock, ids, pool } = platform
  const now = (): string => isoTime(clock.now())
  const newId = (): Id<'txn'> => ids('txn')
  const known = async (sql: Db, account_id: string): Promise<WalletRow> => {
    const [wallet] = await store.lockWallets(sql, [account_id])
    if (wallet === undefined) throw missing('account', account_id)
    return wallet
  }

  return {
    ...statements(clock),
    prices: prices(pool, clock),

    async chargeInOrder(tx, items) {
      const account_ids = distinct(items.filter((item) => !isFree(item)).map((item) => item.account_id))
      if (account_ids.length === 0) return [...walk(items, [], [], now(), newId).charges]
      const wallets = await store.lockWallets(tx, account_ids)
      const at = now()
      const grants = await store.lockUsableGrants(tx, account_ids, at)
      const walked = walk(items, wallets, grants, at, newId)
      await store.postEntries(tx, walked.entries)
      await recordBilling(tx, platform, { at, wallets: walked.wallets, grants: walked.grants })
      return [...walked.charges]
    },

    async refund(tx, messages, at) {
      const charged = messages.filter((message) => message.mode === 'live' && (message.amount_micros > 0 || message.package_grant_id !== null))
      if (charged.length === 0) return
      const wallets = await store.lockWallets(tx, distinct(charged.map((message) => message.account_id)))
      const charges = await store.listUnrefundedCharges(tx, charged.map((message) => message.message_id))
      const paidByCredit = charges.filter((charge) => charge.package_grant_id !== null)
      const grants = paidByCredit.length === 0 ? [] : await store.lockGrants(tx, distinctGrants(paidByCredit.map((charge) => ({ account_id: charge.account_id, id: charge.package_grant_id! }))))
      await store.postEntries(tx, refundEntries(charges, wallets, grants, at, newId))
      await insertUsage(tx, mergeUsage(refundUsage(charged, charges, at)))
    },

    addUsage: (tx, deltas) => insertUsage(tx, mergeUsage(deltas)),

    async balance(sql, tenant) {
      if (tenant.mode === 'test') return balanceOf('test', 0, [], now())
      const at = now()
      const wallet = await store.findWallet(sql, tenant.account_id)
      const grants = await store.listShownGrants(sql, [tenant.account_id], isoTime(clock.now() - shownFor_ms))
      return balanceOf('live', wallet?.balance_micros ?? 0, grants, at)
    },

    async creditWallet(sql, account_id, amount_micros, note) {
      requireCount('amount_micros', amount_micros)
      return await transact(sql, async (tx) => {
        const wallet = await known(tx, account_id)
        const balance_after_micros = wallet.balance_micros + amount_micros
        if (!Number.isSafeInteger(balance_after_micros)) throw new Problem('parameter_invalid', 'The wallet cannot hold that much.', { param: 'amount_micros' })
        const entry = { type: 'top_up', unit: 'usd_micros', debit: ledgerAccounts.funding, credit: ledgerAccounts.wallet, amount: amount_micros } as const
        await store.postEntries(tx, [{ ...bare, ...entry, account_id, id: newId(), note, balance_after_micros, created_at: now() }])
        return await this.balance(tx, { account_id: account_id as Id<'acc'>, mode: 'live' })
      })
    },

    async grantPackage(sql, asked) {
      const at = now()
      requireCount('credits', asked.credits)
      const unknown = asked.channel_types.find((type) => !Object.hasOwn(defaultPrices, type))
      if (unknown !== undefined) throw new Problem('parameter_invalid', `No channel type is called ${JSON.stringify(unknown)}. Known: ${Object.keys(defaultPrices).join(', ')}.`, { param: 'channel_types' })
      if (asked.expires_at !== null && asked.expires_at <= at) throw new Problem('parameter_invalid', 'The expiry must be in the future.', { param: 'expires_at' })
      return await transact(sql, async (tx) => {
        const { account_id, credits } = asked
        const { balance_micros } = await known(tx, account_id)
        const id = ids('grant')
        const grant = { account_id, id, name: asked.name, channel_types: asked.channel_types, credits_total: credits, expires_at: asked.expires_at, created_at: at }
        await store.insertGrant(tx, grant)
        const entry = { type: 'package_grant', unit: 'credits', debit: ledgerAccounts.issued, credit: grantAccount(id), amount: credits } as const
        await store.postEntries(tx, [{ ...bare, ...entry, account_id, id: newId(), package_grant_id: id, balance_after_micros: balance_micros, created_at: at }])
        return packageOf({ ...grant, credits_remaining: credits, exhausted_at: null, expired_at: null }, at)
      })
    },

    async setLowBalance(sql, account_id, low_balance_micros) {
      if (!Number.isSafeInteger(low_balance_micros) || low_balance_micros < 0) throw new Problem('parameter_invalid', 'The threshold is a whole number of micro-USD, 0 or more.', { param: 'low_balance_micros' })
      if ((await store.updateLowBalance(sql, account_id, low_balance_micros)) === null) throw missing('account', account_id)
    },

    async writeOffExpired(rows_max) {
      const at = now()
      const due = await store.listDueExpiries(pool, at, rows_max)
      if (due.length === 0) return 0
      return await transact(pool, async (tx) => {
        const wallets = await store.lockWallets(tx, distinct(due.map((grant) => grant.account_id)))
        const grants = (await store.lockGrants(tx, due)).filter((grant) => grant.expired_at === null)
        await store.postEntries(tx, expiryEntries(grants, wallets, at, newId))
        await store.markExpired(tx, grants, at)
        await recordBilling(tx, platform, { at, wallets: wallets.filter((wallet) => grants.some((grant) => grant.account_id === wallet.account_id && grant.credits_remaining > 0)), grants: [] })
        return grants.length
      })
    },
  }
}

const bare = { package_grant_id: null, message_id: null, note: null } as const

/** What is left of each grant, written off. */
function expiryEntries(grants: readonly GrantRow[], wallets: readonly WalletRow[], at: string, newId: () => Id<'txn'>): LedgerEntry[] {
  const balances = new Map(wallets.map((wallet) => [wallet.account_id, wallet.balance_micros]))
  return grants
    .filter((grant) => grant.credits_remaining > 0)
    .map((grant) => ({
      ...bare,
      account_id: grant.account_id,
      id: newId(),
      type: 'package_expiry',
      unit: 'credits',
      debit: grantAccount(grant.id),
      credit: ledgerAccounts.expiry,
      amount: grant.credits_remaining,
      package_grant_id: grant.id,
      balance_after_micros: balances.get(grant.account_id) ?? 0,
      created_at: at,
    }))
}

function requireCount(param: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1) throw new Problem('parameter_invalid', `\`${param}\` must be a whole number, 1 or more.`, { param })
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)]

const distinctGrants = <T extends { account_id: string; id: string }>(grants: readonly T[]): T[] => [...new Map(grants.map((grant) => [grant.id, grant])).values()]
