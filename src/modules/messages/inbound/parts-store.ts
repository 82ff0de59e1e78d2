/** SQL of texts that come in parts. Works across tenants, as what providers tell does. */
import type { Tenant } from '../../../api/caller.ts'
import { jsonRows, type Db } from '../../../platform/database/sql.ts'

/** One part as it came. */
export interface TextPart {
  /** From 1. */
  readonly number: number
  readonly text: string
  readonly provider_id: string
}

/** What names a text that comes in parts, until its sender uses the reference again. */
export interface PartsKey extends Tenant {
  readonly channel_id: string
  readonly sender: string
  readonly reference: string
  readonly total: number
}

/** The parts of a text that have come. */
export interface PartsRow extends PartsKey {
  readonly parts: readonly TextPart[]
  /** `joined`: all of them, and the text is stored. */
  readonly status: 'waiting' | 'joined'
  /** ISO 8601: when it is told as it is, or forgotten where it is joined. */
  readonly next_run_at: string
  readonly created_at: string
}

const keyColumns = (tx: Db) =>
  tx`account_id text, mode text, channel_id text, sender text, reference text, total smallint`

/** What has come of these texts, locked; a row without parts where nothing has. */
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
    insert into inbound_parts as p (account_id, mode, channel_id, sender, reference, total, parts, status, next_run_at, created_at)
    select distinct on (channel_id, sender, reference, total) account_id, mode, channel_id, sender, reference, total, '[]'::json, 'waiting', ${at}::timestamptz, ${at}::timestamptz
    from json_to_recordset(${jsonRows(rows)}::text::json) as t(${keyColumns(tx)})
    order by channel_id, sender, reference, total
    on conflict (channel_id, sender, reference, total) do update set total = p.total
    returning *`
}

/** Writes what has come of texts that are locked. */
export async function writeParts(tx: Db, rows: readonly PartsRow[]): Promise<void> {
  await tx`
    update inbound_parts p set parts = t.parts, status = t.status, next_run_at = t.next_run_at, created_at = t.created_at
    from json_to_recordset(${jsonRows(rows)}::text::json)
      as t(${keyColumns(tx)}, parts json, status text, next_run_at timestamptz, created_at timestamptz)
    where p.account_id = t.account_id and p.mode = t.mode
      and (p.channel_id, p.sender, p.reference, p.total) = (t.channel_id, t.sender, t.reference, t.total)`
}

/** Texts that are due and in nobody's hand, the longest due first, locked. */
export async function takeDueParts(tx: Db, at: string, rows_max: number): Promise<PartsRow[]> {
  return await tx<
    PartsRow[]
  >`select * from inbound_parts where next_run_at <= ${at} order by next_run_at limit ${rows_max} for update skip locked`
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
    delete from inbound_parts p using json_to_recordset(${jsonRows(rows)}::text::json) as t(${keyColumns(tx)})
    where p.account_id = t.account_id and p.mode = t.mode
      and (p.channel_id, p.sender, p.reference, p.total) = (t.channel_id, t.sender, t.reference, t.total)`
}
