/** Charges messages under locks (behaviour: billing 2). */
import type { Mode } from '../../api/caller.ts'
import type { Id } from '../../api/ids.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import type { WalletRow } from './balance.ts'
import { recordBillingEvents } from './events.ts'
import { entryTime, grantAccount, ledgerAccounts, type LedgerEntry } from './ledger.ts'
import { appliesTo, byOrderOfUse, isUsable, type GrantRow } from './package.ts'
import * as repository from './repository.ts'

export interface ChargeItem {
  readonly message_id: string
  readonly account_id: string
  readonly mode: Mode
  readonly channel_type: string
  readonly channel_id: string
  readonly price_micros: number
  readonly created_at: string
}

export type Charge =
  | {
      readonly outcome: 'charged'
      readonly source: 'wallet' | 'package'
      readonly amount_micros: number
      readonly package_grant_id: string | null
    }
  | { readonly outcome: 'insufficient_balance' }

/** Test mode, or a price of 0: no funds, no credits, no entry. */
const free: Charge = { outcome: 'charged', source: 'wallet', amount_micros: 0, package_grant_id: null }

export const isFree = (item: Pick<ChargeItem, 'mode' | 'price_micros'>): boolean =>
  item.mode === 'test' || item.price_micros === 0

export interface Allocation {
  /** One per item, in order. */
  readonly charges: readonly Charge[]
  readonly entries: readonly LedgerEntry[]
  /** The wallets of charged accounts and all grants of the input, after the entries. */
  readonly wallets: readonly WalletRow[]
  readonly grants: readonly GrantRow[]
}

export async function chargeInOrder(platform: Platform, tx: Db, items: readonly ChargeItem[]): Promise<Charge[]> {
  const now = (): string => isoTime(platform.clock.now())
  const newId = (): Id<'txn'> => platform.ids('txn')
  const account_ids = [...new Set(items.filter((item) => !isFree(item)).map((item) => item.account_id))]
  if (account_ids.length === 0) return [...allocate(items, [], [], now(), newId).charges]
  const wallets = await repository.lockWallets(tx, account_ids)
  const at = now()
  const grants = await repository.lockUsableGrants(tx, account_ids, at)
  const allocation = allocate(items, wallets, grants, at, newId)
  await repository.postEntries(tx, allocation.entries)
  await recordBillingEvents(tx, platform, { at, wallets: allocation.wallets, grants: allocation.grants })
  return [...allocation.charges]
}

/**
 * Each item by itself, in order. A credit of the first applicable grant pays, otherwise the wallet. Accounts without a
 * wallet row can pay for nothing.
 */
export function allocate(
  items: readonly ChargeItem[],
  wallets: readonly WalletRow[],
  grants: readonly GrantRow[],
  at: string,
  newId: () => Id<'txn'>,
): Allocation {
  const walletOf = new Map(wallets.map((wallet) => [wallet.account_id, { ...wallet, charged: false }]))
  const sorted = grants.toSorted(byOrderOfUse).map((grant) => ({ ...grant, usable: isUsable(grant, at) }))
  const grantsOf = Map.groupBy(sorted, (grant) => grant.account_id)
  const entries: LedgerEntry[] = []
  const charges = items.map((item): Charge => {
    if (isFree(item)) return free
    const wallet = walletOf.get(item.account_id)
    const grant = grantsOf
      .get(item.account_id)
      ?.find((one) => one.usable && one.credits_remaining > 0 && appliesTo(one, item.channel_type))
    if (wallet === undefined) return { outcome: 'insufficient_balance' }
    if (grant !== undefined) grant.credits_remaining -= 1
    else if (wallet.balance_micros >= item.price_micros) wallet.balance_micros -= item.price_micros
    else return { outcome: 'insufficient_balance' }
    wallet.charged = true
    entries.push(chargeEntry(item, grant?.id ?? null, wallet, newId()))
    return grant === undefined
      ? { outcome: 'charged', source: 'wallet', amount_micros: item.price_micros, package_grant_id: null }
      : { outcome: 'charged', source: 'package', amount_micros: 0, package_grant_id: grant.id }
  })
  return { charges, entries, wallets: [...walletOf.values()].filter((wallet) => wallet.charged), grants: sorted }
}

function chargeEntry(item: ChargeItem, grant_id: string | null, wallet: WalletRow, id: Id<'txn'>): LedgerEntry {
  return {
    account_id: item.account_id,
    id,
    type: 'message_charge',
    unit: grant_id === null ? 'usd_micros' : 'credits',
    debit: grant_id === null ? ledgerAccounts.wallet : grantAccount(grant_id),
    credit: ledgerAccounts.usage,
    amount: grant_id === null ? item.price_micros : 1,
    package_grant_id: grant_id,
    message_id: item.message_id,
    note: null,
    balance_after_micros: wallet.balance_micros,
    created_at: entryTime(item.created_at, wallet),
  }
}
