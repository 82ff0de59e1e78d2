/** What an account reads about its money: the list of its transactions and its usage. */
import type { Tenant } from '../../contract/caller.ts'
import { isId } from '../../contract/ids.ts'
import type { BalanceTransaction, TransactionType } from '../../contract/resources/balance-transaction.ts'
import type { UsageGroup, UsageRecord } from '../../contract/resources/usage.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../platform/http/paging.ts'
import { tenantSide, type LedgerEntry } from './ledger.ts'
import { entryExists, listEntries, type EntryFilters } from './store.ts'
import { nextDay, nextMonth, usagePeriod } from './usage.ts'
import { sumUsage, type UsageSum } from './usage-store.ts'

export interface TransactionFilters {
  readonly type?: TransactionType
  readonly message_id?: string
  readonly package_grant_id?: string
  readonly created_after?: string
  readonly created_before?: string
}

export interface UsageQuery {
  /** YYYY-MM-DD, both inclusive. */
  readonly from?: string
  readonly to?: string
  readonly group_by?: UsageGroup
}

export interface Statements {
  /** Up to `limit + 1` transactions, newest first. Test mode has none. */
  transactions(sql: Db, tenant: Tenant, filters: TransactionFilters, page: Page): Promise<BalanceTransaction[]>
  /** Usage summed by group (default `day`), newest day first; days, months and channels without any have no record. */
  usage(sql: Db, tenant: Tenant, query: UsageQuery): Promise<UsageRecord[]>
}

export const statements = (clock: Clock): Statements => ({
  async transactions(sql, tenant, filters, page) {
    const exists = async (id: string) => tenant.mode === 'live' && isId('txn', id) && (await entryExists(sql, tenant.account_id, id))
    await requireCursor(page.starting_after, 'No balance transaction has the id', exists)
    if (tenant.mode === 'test') return []
    const wanted: EntryFilters = {
      type: filters.type ?? null,
      message_id: filters.message_id ?? null,
      package_grant_id: filters.package_grant_id ?? null,
      created_after: filters.created_after ?? null,
      created_before: filters.created_before ?? null,
    }
    return (await listEntries(sql, tenant.account_id, wanted, page)).map(transactionOf)
  },

  async usage(sql, tenant, query) {
    const days = usagePeriod(query, clock.now())
    const group_by = query.group_by ?? 'day'
    return (await sumUsage(sql, tenant, days, group_by)).map((sum) => recordOf(sum, days, group_by))
  },
})

function transactionOf(entry: LedgerEntry): BalanceTransaction {
  return {
    id: entry.id,
    object: 'balance_transaction',
    mode: 'live',
    type: entry.type,
    ...tenantSide(entry),
    currency: 'USD',
    package_grant_id: entry.package_grant_id,
    message_id: entry.message_id,
    note: entry.note,
    balance_after_micros: entry.balance_after_micros,
    created_at: entry.created_at,
  }
}

/** A sum as the API shows it. A month is cut to the days asked for, so that the period is what its figures cover. */
function recordOf(sum: UsageSum, days: { from: string; to: string }, group_by: UsageGroup): UsageRecord {
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
