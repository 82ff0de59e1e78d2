/** Reads messages, their history and their attempts. */
import type { Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { missing } from '../../api/problem.ts'
import type { MessageHistoryItem, MessageStatus } from '../../api/resources/message.ts'
import type { Db } from '../../platform/database/sql.ts'
import { type EventOfObject, eventsOf } from '../../platform/events/outbox.ts'
import { type Page, requireCursor } from '../../platform/http/paging.ts'
import { type AttemptRow, errorObject, type MessageRow } from './message.ts'
import * as store from './repository.ts'
import { listMessages, type MessageFilters } from './list-repository.ts'
import { createHash } from 'node:crypto'

/** Throws `resource_missing`. */
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

/** `GET /v1/messages/{id}/events`. */
export async function historyOfMessage(sql: Db, tenant: Tenant, id: string): Promise<MessageHistoryItem[]> {
  const row = await getMessage(sql, tenant, id)
  return historyOf(row, await eventsOf(sql, tenant, id))
}

/** `GET /v1/messages/{id}/attempts`. */
export async function attemptsOfMessage(sql: Db, tenant: Tenant, id: string): Promise<AttemptRow[]> {
  await getMessage(sql, tenant, id)
  return await store.listAttempts(sql, tenant, id)
}

/** `event_id` is set while the public event exists. */
function historyOf(row: MessageRow, events: readonly EventOfObject[]): MessageHistoryItem[] {
  const eventIds = new Map(events.map((event) => [event.type, event.id]))
  const reached = new Set(events.map((event) => event.type))
  const item = (status: MessageStatus, created_at: string): MessageHistoryItem => ({
    id: historyId(row.id, status),
    object: 'message_event',
    message_id: row.id,
    type: `message.${status}`,
    status,
    error: status === 'failed' ? errorObject(row.error) : null,
    event_id: eventIds.get(`message.${status}`) ?? null,
    created_at,
  })
  if (row.direction === 'inbound') return [item('received', row.created_at)]
  const items = [item('queued', row.created_at)]
  if (row.sending_at !== null) items.push(item('sending', row.sending_at))
  // a receipt that overtook a status sets its time too
  const overtaken = (status: MessageStatus, next_at: string | null, at: string) =>
    events.length > 0 && !reached.has(`message.${status}`) && next_at === at
  if (row.sent_at !== null && !overtaken('sent', row.delivered_at ?? row.read_at, row.sent_at))
    items.push(item('sent', row.sent_at))
  if (row.delivered_at !== null && !overtaken('delivered', row.read_at, row.delivered_at))
    items.push(item('delivered', row.delivered_at))
  if (row.read_at !== null) items.push(item('read', row.read_at))
  if (row.failed_at !== null) items.push(item('failed', row.failed_at))
  return items.toReversed()
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Stable per message and step, in the order of time. */
function historyId(message_id: string, status: MessageStatus): string {
  const digest = createHash('sha256').update(`${message_id} ${status}`).digest()
  const order = ['received', 'queued', 'sending', 'sent', 'delivered', 'read', 'failed'].indexOf(status)
  const random = Array.from({ length: 14 }, (_, index) => alphabet[digest[index]! & 31]!).join('')
  // time (10 characters), version, step, variant
  return `mev_${message_id.slice(4, 14)}f${alphabet[order]!}${random}`
}
