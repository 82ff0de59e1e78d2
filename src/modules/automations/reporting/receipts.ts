/** Receipts read back (behaviour: integrations 3.7). */
import type { Tenant } from '../../../api/caller.ts'
import { isId } from '../../../api/ids.ts'
import { missing } from '../../../api/problem.ts'
import type { AutomationEvent } from '../../../api/resources/automation-event.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../../platform/http/paging.ts'
import { listRunsOfEvents } from '../runs/store.ts'
import { receiptObject } from './present.ts'
import { findReceipt, listReceipts, receiptExisted, type ReceiptFilters } from './store.ts'

/** 404 `resource_missing` where there is none. */
export async function getReceipt(sql: Db, tenant: Tenant, id: string): Promise<AutomationEvent> {
  const row = isId('aev', id) ? await findReceipt(sql, tenant, id) : null
  if (row === null) throw missing('automation event', id)
  return receiptObject(row, (await listRunsOfEvents(sql, [id])).get(id) ?? [])
}

/** Newest first; it ends before its limit where the data of its receipts is large. */
export async function pageOfReceipts(
  sql: Db,
  tenant: Tenant,
  filters: ReceiptFilters,
  page: Page,
): Promise<{ data: AutomationEvent[]; has_more: boolean }> {
  const existed = async (id: string) => isId('aev', id) && (await receiptExisted(sql, tenant, id))
  await requireCursor(page.starting_after, 'No automation event has the id', existed)
  const { rows, has_more } = await listReceipts(sql, tenant, filters, page)
  const runs = await listRunsOfEvents(
    sql,
    rows.map(({ id }) => id),
  )
  return { data: rows.map((row) => receiptObject(row, runs.get(row.id) ?? [])), has_more }
}
