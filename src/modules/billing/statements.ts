/** What an account reads about its money: the list of its transactions and its usage. */
import type { Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import type { BalanceTransaction, TransactionType } from '../../api/resources/balance-transaction.ts'
import type { UsageGroup, UsageRecord } from '../../api/resources/usage.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../platform/http/paging.ts'
import { transactionObject, usageObject } from './present.ts'
import { entryExists, findEntry, listEntries, type EntryFilters } from './store.ts'
import { usagePeriod } from './usage.ts'
import { sumUsage } from './usage-store.ts'

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
  /** One of them, by its id; null where there is none. */
  transaction(sql: Db, tenant: Tenant, id: string): Promise<BalanceTransaction | null>
  /** Usage summed by group (default `day`), newest day first; days, months and channels without any have no record. */
  usage(sql: Db, tenant: Tenant, query: UsageQuery): Promise<UsageRecord[]>
}

export const statements = (clock: Clock): Statements => ({
  async transactions(sql, tenant, filters, page) {
    const exists = async (id: string) =>
      tenant.mode === 'live' && isId('txn', id) && (await entryExists(sql, tenant.account_id, id))
    await requireCursor(page.starting_after, 'No balance transaction has the id', exists)
    if (tenant.mode === 'test') return []
    const wanted: EntryFilters = {
      type: filters.type ?? null,
      message_id: filters.message_id ?? null,
      package_grant_id: filters.package_grant_id ?? null,
      created_after: filters.created_after ?? null,
      created_before: filters.created_before ?? null,
    }
    return (await listEntries(sql, tenant.account_id, wanted, page)).map(transactionObject)
  },

  async transaction(sql, tenant, id) {
    const entry = tenant.mode === 'live' && isId('txn', id) ? await findEntry(sql, tenant.account_id, id) : null
    return entry === null ? null : transactionObject(entry)
  },

  async usage(sql, tenant, query) {
    const days = usagePeriod(query, clock.now())
    const group_by = query.group_by ?? 'day'
    return (await sumUsage(sql, tenant, days, group_by)).map((sum) => usageObject(sum, days, group_by))
  },
})
