/** SQL of messages from recipients. */
import type { Mode, Tenant } from '../../../api/caller.ts'
import { jsonRows, type Db } from '../../../platform/database/sql.ts'
import type { MessageRow } from '../message.ts'

export interface InboundReference {
  readonly account_id: string
  readonly channel_id: string
  readonly provider_id: string
  readonly message_id: string
  readonly created_at: string
}

/** Notes how providers name messages; resolves to the ids of those messages that are told for the first time. */
export async function insertReferences(tx: Db, references: readonly InboundReference[]): Promise<Set<string>> {
  if (references.length === 0) return new Set()
  const stored = await tx<{ message_id: string }[]>`
    insert into inbound_references (account_id, channel_id, provider_id, message_id, created_at)
    select account_id, channel_id, provider_id, message_id, created_at
    from json_to_recordset(${jsonRows(references)}::text::json) as t(account_id text, channel_id text, provider_id text, message_id text, created_at timestamptz)
    order by account_id, channel_id, provider_id
    on conflict do nothing
    returning message_id`
  return new Set(stored.map(({ message_id }) => message_id))
}

export async function insertInbound(tx: Db, rows: readonly MessageRow[]): Promise<void> {
  await tx`
    insert into messages (account_id, mode, id, channel_id, channel_type, direction, "to", "from", type, content, status, metadata, billing_source, amount_micros, contact_id, origin_type, reply_to, segments, encoding, created_at, updated_at)
    select account_id, mode, id, channel_id, channel_type, 'inbound', "to", "from", type, content, 'received', '{}', 'wallet', 0, contact_id, 'inbound', reply_to, segments, encoding, created_at, created_at
    from json_to_recordset(${jsonRows(rows)}::text::json) as t(account_id text, mode text, id text, channel_id text, channel_type text, "to" text, "from" text, type text, content json, contact_id text, reply_to text, segments smallint, encoding text, created_at timestamptz)`
}

export interface WaitingMessage {
  account_id: Tenant['account_id']
  mode: Mode
  id: string
}

/** Messages to these recipients that wait, but for what answers them by itself. */
export async function listWaiting(
  sql: Db,
  recipients: readonly {
    readonly account_id: string
    readonly mode: string
    readonly channel_type: string
    readonly to: string
  }[],
): Promise<WaitingMessage[]> {
  return await sql<WaitingMessage[]>`
    select m.account_id, m.mode, m.id
    from json_to_recordset(${jsonRows(recipients)}::text::json) as t(account_id text, mode text, channel_type text, "to" text)
    join messages m on m.account_id = t.account_id and m.mode = t.mode and m."to" = t."to" and m.channel_type = t.channel_type
    where m.status = 'queued' and m.origin_type <> 'inbound'
    order by m.id`
}
