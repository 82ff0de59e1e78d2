/** Conversations as screens show them: with what the contact is called and how the message that came in last begins. */
import type { Tenant } from '../../../api/caller.ts'
import type { Conversation } from '../../../api/resources/conversation.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { fullName } from '../../contacts/service.ts'
import type { ConsoleServices } from '../console-services.ts'
import { userNames, type ConversationRow } from './store.ts'

/** Characters of the message that came in last. */
const beginning = 120

/** The services that know what a conversation does not. */
export type Beside = Pick<ConsoleServices, 'contacts' | 'messages'>

/** A look-up each for all of them. */
export async function shownConversations(
  { contacts, messages }: Beside,
  sql: Db,
  tenant: Tenant,
  rows: readonly ConversationRow[],
): Promise<Conversation[]> {
  const idsOf = (field: 'contact_id' | 'assignee' | 'last_message_id') =>
    rows.map((row) => row[field]).filter((id) => id !== null)
  const members = await userNames(sql, idsOf('assignee'))
  const names = new Map(
    (await contacts.rows(sql, tenant, idsOf('contact_id'))).map((contact) => [contact.id, fullName(contact)]),
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

/** Of a content with a `body`. */
function textOf(content: unknown): string | null {
  const body = typeof content === 'object' && content !== null && 'body' in content ? content.body : undefined
  return typeof body === 'string' ? [...body].slice(0, beginning).join('') : null
}
