/** Who pays for which message: allocates wallets and grants to messages in order, in memory. The rows are locked and written by service.ts. */
import type { Mode } from '../../api/caller.ts'
import type { Id } from '../../api/ids.ts'
import { entryTime, grantAccount, ledgerAccounts, type LedgerEntry } from './ledger.ts'

/** A message that asks to be paid for. */
export interface ChargeItem {
  readonly message_id: string
  readonly account_id: string
  readonly mode: Mode
  readonly channel_type: string
  readonly channel_id: string
  readonly price_micros: number
  /** ISO 8601. */
  readonly created_at: string
}

/** How one message was paid: the fields of its `billing`, or that nothing could pay for it. */
export type Charge =
  | {
      readonly outcome: 'charged'
      readonly source: 'wallet' | 'package'
      readonly amount_micros: number
      readonly package_grant_id: string | null
    }
  | { readonly outcome: 'insufficient_balance' }

export interface WalletRow {
  readonly account_id: string
  readonly balance_micros: number
  readonly low_balance_micros: number
  readonly low_balance_at: string | null
  /** When the newest entry was posted; null before the first. */
  readonly last_entry_at: string | null
}

export interface GrantRow {
  readonly account_id: string
  readonly id: string
  readonly name: string
  readonly channel_types: readonly string[]
  readonly credits_total: number
  readonly credits_remaining: number
  readonly expires_at: string | null
  readonly exhausted_at: string | null
  readonly expired_at: string | null
  readonly created_at: string
}

/** What costs nothing: test mode and a price of 0. Needs no funds, uses no credits, has no entry. */
const free: Charge = { outcome: 'charged', source: 'wallet', amount_micros: 0, package_grant_id: null }

export const isFree = (item: Pick<ChargeItem, 'mode' | 'price_micros'>): boolean =>
  item.mode === 'test' || item.price_micros === 0

/** The order in which grants are used: what expires first (null last), ties by age. */
export function inOrderOfUse(one: GrantRow, other: GrantRow): number {
  const [a, b] = [one.expires_at ?? '~', other.expires_at ?? '~']
  if (a !== b) return a < b ? -1 : 1
  return one.id < other.id ? -1 : 1
}

/** True while the grant can pay for messages at this moment (ISO 8601). */
export const isUsable = (grant: GrantRow, at: string): boolean =>
  grant.credits_remaining > 0 && grant.expired_at === null && (grant.expires_at === null || grant.expires_at > at)

const appliesTo = (grant: GrantRow, channel_type: string): boolean =>
  grant.channel_types.length === 0 || grant.channel_types.includes(channel_type)

export interface Allocation {
  /** One for each item, in its order. */
  readonly charges: readonly Charge[]
  readonly entries: readonly LedgerEntry[]
  /** The wallets of accounts that were charged, and every grant given, as they are once the entries are posted. */
  readonly wallets: readonly WalletRow[]
  readonly grants: readonly GrantRow[]
}

/**
 * Charges each item by itself, in order: a dear one that is refused does not refuse a cheap one behind it.
 * Credits come from the applicable grant that is used first, else the price from the wallet.
 * `wallets` and `grants` are the locked rows; accounts without a wallet row can pay for nothing.
 */
export function allocate(
  items: readonly ChargeItem[],
  wallets: readonly WalletRow[],
  grants: readonly GrantRow[],
  at: string,
  newId: () => Id<'txn'>,
): Allocation {
  const walletOf = new Map(wallets.map((wallet) => [wallet.account_id, { ...wallet, charged: false }]))
  const inOrder = grants.toSorted(inOrderOfUse).map((grant) => ({ ...grant, usable: isUsable(grant, at) }))
  const grantsOf = Map.groupBy(inOrder, (grant) => grant.account_id)
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
  return { charges, entries, wallets: [...walletOf.values()].filter((wallet) => wallet.charged), grants: inOrder }
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
