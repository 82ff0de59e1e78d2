/** Wallets: credits of money, the balance, and the threshold of balance.low. */
import { invalid } from '../../api/problem.ts'
import type { Balance } from '../../api/resources/balance.ts'
import { isoTime } from '../../lib/clock.ts'
import { transact, type Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { unknownAccount } from '../accounts/service.ts'
import { balanceObject, type WalletRow } from './balance.ts'
import { entryTime, ledgerAccounts } from './ledger.ts'
import { endedPackageShownMs, isUsable } from './package.ts'
import * as repository from './repository.ts'
import { requireText, requireWhole } from './validation.ts'

const noteLengthMax = 500

/** 404 `resource_missing` for an unknown account. */
export async function lockWallet(tx: Db, account_id: string): Promise<WalletRow> {
  const [wallet] = await repository.lockWallets(tx, [account_id])
  if (wallet === undefined) throw unknownAccount(account_id)
  return wallet
}

async function getWallet(sql: Db, account_id: string): Promise<WalletRow> {
  const wallet = await repository.findWallet(sql, account_id)
  if (wallet === null) throw unknownAccount(account_id)
  return wallet
}

export async function liveBalance({ clock }: Platform, sql: Db, account_id: string): Promise<Balance> {
  const wallet = await getWallet(sql, account_id)
  const grants = await repository.listShownGrants(sql, [account_id], isoTime(clock.now() - endedPackageShownMs))
  return balanceObject('live', wallet.balance_micros, grants, isoTime(clock.now()))
}

export const lowBalance = async (sql: Db, account_id: string): Promise<number> =>
  (await getWallet(sql, account_id)).low_balance_micros

export async function setLowBalance(sql: Db, account_id: string, low_balance_micros: number): Promise<void> {
  requireWhole('low_balance_micros', 'The threshold of balance.low in micro-USD', low_balance_micros, 0)
  if (!(await repository.updateLowBalance(sql, account_id, low_balance_micros))) throw unknownAccount(account_id)
}

export async function isLowBalance(sql: Db, account_id: string, at: string): Promise<boolean> {
  const wallet = await repository.findWallet(sql, account_id)
  if (wallet === null || wallet.balance_micros >= wallet.low_balance_micros) return false
  return !(await repository.listShownGrants(sql, [account_id], at)).some((grant) => isUsable(grant, at))
}

export async function creditWallet(
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

/** Problems: resource_missing, and parameter_invalid if the sum is too large to store. */
export async function postTopUp(
  platform: Platform,
  tx: Db,
  { account_id, amount_micros, ...details }: TopUpEntry,
): Promise<void> {
  const wallet = await lockWallet(tx, account_id)
  const balance_after_micros = wallet.balance_micros + amount_micros
  if (!Number.isSafeInteger(balance_after_micros))
    throw invalid('amount_micros', 'invalid_value', 'The wallet cannot hold that much.')
  await repository.postEntries(tx, [
    {
      account_id,
      id: platform.ids('txn'),
      type: 'top_up',
      unit: 'usd_micros',
      debit: ledgerAccounts.funding,
      credit: ledgerAccounts.wallet,
      amount: amount_micros,
      package_grant_id: null,
      message_id: null,
      ...details,
      balance_after_micros,
      created_at: entryTime(isoTime(platform.clock.now()), wallet),
    },
  ])
}
