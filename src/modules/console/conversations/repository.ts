/** SQL of conversations, which are ordered by their latest inbound message. */
import type { Mode, Tenant } from '../../../api/caller.ts'
import type { ConversationStatus } from '../../../api/resources/conversation.ts'
import { type Db, jsonRows } from '../../../platform/database/sql.ts'
import type { Page } from '../../../platform/http/paging.ts'
import { deletedBefore } from '../../messages/service.ts'

export interface ConversationRow {
  readonly account_id: string
  readonly mode: Mode
  readonly id: string
  readonly channel_id: string
  readonly identifier: string
  readonly contact_id: string | null
  readonly status: ConversationStatus
  readonly assignee: string | null
  readonly read: boolean
  readonly window_expires_at: string | null
  readonly last_message_at: string
  readonly last_message_id: string
}

const columns = (sql: Db) =>
  sql`account_id, mode, id, channel_id, identifier, contact_id, status, assignee, read, window_expires_at, last_message_at, last_message_id`

export interface Arrived extends Pick<
  ConversationRow,
  'account_id' | 'mode' | 'channel_id' | 'identifier' | 'contact_id' | 'window_expires_at'
> {
  readonly message_id: string
  readonly at: string
}

/** Unread and open, with the same assignee. */
export async function openConversations(tx: Db, arrived: readonly Arrived[]): Promise<void> {
  await tx`
    with arrived as materialized (
      select * from json_to_recordset(${jsonRows(arrived)}::text::json)
        as t(account_id text, mode text, channel_id text, identifier text, contact_id text, message_id text,
        window_expires_at timestamptz, at timestamptz)
    ), moved as (
      insert into conversations as c (account_id, mode, id, channel_id, identifier, contact_id, status, read,
        window_expires_at, last_message_at, last_message_id)
      select account_id, mode, 'cnv_' || substr(min(message_id), 5), channel_id, identifier,
        (array_agg(contact_id order by message_id desc))[1], 'open', false, max(window_expires_at), max(at),
        max(message_id)
      from arrived
      group by account_id, mode, channel_id, identifier
      order by account_id, mode, channel_id, identifier
      on conflict (account_id, mode, channel_id, identifier) do update set
        contact_id = coalesce(excluded.contact_id, c.contact_id), status = 'open', read = false,
        window_expires_at = greatest(c.window_expires_at, excluded.window_expires_at),
        last_message_at = greatest(c.last_message_at, excluded.last_message_at),
        last_message_id = greatest(c.last_message_id, excluded.last_message_id)
      returning account_id, mode, id, channel_id, identifier
    )
    insert into conversation_messages (account_id, mode, conversation_id, message_id)
    select m.account_id, m.mode, m.id, a.message_id from arrived a
    join moved m on m.account_id = a.account_id
      and m.mode = a.mode
      and m.channel_id = a.channel_id
      and m.identifier = a.identifier`
}

export async function findConversation(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
): Promise<ConversationRow | null> {
  const [row] = await sql<ConversationRow[]>`
    select ${columns(sql)}
    from conversations
    where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return row ?? null
}

export interface ConversationFilters {
  readonly status?: ConversationStatus
  readonly assignee?: string
  readonly contact?: string
}

/** `before`: the last message of the previous page's last row. */
export async function listConversations(
  sql: Db,
  { account_id, mode }: Tenant,
  { status, assignee, contact }: ConversationFilters,
  before: string | null,
  { limit }: Page,
): Promise<ConversationRow[]> {
  return await sql<ConversationRow[]>`
    select ${columns(sql)} from conversations
    where account_id = ${account_id} and mode = ${mode}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${assignee === undefined ? sql`` : sql`and assignee = ${assignee}`}
      ${contact === undefined ? sql`` : sql`and contact_id = ${contact}`}
      ${before === null ? sql`` : sql`and last_message_id < ${before}`}
    order by last_message_id desc limit ${limit + 1}`
}

export interface ConversationChange {
  readonly status?: ConversationStatus
  readonly assignee?: string | null
  readonly read?: boolean
}

export async function updateConversation(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  { status, assignee, read }: ConversationChange,
): Promise<ConversationRow | null> {
  const [row] = await sql<ConversationRow[]>`
    update conversations set
      status = coalesce(${status ?? null}::text, status), read = coalesce(${read ?? null}::boolean, read),
      assignee = case when ${assignee === undefined}::boolean then assignee else ${assignee ?? null}::text end
    where account_id = ${account_id} and mode = ${mode} and id = ${id} returning ${columns(sql)}`
  return row ?? null
}

export async function listInboundIds(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  { limit, starting_after }: Page,
): Promise<string[]> {
  const rows = await sql<{ message_id: string }[]>`
    select message_id from conversation_messages
    where account_id = ${account_id}
      and mode = ${mode}
      and conversation_id = ${id}
      ${starting_after === undefined ? sql`` : sql`and message_id < ${starting_after}`}
    order by message_id desc limit ${limit + 1}`
  return rows.map(({ message_id }) => message_id)
}

export async function isMemberId(sql: Db, account_id: string, user_id: string): Promise<boolean> {
  const [row] = await sql`select from memberships where account_id = ${account_id} and user_id = ${user_id}`
  return row !== undefined
}

export async function userNames(sql: Db, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<
    { id: string; name: string }[]
  >`select id, name from users where id = any (${[...new Set(ids)]}::text[])`
  return new Map(rows.map(({ id, name }) => [id, name]))
}

export async function forgetContact(
  tx: Db,
  { account_id, mode, contact_id }: Tenant & { readonly contact_id: string },
): Promise<void> {
  await tx`
    update conversations
    set contact_id = null
    where account_id = ${account_id} and mode = ${mode} and contact_id = ${contact_id}`
}

export async function forgetConversations(sql: Db, rows_max: number): Promise<number> {
  const messages = await sql`
    delete from conversation_messages
    where ctid = any (array(
      select ctid from conversation_messages where message_id < ${deletedBefore(sql)} limit ${rows_max}))`
  const ended = await sql`
    delete from conversations
    where ctid = any (array(
      select ctid from conversations where last_message_id < ${deletedBefore(sql)} limit ${rows_max}))
      and last_message_id < ${deletedBefore(sql)}`
  return Math.max(messages.count, ended.count)
}
