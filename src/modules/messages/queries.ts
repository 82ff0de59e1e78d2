/** Messages as they are read: one, a page of them, and what happened to one. */
import type { Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { missing } from '../../api/problem.ts'
import type { MessageHistoryItem } from '../../api/resources/message.ts'
import type { Db } from '../../platform/database/sql.ts'
import { eventsOf } from '../../platform/events/outbox.ts'
import { requireCursor, type Page } from '../../platform/http/paging.ts'
import type { MessageRow } from './message.ts'
import * as store from './repository.ts'
import { historyOf } from './queries/history.ts'
import { listMessages, type MessageFilters } from './list-repository.ts'

/** Throws `resource_missing` for a message that the tenant does not have. */
export async function getMessage(sql: Db, tenant: Tenant, id: string): Promise<MessageRow> {
  const row = await find(sql, tenant, id)
  if (row === null) throw missing('message', id)
  return row
}

const find = async (sql: Db, tenant: Tenant, id: string): Promise<MessageRow | null> =>
  isId('msg', id) ? await store.findMessage(sql, tenant, id) : null

/** Up to `limit + 1` rows, newest first. */
export async function pageOfMessages(
  sql: Db,
  tenant: Tenant,
  filters: MessageFilters,
  page: Page,
): Promise<MessageRow[]> {
  await requireCursor(
    page.starting_after,
    'No message has the id',
    async (cursor) => (await find(sql, tenant, cursor)) !== null,
  )
  return await listMessages(sql, tenant, filters, page)
}

/** What happened to a message, newest first (`GET /v1/messages/{id}/events`). */
export async function historyOfMessage(sql: Db, tenant: Tenant, id: string): Promise<MessageHistoryItem[]> {
  const row = await getMessage(sql, tenant, id)
  return historyOf(row, await eventsOf(sql, tenant, id))
}

/** The hand-overs of a message to its provider, newest first (`GET /v1/messages/{id}/attempts`). */
export async function attemptsOfMessage(sql: Db, tenant: Tenant, id: string): Promise<store.AttemptRow[]> {
  await getMessage(sql, tenant, id)
  return await store.listAttempts(sql, tenant, id)
}
