/** Rows of money as the API shows them: balances, packages, transactions and usage. */
import type { Mode } from '../../api/caller.ts'
import type { Balance } from '../../api/resources/balance.ts'
import type { Package, PackageStatus } from '../../api/resources/package.ts'
import type { BalanceTransaction } from '../../api/resources/balance-transaction.ts'
import type { UsageGroup, UsageRecord } from '../../api/resources/usage.ts'
import { inOrderOfUse, type GrantRow } from './charging.ts'
import { tenantSide, type LedgerEntry } from './ledger.ts'
import { nextDay, nextMonth } from './usage.ts'
import type { UsageSum } from './usage-store.ts'

/** How long an exhausted or expired package stays in the balance (behaviour: billing 5.1). */
export const shownForMs = 30 * 24 * 3600_000

/** A grant as a Package at this moment (ISO 8601). */
export function packageObject(grant: GrantRow, at: string): Package {
  return {
    id: grant.id,
    object: 'package',
    mode: 'live',
    name: grant.name,
    channel_types: [...grant.channel_types],
    credits_total: grant.credits_total,
    credits_remaining: grant.credits_remaining,
    status: statusOf(grant, at),
    expires_at: grant.expires_at,
    created_at: grant.created_at,
  }
}

function statusOf(grant: GrantRow, at: string): PackageStatus {
  if (grant.expired_at !== null || (grant.expires_at !== null && grant.expires_at <= at)) return 'expired'
  return grant.credits_remaining === 0 ? 'exhausted' : 'active'
}

/** A balance: packages in the order of their use, ended ones after them, the last ended first. */
export function balanceObject(mode: Mode, wallet_micros: number, grants: readonly GrantRow[], at: string): Balance {
  const { active = [], ended = [] } = Object.groupBy(grants, (grant) =>
    statusOf(grant, at) === 'active' ? 'active' : 'ended',
  )
  const endOf = (grant: GrantRow): string =>
    (statusOf(grant, at) === 'expired' ? grant.expires_at : grant.exhausted_at) ?? grant.created_at
  const packages = [
    ...active.toSorted(inOrderOfUse),
    ...ended.toSorted((one, other) => (endOf(one) < endOf(other) ? 1 : -1)),
  ]
  return {
    object: 'balance',
    mode,
    currency: 'USD',
    wallet_micros,
    packages: packages.map((grant) => packageObject(grant, at)),
    credits_remaining: active.reduce((sum, grant) => sum + grant.credits_remaining, 0),
  }
}

/** An entry of the ledger from the tenant's side. */
export function transactionObject(entry: LedgerEntry): BalanceTransaction {
  return {
    id: entry.id,
    object: 'balance_transaction',
    mode: 'live',
    type: entry.type,
    ...tenantSide(entry),
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

/** A sum as the API shows it. A month is cut to the days asked for, so that the period is what its figures cover. */
export function usageObject(sum: UsageSum, days: { from: string; to: string }, group_by: UsageGroup): UsageRecord {
  const first = sum.day ?? days.from
  const end = group_by === 'day' ? nextDay(first) : group_by === 'month' ? nextMonth(first) : nextDay(days.to)
  const start = first < days.from ? days.from : first
  const { messages, package_credits, wallet_micros, refunded_credits, refunded_micros } = sum
  return {
    object: 'usage_record',
    period_start: `${start}T00:00:00.000Z`,
    period_end: `${end < nextDay(days.to) ? end : nextDay(days.to)}T00:00:00.000Z`,
    channel_type: sum.channel_type,
    channel_id: sum.channel_id,
    messages,
    package_credits,
    wallet_micros,
    refunded_credits,
    refunded_micros,
    currency: 'USD',
  }
}
