/** Refunds of failed messages: locks, ledger entries and usage (behaviour: billing 3). */
import type { Mode } from '../../api/caller.ts'
import type { Id } from '../../api/ids.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import type { WalletRow } from './balance.ts'
import { entryTime, grantAccount, ledgerAccounts, type LedgerEntry } from './ledger.ts'
import type { GrantRow } from './package.ts'
import * as repository from './repository.ts'
import type { ChargeRow } from './repository.ts'
import { dayOf, mergeUsage, noUsage, type UsageDelta } from './usage.ts'
import { insertUsage } from './usage-repository.ts'

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

export async function refundMessages(
  platform: Platform,
  tx: Db,
  messages: readonly RefundedMessage[],
  at: string,
): Promise<void> {
  const charged = messages.filter(
    (message) => message.mode === 'live' && (message.amount_micros > 0 || message.package_grant_id !== null),
  )
  if (charged.length === 0) return
  const account_ids = [...new Set(charged.map((message) => message.account_id))]
  const wallets = await repository.lockWallets(tx, account_ids)
  const charges = await repository.listUnrefundedCharges(
    tx,
    account_ids,
    charged.map((message) => message.message_id),
  )
  const grants = await repository.lockGrants(tx, grantsOf(charges))
  await repository.postEntries(
    tx,
    refundEntries(charges, wallets, grants, at, () => platform.ids('txn')),
  )
  await insertUsage(tx, mergeUsage(refundUsage(charged, charges, at)))
}

const grantsOf = (charges: readonly ChargeRow[]): { account_id: string; id: string }[] => [
  ...new Map(
    charges.flatMap(({ account_id, package_grant_id: id }) => (id === null ? [] : [[id, { account_id, id }] as const])),
  ).values(),
]

/** One message_refund per charge. A credit of a grant that was already written off gets a second package_expiry. */
function refundEntries(
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
    const shared = {
      account_id,
      unit,
      amount,
      package_grant_id,
      note: null,
      balance_after_micros,
      created_at: times.get(account_id) ?? at,
    }
    const source = package_grant_id === null ? ledgerAccounts.wallet : grantAccount(package_grant_id)
    const refund: LedgerEntry = {
      ...shared,
      id: newId(),
      type: 'message_refund',
      debit: ledgerAccounts.usage,
      credit: source,
      message_id,
    }
    if (package_grant_id === null || !writtenOff.has(package_grant_id)) return [refund]
    return [
      refund,
      {
        ...shared,
        id: newId(),
        type: 'package_expiry',
        debit: source,
        credit: ledgerAccounts.expiry,
        message_id: null,
      },
    ]
  })
}

/** On the day of the refund, on the channel of the message. */
function refundUsage(messages: readonly RefundedMessage[], charges: readonly ChargeRow[], at: string): UsageDelta[] {
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
