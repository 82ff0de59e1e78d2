/** SQL of messages from recipients. */
import type { Mode, Tenant } from '../../../api/caller.ts'
import { type Db, jsonRows } from '../../../platform/database/sql.ts'
import type { MessageRow } from '../message.ts'

export interface InboundReference {
  readonly account_id: string
  readonly channel_id: string
  readonly provider_id: string
  readonly message_id: string
  readonly created_at: string
}

/** Resolves to the ids of messages whose provider ids are new. */
export async function insertReferences(tx: Db, references: readonly InboundReference[]): Promise<Set<string>> {
  if (references.length === 0) return new Set()
  const stored = await tx<{ message_id: string }[]>`
    insert into inbound_references (account_id, channel_id, provider_id, message_id, created_at)
    select account_id, channel_id, provider_id, message_id, created_at
    from json_to_recordset(${jsonRows(references)}::text::json) as t(
      account_id text, channel_id text, provider_id text, message_id text, created_at timestamptz
    )
    order by account_id, channel_id, provider_id
    on conflict do nothing
    returning message_id`
  return new Set(stored.map(({ message_id }) => message_id))
}

export async function insertInbound(tx: Db, rows: readonly MessageRow[]): Promise<void> {
  await tx`
    insert into messages (
      account_id, mode, id, channel_id, channel_type, direction, "to", "from", type, content, status, metadata,
      billing_source, amount_micros, contact_id, origin_type, reply_to, segments, encoding, created_at,
      updated_at
    )
    select account_id, mode, id, channel_id, channel_type, 'inbound', "to", "from", type, content, 'received',
      '{}', 'wallet', 0, contact_id, 'inbound', reply_to, segments, encoding, created_at, created_at
    from json_to_recordset(${jsonRows(rows)}::text::json) as t(
      account_id text, mode text, id text, channel_id text, channel_type text, "to" text, "from" text,
      type text, content json, contact_id text, reply_to text, segments smallint, encoding text,
      created_at timestamptz
    )`
}

export interface WaitingMessage {
  account_id: Tenant['account_id']
  mode: Mode
  id: string
}

/** Queued messages to these recipients, except automatic replies. */
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
    from json_to_recordset(${jsonRows(recipients)}::text::json) as t(
      account_id text, mode text, channel_type text, "to" text
    )
    join messages m on m.account_id = t.account_id
      and m.mode = t.mode
      and m."to" = t."to"
      and m.channel_type = t.channel_type
    where m.status = 'queued' and m.origin_type <> 'inbound'
    order by m.id`
}

export interface TextPart {
  readonly number: number
  readonly text: string
  readonly provider_id: string
}

/** Senders reuse references for later texts. */
export interface PartsKey extends Tenant {
  readonly channel_id: string
  readonly sender: string
  readonly reference: string
  readonly total: number
}

export interface PartsRow extends PartsKey {
  readonly parts: readonly TextPart[]
  /** `joined`: complete and stored. */
  readonly status: 'waiting' | 'joined'
  /** When it is stored incomplete, or deleted if joined. */
  readonly next_run_at: string
  readonly created_at: string
}

const keyColumns = (tx: Db) =>
  tx`account_id text, mode text, channel_id text, sender text, reference text, total smallint`

/** A new text has no parts. */
export async function lockParts(tx: Db, keys: readonly PartsKey[], at: string): Promise<PartsRow[]> {
  const rows = keys.map(({ account_id, mode, channel_id, sender, reference, total }) => ({
    account_id,
    mode,
    channel_id,
    sender,
    reference,
    total,
  }))
  return await tx<PartsRow[]>`
    insert into inbound_parts as p (
      account_id, mode, channel_id, sender, reference, total, parts, status, next_run_at, created_at
    )
    select distinct on (channel_id, sender, reference, total) account_id, mode, channel_id, sender, reference,
      total, '[]'::json, 'waiting', ${at}::timestamptz, ${at}::timestamptz
    from json_to_recordset(${jsonRows(rows)}::text::json) as t(${keyColumns(tx)})
    order by channel_id, sender, reference, total
    on conflict (channel_id, sender, reference, total) do update set total = p.total
    returning *`
}

/** Requires their locks. */
export async function writeParts(tx: Db, rows: readonly PartsRow[]): Promise<void> {
  await tx`
    update inbound_parts p
    set parts = t.parts, status = t.status, next_run_at = t.next_run_at, created_at = t.created_at
    from json_to_recordset(${jsonRows(rows)}::text::json)
      as t(${keyColumns(tx)}, parts json, status text, next_run_at timestamptz, created_at timestamptz)
    where p.account_id = t.account_id and p.mode = t.mode
      and (p.channel_id, p.sender, p.reference, p.total) = (t.channel_id, t.sender, t.reference, t.total)`
}

/** Skips locked texts. */
export async function takeDueParts(tx: Db, at: string, rows_max: number): Promise<PartsRow[]> {
  return await tx<PartsRow[]>`
    select *
    from inbound_parts
    where next_run_at <= ${at}
    order by next_run_at
    limit ${rows_max}
    for update skip locked`
}

export async function removeParts(tx: Db, keys: readonly PartsKey[]): Promise<void> {
  if (keys.length === 0) return
  const rows = keys.map(({ account_id, mode, channel_id, sender, reference, total }) => ({
    account_id,
    mode,
    channel_id,
    sender,
    reference,
    total,
  }))
  await tx`
    delete from inbound_parts p
    using json_to_recordset(${jsonRows(rows)}::text::json) as t(${keyColumns(tx)})
    where p.account_id = t.account_id and p.mode = t.mode
      and (p.channel_id, p.sender, p.reference, p.total) = (t.channel_id, t.sender, t.reference, t.total)`
}
