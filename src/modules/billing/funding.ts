/** What the operator and time do to money: top-ups, packages, thresholds, and the end of what nobody used. */
import type { Id } from '../../api/ids.ts'
import { invalid } from '../../api/problem.ts'
import type { Balance } from '../../api/resources/balance.ts'
import type { Package } from '../../api/resources/package.ts'
import { isoTime } from '../../lib/clock.ts'
import { transact, type Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { expiryNoticeMs, recordBilling, recordExpiring } from './announcements.ts'
import { balanceObject, packageObject, shownForMs } from './present.ts'
import type { GrantRow, WalletRow } from './charging.ts'
import { entryTime, grantAccount, ledgerAccounts, type LedgerEntry } from './ledger.ts'
import { noAccount } from '../accounts/service.ts'
import { requireChannelTypes, requireText, requireWhole } from './refusals.ts'
import * as store from './store.ts'

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

export interface Funding {
  /** The account's live balance. Problems, here and below: resource_missing for an unknown account, parameter_invalid for what cannot be. */
  liveBalance(sql: Db, account_id: string): Promise<Balance>
  /** Puts money into the wallet. `amount_micros` is positive; `note` has up to 500 characters. */
  creditWallet(sql: Db, account_id: string, amount_micros: number, note: string | null): Promise<Balance>
  /** Grants a package of credits. One that ends within 7 days is announced at once: its life may be shorter than the periodic job's round. */
  grantPackage(sql: Db, grant: NewPackage): Promise<Package>
  /** The threshold of balance.low in micro-USD. */
  lowBalance(sql: Db, account_id: string): Promise<number>
  setLowBalance(sql: Db, account_id: string, low_balance_micros: number): Promise<void>
  /** Writes off what is left of grants past their expiry, at most `rows_max` of them; returns how many it ended. */
  writeOffExpired(rows_max: number): Promise<number>
}

const noteLengthMax = 500
const nameLengthMax = 120
const blank = { package_grant_id: null, message_id: null, note: null } as const

export const funding = (platform: Platform): Funding => ({
  liveBalance: (sql, account_id) => liveBalance(platform, sql, account_id),
  creditWallet: (sql, account_id, amount_micros, note) => creditWallet(platform, sql, account_id, amount_micros, note),
  grantPackage: (sql, asked) => grantPackage(platform, sql, asked),
  lowBalance: async (sql, account_id) => (await walletOf(sql, account_id)).low_balance_micros,

  async setLowBalance(sql, account_id, low_balance_micros) {
    requireWhole('low_balance_micros', 'The threshold of balance.low in micro-USD', low_balance_micros, 0)
    if ((await store.updateLowBalance(sql, account_id, low_balance_micros)) === null) throw noAccount(account_id)
  },

  async writeOffExpired(rows_max) {
    const at = isoTime(platform.clock.now())
    const due = await store.listDueExpiries(platform.pool, isoTime(platform.ageing.now()), rows_max)
    if (due.length === 0) return 0
    return await transact(platform.pool, (tx) => writeOff(tx, platform, due, at))
  },
})

async function lockWallet(sql: Db, account_id: string): Promise<WalletRow> {
  const [wallet] = await store.lockWallets(sql, [account_id])
  if (wallet === undefined) throw noAccount(account_id)
  return wallet
}

async function walletOf(sql: Db, account_id: string): Promise<WalletRow> {
  const wallet = await store.findWallet(sql, account_id)
  if (wallet === null) throw noAccount(account_id)
  return wallet
}

async function liveBalance({ clock }: Platform, sql: Db, account_id: string): Promise<Balance> {
  const wallet = await walletOf(sql, account_id)
  const grants = await store.listShownGrants(sql, [account_id], isoTime(clock.now() - shownForMs))
  return balanceObject('live', wallet.balance_micros, grants, isoTime(clock.now()))
}

async function creditWallet(
  platform: Platform,
  sql: Db,
  account_id: string,
  amount_micros: number,
  note: string | null,
): Promise<Balance> {
  requireWhole('amount_micros', 'The amount in micro-USD', amount_micros, 1)
  requireText('note', note ?? '', noteLengthMax)
  return await transact(sql, async (tx) => {
    await postTopUp(platform, tx, { account_id, amount_micros, note })
    return await liveBalance(platform, tx, account_id)
  })
}

export interface TopUpEntry {
  readonly account_id: string
  readonly amount_micros: number
  readonly note: string | null
  readonly top_up_id?: string
  readonly payment_reference?: string | null
}

/** Posts money that came into a wallet, in the transaction `tx`. Problems: resource_missing, and parameter_invalid where the wallet cannot hold that much. */
export async function postTopUp(
  platform: Platform,
  tx: Db,
  { account_id, amount_micros, ...more }: TopUpEntry,
): Promise<void> {
  const wallet = await lockWallet(tx, account_id)
  const balance_after_micros = wallet.balance_micros + amount_micros
  if (!Number.isSafeInteger(balance_after_micros))
    throw invalid('amount_micros', 'invalid_value', 'The wallet cannot hold that much.')
  const entry = {
    type: 'top_up',
    unit: 'usd_micros',
    debit: ledgerAccounts.funding,
    credit: ledgerAccounts.wallet,
    amount: amount_micros,
  } as const
  const created_at = entryTime(isoTime(platform.clock.now()), wallet)
  await store.postEntries(tx, [
    { ...blank, ...entry, ...more, account_id, id: platform.ids('txn'), balance_after_micros, created_at },
  ])
}

async function grantPackage(platform: Platform, sql: Db, asked: NewPackage): Promise<Package> {
  const created_at = isoTime(platform.clock.now())
  requireWhole('credits', 'The number of credits', asked.credits, 1)
  requireChannelTypes('channel_types', asked.channel_types)
  requireText('name', asked.name, nameLengthMax)
  if (asked.expires_at !== null && asked.expires_at <= created_at)
    throw invalid('expires_at', 'invalid_value', 'The expiry of a package must be in the future.')
  const granted = await transact(sql, async (tx) => {
    const { account_id, credits, channel_types, expires_at, name } = asked
    const wallet = await lockWallet(tx, account_id)
    const id = platform.ids('grant')
    const grant = { account_id, id, name, channel_types, credits_total: credits, expires_at, created_at }
    await store.insertGrant(tx, grant)
    const entry = {
      type: 'package_grant',
      unit: 'credits',
      debit: ledgerAccounts.issued,
      credit: grantAccount(id),
      amount: credits,
    } as const
    const posted = { balance_after_micros: wallet.balance_micros, created_at: entryTime(created_at, wallet) }
    await store.postEntries(tx, [
      { ...blank, ...entry, ...posted, account_id, id: platform.ids('txn'), package_grant_id: id },
    ])
    const row: GrantRow = { ...grant, credits_remaining: credits, exhausted_at: null, expired_at: null }
    if (expires_at !== null && Date.parse(expires_at) <= Date.parse(created_at) + expiryNoticeMs)
      await recordExpiring(tx, platform, [row], created_at)
    return packageObject(row, created_at)
  })
  platform.notify('fan-out')
  return granted
}

async function writeOff(
  tx: Db,
  platform: Platform,
  due: readonly { account_id: string; id: string }[],
  at: string,
): Promise<number> {
  const wallets = await store.lockWallets(tx, [...new Set(due.map((grant) => grant.account_id))])
  const walletOf = new Map(wallets.map((wallet) => [wallet.account_id, wallet]))
  const grants = (await store.lockGrants(tx, due)).filter((grant) => grant.expired_at === null)
  const left = grants.filter((grant) => grant.credits_remaining > 0)
  await store.postEntries(
    tx,
    left.map((grant) => expiryEntry(grant, walletOf.get(grant.account_id), at, platform.ids('txn'))),
  )
  await store.markExpired(tx, grants, at)
  // who has just lost the last credits may now have nothing but a low wallet
  const losers = new Set(left.map((grant) => grant.account_id))
  await recordBilling(tx, platform, {
    at,
    wallets: wallets.filter((wallet) => losers.has(wallet.account_id)),
    grants: [],
  })
  return grants.length
}

function expiryEntry(grant: GrantRow, wallet: WalletRow | undefined, at: string, id: Id<'txn'>): LedgerEntry {
  return {
    ...blank,
    account_id: grant.account_id,
    id,
    type: 'package_expiry',
    unit: 'credits',
    debit: grantAccount(grant.id),
    credit: ledgerAccounts.expiry,
    amount: grant.credits_remaining,
    package_grant_id: grant.id,
    balance_after_micros: wallet?.balance_micros ?? 0,
    created_at: entryTime(at, wallet),
  }
}
