/** Refunds in memory: the entries that give back what messages were charged, and what usage counts of them. */
import type { Mode } from '../../api/caller.ts'
import type { Id } from '../../api/ids.ts'
import type { GrantRow, WalletRow } from './charging.ts'
import { entryTime, grantAccount, ledgerAccounts, type LedgerEntry } from './ledger.ts'
import type { ChargeRow } from './store.ts'
import { dayOf, noUsage, type UsageDelta } from './usage.ts'

/** A message that failed, with the `billing` it was accepted with. */
export interface RefundedMessage {
  readonly account_id: string
  readonly mode: Mode
  readonly message_id: string
  readonly billing_source: string
  readonly amount_micros: number
  readonly package_grant_id: string | null
  readonly channel_type: string
  readonly channel_id: string
}

/**
 * One message_refund for each charge. A credit that comes back to a grant already written off is written off at once by a
 * second package_expiry; one past its expiry but not yet written off simply joins what the periodic job will write off.
 */
export function refundEntries(
  charges: readonly ChargeRow[],
  wallets: readonly WalletRow[],
  grants: readonly GrantRow[],
  at: string,
  newId: () => Id<'txn'>,
): LedgerEntry[] {
  const balances = new Map(wallets.map((wallet) => [wallet.account_id, wallet.balance_micros]))
  const times = new Map(wallets.map((wallet) => [wallet.account_id, entryTime(at, wallet)]))
  const writtenOff = new Set(grants.filter((grant) => grant.expired_at !== null).map((grant) => grant.id))
  return charges.flatMap((charge): LedgerEntry[] => {
    const { account_id, message_id, unit, amount, package_grant_id } = charge
    const balance_after_micros = (balances.get(account_id) ?? 0) + (unit === 'usd_micros' ? amount : 0)
    balances.set(account_id, balance_after_micros)
    const common = {
      account_id,
      unit,
      amount,
      package_grant_id,
      note: null,
      balance_after_micros,
      created_at: times.get(account_id) ?? at,
    }
    const own = package_grant_id === null ? ledgerAccounts.wallet : grantAccount(package_grant_id)
    const refund: LedgerEntry = {
      ...common,
      id: newId(),
      type: 'message_refund',
      debit: ledgerAccounts.usage,
      credit: own,
      message_id,
    }
    if (package_grant_id === null || !writtenOff.has(package_grant_id)) return [refund]
    return [
      refund,
      { ...common, id: newId(), type: 'package_expiry', debit: own, credit: ledgerAccounts.expiry, message_id: null },
    ]
  })
}

/** What the refunds add to usage: the day is that of the refund, the channel that of the message. */
export function refundUsage(
  messages: readonly RefundedMessage[],
  charges: readonly ChargeRow[],
  at: string,
): UsageDelta[] {
  const byId = new Map(messages.map((message) => [message.message_id, message]))
  return charges.flatMap((charge) => {
    const message = byId.get(charge.message_id)
    if (message === undefined) return []
    const { account_id, mode, channel_type, channel_id } = message
    const credit = charge.unit === 'credits'
    return [
      {
        account_id,
        mode,
        day: dayOf(at),
        channel_type,
        channel_id,
        ...noUsage,
        refunded_credits: credit ? 1 : 0,
        refunded_micros: credit ? 0 : charge.amount,
      },
    ]
  })
}
