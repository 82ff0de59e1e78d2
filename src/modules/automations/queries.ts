/** Reads automations, runs and receipts (behaviour: integrations 3.7, 5, 6.2). */
import type { Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { missing } from '../../api/problem.ts'
import type { AutomationEvent } from '../../api/resources/automation-event.ts'
import type { AutomationRun } from '../../api/resources/automation-run.ts'
import type { Automation } from '../../api/resources/automation.ts'
import type { Db } from '../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../platform/http/paging.ts'
import { automationObject, type AutomationRow } from './automation.ts'
import { receiptObject } from './events/receipt.ts'
import * as eventRepository from './events/repository.ts'
import * as repository from './repository.ts'
import * as runRepository from './runs/repository.ts'
import { runObject } from './runs/run.ts'

export async function requireAutomation(sql: Db, tenant: Tenant, id: string): Promise<AutomationRow> {
  const row = isId('aut', id) ? await repository.findAutomation(sql, tenant, id) : null
  if (row === null) throw missing('automation', id)
  return row
}

export async function listAutomations(
  sql: Db,
  tenant: Tenant,
  filters: repository.AutomationFilters,
  page: Page,
): Promise<Automation[]> {
  const existed = async (id: string) => isId('aut', id) && (await repository.automationExisted(sql, tenant, id))
  await requireCursor(page.starting_after, 'No automation has the id', existed)
  return (await repository.listAutomations(sql, tenant, filters, page)).map(automationObject)
}

export async function getRun(sql: Db, tenant: Tenant, id: string): Promise<AutomationRun> {
  const row = isId('run', id) ? await runRepository.findRun(sql, tenant, id) : null
  if (row === null) throw missing('automation run', id)
  return runObject(row)
}

export async function listRuns(
  sql: Db,
  tenant: Tenant,
  filters: runRepository.RunFilters,
  page: Page,
): Promise<AutomationRun[]> {
  const existed = async (id: string) => isId('run', id) && (await runRepository.findRun(sql, tenant, id)) !== null
  await requireCursor(page.starting_after, 'No automation run has the id', existed)
  return (await runRepository.listRuns(sql, tenant, filters, page)).map(runObject)
}

export async function getReceipt(sql: Db, tenant: Tenant, id: string): Promise<AutomationEvent> {
  const row = isId('aev', id) ? await eventRepository.findReceipt(sql, tenant, id) : null
  if (row === null) throw missing('automation event', id)
  return receiptObject(row, (await runRepository.listRunsOfEvents(sql, [id])).get(id) ?? [])
}

export async function listReceipts(
  sql: Db,
  tenant: Tenant,
  filters: eventRepository.ReceiptFilters,
  page: Page,
): Promise<{ data: AutomationEvent[]; has_more: boolean }> {
  const existed = async (id: string) => isId('aev', id) && (await eventRepository.receiptExisted(sql, tenant, id))
  await requireCursor(page.starting_after, 'No automation event has the id', existed)
  const { rows, has_more } = await eventRepository.listReceipts(sql, tenant, filters, page)
  const runs = await runRepository.listRunsOfEvents(
    sql,
    rows.map(({ id }) => id),
  )
  return { data: rows.map((row) => receiptObject(row, runs.get(row.id) ?? [])), has_more }
}
