/** Grants packages, announces their expiry, and writes them off (behaviour: billing 4, 6.3). */
import type { Id } from '../../api/ids.ts'
import { invalid } from '../../api/problem.ts'
import type { Package } from '../../api/resources/package.ts'
import { isoTime } from '../../lib/clock.ts'
import { transact, type Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import type { WalletRow } from './balance.ts'
import { expiryNoticeMs, recordBillingEvents, recordExpiring } from './events.ts'
import { entryTime, grantAccount, ledgerAccounts, type LedgerEntry } from './ledger.ts'
import { packageObject, type GrantRow } from './package.ts'
import * as repository from './repository.ts'
import { requireChannelTypes, requireText, requireWhole } from './validation.ts'
import { lockWallet } from './wallet.ts'

export interface NewPackage {
  readonly account_id: string
  readonly credits: number
  /** Empty: all. */
  readonly channel_types: readonly string[]
  /** In the future; null: never. */
  readonly expires_at: string | null
  readonly name: string
}

const nameLengthMax = 120

export async function grantPackage(platform: Platform, sql: Db, request: NewPackage): Promise<Package> {
  const created_at = isoTime(platform.clock.now())
  requireWhole('credits', 'The number of credits', request.credits, 1)
  requireChannelTypes('channel_types', request.channel_types)
  requireText('name', request.name, nameLengthMax)
  if (request.expires_at !== null && request.expires_at <= created_at)
    throw invalid('expires_at', 'invalid_value', 'The expiry of a package must be in the future.')
  const granted = await transact(sql, (tx) => insertPackage(platform, tx, request, created_at))
  platform.notify('fan-out')
  return granted
}

async function insertPackage(platform: Platform, tx: Db, request: NewPackage, created_at: string): Promise<Package> {
  const { account_id, credits, channel_types, expires_at, name } = request
  const wallet = await lockWallet(tx, account_id)
  const id = platform.ids('grant')
  const grant = { account_id, id, name, channel_types, credits_total: credits, expires_at, created_at }
  await repository.insertGrant(tx, grant)
  await repository.postEntries(tx, [
    {
      account_id,
      id: platform.ids('txn'),
      type: 'package_grant',
      unit: 'credits',
      debit: ledgerAccounts.issued,
      credit: grantAccount(id),
      amount: credits,
      package_grant_id: id,
      message_id: null,
      note: null,
      balance_after_micros: wallet.balance_micros,
      created_at: entryTime(created_at, wallet),
    },
  ])
  const row: GrantRow = { ...grant, credits_remaining: credits, exhausted_at: null, expired_at: null }
  // at once: the package may expire before the periodic job runs
  if (expires_at !== null && Date.parse(expires_at) <= Date.parse(created_at) + expiryNoticeMs)
    await recordExpiring(tx, platform, [row], created_at)
  return packageObject(row, created_at)
}

export async function announceExpiring(platform: Platform, rows_max: number): Promise<number> {
  const at = isoTime(platform.clock.now())
  const until = isoTime(platform.retention_clock.now() + expiryNoticeMs)
  const expiring = await repository.listExpiring(platform.pool, at, until, rows_max)
  if (expiring.length === 0) return 0
  const announced = await transact(
    platform.pool,
    async (tx) => await recordExpiring(tx, platform, await repository.lockGrants(tx, expiring), at),
  )
  platform.notify('fan-out')
  return announced
}

export async function writeOffExpired(platform: Platform, rows_max: number): Promise<number> {
  const at = isoTime(platform.clock.now())
  const expired = await repository.listExpired(platform.pool, isoTime(platform.retention_clock.now()), rows_max)
  if (expired.length === 0) return 0
  return await transact(platform.pool, (tx) => writeOff(tx, platform, expired, at))
}

async function writeOff(
  tx: Db,
  platform: Platform,
  expired: readonly { account_id: string; id: string }[],
  at: string,
): Promise<number> {
  const wallets = await repository.lockWallets(tx, [...new Set(expired.map((grant) => grant.account_id))])
  const walletOf = new Map(wallets.map((wallet) => [wallet.account_id, wallet]))
  const grants = (await repository.lockGrants(tx, expired)).filter((grant) => grant.expired_at === null)
  const unused = grants.filter((grant) => grant.credits_remaining > 0)
  await repository.postEntries(
    tx,
    unused.map((grant) => expiryEntry(grant, walletOf.get(grant.account_id)!, at, platform.ids('txn'))),
  )
  await repository.markExpired(tx, grants, at)
  // an account that lost its last credits may be left with a low wallet
  const affected = new Set(unused.map((grant) => grant.account_id))
  await recordBillingEvents(tx, platform, {
    at,
    wallets: wallets.filter((wallet) => affected.has(wallet.account_id)),
    grants: [],
  })
  return grants.length
}

const expiryEntry = (grant: GrantRow, wallet: WalletRow, at: string, id: Id<'txn'>): LedgerEntry => ({
  account_id: grant.account_id,
  id,
  type: 'package_expiry',
  unit: 'credits',
  debit: grantAccount(grant.id),
  credit: ledgerAccounts.expiry,
  amount: grant.credits_remaining,
  package_grant_id: grant.id,
  message_id: null,
  note: null,
  balance_after_micros: wallet.balance_micros,
  created_at: entryTime(at, wallet),
})
