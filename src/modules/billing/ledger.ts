/** The double-entry ledger: its accounts, its entries, and their JSON (behaviour: billing 7). */
import type { Id } from '../../api/ids.ts'
import type { BalanceTransaction, TransactionType } from '../../api/resources/balance-transaction.ts'

/** `charge-repository.ts` repeats these texts in SQL. */
export const ledgerAccounts = {
  wallet: 'wallet',
  /** Charges, and their refunds. */
  usage: 'usage',
  /** Top-ups. */
  funding: 'funding',
  /** Granted credits. */
  issued: 'issued',
  /** Credits that expired unused. */
  expiry: 'expiry',
} as const

export const grantAccount = (grant_id: string): string => `grant:${grant_id}`

/** Moves `amount` of `unit` from the account `debit` to the account `credit`. */
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
  /** Set for top-ups in the console, as is `payment_reference`. */
  readonly top_up_id?: string | null
  readonly payment_reference?: string | null
  readonly note: string | null
  /** The wallet after this entry. */
  readonly balance_after_micros: number
  readonly created_at: string
}

/** Micro-USD of the wallet and credits of a grant, signed as the customer sees them. */
export function signedAmounts(entry: Pick<LedgerEntry, 'unit' | 'debit' | 'credit' | 'amount'>): {
  amount_micros: number
  credits: number
} {
  if (entry.unit === 'usd_micros')
    return { amount_micros: entry.credit === ledgerAccounts.wallet ? entry.amount : -entry.amount, credits: 0 }
  return { amount_micros: 0, credits: entry.credit.startsWith('grant:') ? entry.amount : -entry.amount }
}

/** Not before the wallet's newest entry, except on another day, because usage counts by day. */
export function entryTime(at: string, wallet: { readonly last_entry_at: string | null } | undefined): string {
  const last = wallet?.last_entry_at ?? null
  return last !== null && last > at && last.slice(0, 10) === at.slice(0, 10) ? last : at
}

export function transactionObject(entry: LedgerEntry): BalanceTransaction {
  return {
    id: entry.id,
    object: 'balance_transaction',
    mode: 'live',
    type: entry.type,
    ...signedAmounts(entry),
    currency: 'USD',
    package_grant_id: entry.package_grant_id,
    message_id: entry.message_id,
    top_up_id: entry.top_up_id ?? null,
    payment_reference: entry.payment_reference ?? null,
    note: entry.note,
    balance_after_micros: entry.balance_after_micros,
    created_at: entry.created_at,
  }
}
