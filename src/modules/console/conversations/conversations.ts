/** The inbox: inbound messages open conversations, people close them (behaviour: console 7.4). */
import type { Tenant } from '../../../api/caller.ts'
import type { ContactDeletedEvent, LinkedInboundEvent } from '../../../api/domain-events.ts'
import { isId } from '../../../api/ids.ts'
import { invalid, missing } from '../../../api/problem.ts'
import type { Conversation, ConversationUpdate } from '../../../api/resources/conversation.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { type Page, wrongCursor } from '../../../platform/http/paging.ts'
import { fullName, windowUntil } from '../../contacts/service.ts'
import type { MessageService } from '../../messages/service.ts'
import type { ConsoleServices } from '../route.ts'
import * as repository from './repository.ts'
import { type ConversationRow, userNames } from './repository.ts'

/** In the transaction that stores the messages. */
export async function updateConversations(tx: Db, events: readonly LinkedInboundEvent[]): Promise<void> {
  await repository.openConversations(
    tx,
    events.map(({ account_id, mode, channel_id, channel_type, from, contact_id, message_id, received_at }) => {
      return {
        account_id,
        mode,
        channel_id,
        identifier: from,
        contact_id,
        message_id,
        window_expires_at: windowUntil(channel_type, received_at),
        at: received_at,
      }
    }),
  )
}

/** In the transaction that deletes the contacts. */
export async function forgetContacts(tx: Db, events: readonly ContactDeletedEvent[]): Promise<void> {
  for (const event of events) await repository.forgetContact(tx, event)
}

async function requireConversation(sql: Db, tenant: Tenant, id: string): Promise<repository.ConversationRow> {
  const row = isId('cnv', id) ? await repository.findConversation(sql, tenant, id) : null
  if (row === null) throw missing('conversation', id)
  return row
}

const shownOne = async (
  services: ConversationServices,
  sql: Db,
  tenant: Tenant,
  row: repository.ConversationRow,
): Promise<Conversation> => (await shownConversations(services, sql, tenant, [row]))[0]!

export const getConversation = async (
  services: ConversationServices,
  sql: Db,
  tenant: Tenant,
  id: string,
): Promise<Conversation> => await shownOne(services, sql, tenant, await requireConversation(sql, tenant, id))

/** Ordered by the latest inbound message. */
export async function pageOfConversations(
  services: ConversationServices,
  sql: Db,
  tenant: Tenant,
  filters: repository.ConversationFilters,
  page: Page,
): Promise<Conversation[]> {
  const { starting_after: after } = page
  const before =
    after === undefined || !isId('cnv', after) ? null : await repository.findConversation(sql, tenant, after)
  if (after !== undefined && before === null) throw wrongCursor('No conversation has the id')
  return await shownConversations(
    services,
    sql,
    tenant,
    await repository.listConversations(sql, tenant, filters, before?.last_message_id ?? null, page),
  )
}

export async function changeConversation(
  services: ConversationServices,
  sql: Db,
  tenant: Tenant,
  id: string,
  change: ConversationUpdate,
): Promise<Conversation> {
  await requireConversation(sql, tenant, id)
  const { assignee } = change
  if (typeof assignee === 'string' && !(await repository.isMemberId(sql, tenant.account_id, assignee)))
    throw invalid(
      'assignee',
      'invalid_value',
      'No member of the account has this ID. Use one of GET /console/api/members, or null for nobody.',
    )
  const row = await repository.updateConversation(sql, tenant, id, change)
  if (row === null) throw missing('conversation', id)
  return await shownOne(services, sql, tenant, row)
}

export async function messagesOf(messages: MessageService, sql: Db, tenant: Tenant, id: string, page: Page) {
  const { channel_id, identifier } = await requireConversation(sql, tenant, id)
  const sent = await messages.list(sql, tenant, { channel: channel_id, to: identifier, direction: 'outbound' }, page)
  const arrived = await messages.rows(sql, tenant, await repository.listInboundIds(sql, tenant, id, page))
  return [...sent, ...arrived].toSorted((one, other) => (one.id < other.id ? 1 : -1)).slice(0, page.limit + 1)
}

const beginning = 120

export type ConversationServices = Pick<ConsoleServices, 'contacts' | 'messages'>

async function shownConversations(
  { contacts, messages }: ConversationServices,
  sql: Db,
  tenant: Tenant,
  rows: readonly ConversationRow[],
): Promise<Conversation[]> {
  const idsOf = (field: 'contact_id' | 'assignee' | 'last_message_id') =>
    rows.map((row) => row[field]).filter((id) => id !== null)
  const members = await userNames(sql, idsOf('assignee'))
  const names = new Map(
    (await contacts.findByIds(sql, tenant, idsOf('contact_id'))).map((contact) => [contact.id, fullName(contact)]),
  )
  const last = new Map(
    (await messages.rows(sql, tenant, idsOf('last_message_id'))).map((message) => [message.id, message]),
  )
  return rows.map((row) => {
    const message = last.get(row.last_message_id)
    return {
      object: 'conversation',
      id: row.id,
      mode: row.mode,
      contact_id: row.contact_id,
      contact_name: row.contact_id === null ? null : (names.get(row.contact_id) ?? null),
      channel_id: row.channel_id,
      identifier: row.identifier,
      status: row.status,
      assignee: row.assignee,
      assignee_name: row.assignee === null ? null : (members.get(row.assignee) ?? null),
      read: row.read,
      window_expires_at: row.window_expires_at,
      last_message_at: row.last_message_at,
      last_message_type: message?.type ?? null,
      last_message_text: textOf(message?.content),
    }
  })
}

function textOf(content: unknown): string | null {
  const body = typeof content === 'object' && content !== null && 'body' in content ? content.body : undefined
  return typeof body === 'string' ? [...body].slice(0, beginning).join('') : null
}
