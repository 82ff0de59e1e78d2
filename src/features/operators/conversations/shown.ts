/** Conversations as screens show them: with what the contact is called and how the message that came in last begins. */
import type { Tenant } from '../../../contract/caller.ts'
import type { Conversation } from '../../../contract/resources/conversation.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { fullName } from '../../contacts/service.ts'
import type { Desk } from '../desk.ts'
import type { ConversationRow } from './store.ts'

/** Characters of the message that came in last. */
const beginning = 120

/** The services that know what a conversation does not. */
export type Beside = Pick<Desk, 'contacts' | 'messages'>

/** Two look-ups for all of them. */
export async function shownConversations({ contacts, messages }: Beside, sql: Db, tenant: Tenant, rows: readonly ConversationRow[]): Promise<Conversation[]> {
  const ids = rows.map(({ contact_id }) => contact_id).filter((id) => id !== null)
  const names = new Map((await contacts.rows(sql, tenant, ids)).map((contact) => [contact.id, fullName(contact)]))
  const last = await messages.rows(
    sql,
    tenant,
    rows.map(({ last_message_id }) => last_message_id),
  )
  const contents = new Map(last.map(({ id, type, content }) => [id, { type, text: textOf(content) }]))
  return rows.map((row) => {
    const { type = null, text = null } = contents.get(row.last_message_id) ?? {}
    return conversationObject(row, row.contact_id === null ? null : (names.get(row.contact_id) ?? null), type, text)
  })
}

/** Of a content with a `body`. */
function textOf(content: unknown): string | null {
  const body = typeof content === 'object' && content !== null && 'body' in content ? content.body : undefined
  return typeof body === 'string' ? [...body].slice(0, beginning).join('') : null
}

const conversationObject = (row: ConversationRow, contact_name: string | null, type: string | null, text: string | null): Conversation => ({
  object: 'conversation',
  id: row.id,
  mode: row.mode,
  contact_id: row.contact_id,
  contact_name,
  channel_id: row.channel_id,
  identifier: row.identifier,
  status: row.status,
  assignee: row.assignee,
  read: row.read,
  window_expires_at: row.window_expires_at,
  last_message_at: row.last_message_at,
  last_message_type: type,
  last_message_text: text,
})
