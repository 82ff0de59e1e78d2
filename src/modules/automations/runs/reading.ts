/** How runs are read: one, and pages of them (behaviour: integrations 6.2). */
import type { Tenant } from '../../../api/caller.ts'
import { isId } from '../../../api/ids.ts'
import { missing } from '../../../api/problem.ts'
import type { AutomationRun } from '../../../api/resources/automation-run.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../../platform/http/paging.ts'
import { runObject } from './present.ts'
import * as store from './store.ts'
import type { RunFilters } from './store.ts'

/** 404 `resource_missing` when there is none. */
export async function getRun(sql: Db, tenant: Tenant, id: string): Promise<AutomationRun> {
  const row = isId('run', id) ? await store.findRun(sql, tenant, id) : null
  if (row === null) throw missing('automation run', id)
  return runObject(row)
}

/** Up to `limit + 1`, newest first. */
export async function listRuns(sql: Db, tenant: Tenant, filters: RunFilters, page: Page): Promise<AutomationRun[]> {
  const existed = async (id: string) => isId('run', id) && (await store.findRun(sql, tenant, id)) !== null
  await requireCursor(page.starting_after, 'No automation run has the id', existed)
  return (await store.listRuns(sql, tenant, filters, page)).map(runObject)
}
