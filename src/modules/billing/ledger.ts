/** The words of the ledger: names of its accounts, the shape of an entry, and how one is read from the tenant's side (behaviour: billing 7). */
import type { Id } from '../../api/ids.ts'
import type { TransactionType } from '../../api/resources/balance-transaction.ts'

/** The accounts that `debit` and `credit` of an entry name. `charge-store.ts` writes the same text. */
export const ledgerAccounts = {
  /** The tenant's money. */
  wallet: 'wallet',
  /** Where charges go, and refunds come from. */
  usage: 'usage',
  /** Where top-ups come from. */
  funding: 'funding',
  /** Where granted credits come from. */
  issued: 'issued',
  /** Where credits go that nobody used in time. */
  expiry: 'expiry',
} as const

/** The tenant's credits in one grant. */
export const grantAccount = (grant_id: string): string => `grant:${grant_id}`

/** An entry moves `amount` of `unit` from the account `debit` to the account `credit`: double entry by construction. */
export interface LedgerEntry {
  readonly account_id: string
  readonly id: Id<'txn'>
  readonly type: TransactionType
  readonly unit: 'usd_micros' | 'credits'
  readonly debit: string
  readonly credit: string
  /** Positive, in `unit`. */
  readonly amount: number
  readonly package_grant_id: string | null
  readonly message_id: string | null
  /** Of money that came by a top-up in the console; else absent or null, and so is `payment_reference`. */
  readonly top_up_id?: string | null
  readonly payment_reference?: string | null
  readonly note: string | null
  /** What the wallet holds once this entry is posted. */
  readonly balance_after_micros: number
  readonly created_at: string
}

/** What an entry changes for the tenant: signed micro-USD of the wallet and signed credits of a grant. */
export function tenantSide(entry: Pick<LedgerEntry, 'unit' | 'debit' | 'credit' | 'amount'>): {
  amount_micros: number
  credits: number
} {
  if (entry.unit === 'usd_micros')
    return { amount_micros: entry.credit === ledgerAccounts.wallet ? entry.amount : -entry.amount, credits: 0 }
  return { amount_micros: 0, credits: entry.credit.startsWith('grant:') ? entry.amount : -entry.amount }
}

/** The time of an entry decided at `at`: not before the wallet's newest entry, unless that is on another day, because usage counts by day. */
export function entryTime(at: string, wallet: { readonly last_entry_at: string | null } | undefined): string {
  const last = wallet?.last_entry_at ?? null
  return last !== null && last > at && last.slice(0, 10) === at.slice(0, 10) ? last : at
}
