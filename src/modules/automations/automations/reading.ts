/** How automations are read: one, and pages of them. */
import type { Tenant } from '../../../api/caller.ts'
import { isId } from '../../../api/ids.ts'
import { missing } from '../../../api/problem.ts'
import type { Automation } from '../../../api/resources/automation.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../../platform/http/paging.ts'
import { automationObject } from './present.ts'
import * as store from './store.ts'
import type { AutomationFilters, AutomationRow } from './store.ts'

/** 404 `resource_missing` when there is none. */
export async function existing(sql: Db, tenant: Tenant, id: string): Promise<AutomationRow> {
  const row = isId('aut', id) ? await store.findAutomation(sql, tenant, id) : null
  if (row === null) throw missing('automation', id)
  return row
}

/** Up to `limit + 1`, newest first. */
export async function listAutomations(
  sql: Db,
  tenant: Tenant,
  filters: AutomationFilters,
  page: Page,
): Promise<Automation[]> {
  const existed = async (id: string) => isId('aut', id) && (await store.automationExisted(sql, tenant, id))
  await requireCursor(page.starting_after, 'No automation has the id', existed)
  return (await store.listAutomations(sql, tenant, filters, page)).map(automationObject)
}
