/** SQL of consent: suppressions, the history of changes, and service windows. */
import type { Tenant } from '../../../api/caller.ts'
import type { ConsentChange, ConsentSource } from '../../../api/resources/contact.ts'
import { jsonRows, type Db } from '../../../platform/database/sql.ts'
import { bulkRows, insertConsentLines } from '../bulk-repository.ts'
import type { Page } from '../../../platform/http/paging.ts'
import type { ConsentChangeRow } from '../contact.ts'

export interface SuppressionKey {
  /** `<type>.marketing` for marketing alone. */
  readonly channel_type: string
  readonly address_hash: string
}

export interface SuppressionRow extends SuppressionKey {
  readonly reason: ConsentSource
  readonly message_id: string | null
  readonly request_id: string | null
  readonly created_at: string
}

export async function hasSuppressions(sql: Db, { account_id, mode }: Tenant): Promise<boolean> {
  return (await sql`select 1 from suppressions where account_id = ${account_id} and mode = ${mode} limit 1`).length > 0
}

export async function findSuppressions(
  sql: Db,
  { account_id, mode }: Tenant,
  keys: readonly SuppressionKey[],
): Promise<SuppressionRow[]> {
  if (keys.length === 0) return []
  const types = [...new Set(keys.map((key) => key.channel_type))]
  // a hash belongs to one channel type, so combining the arrays finds nothing else
  return await sql<SuppressionRow[]>`
    select channel_type, address_hash, reason, message_id, request_id, created_at from suppressions
    where account_id = ${account_id}
      and mode = ${mode}
      and channel_type = any (${types}::text[])
      and address_hash = any (${keys.map((key) => key.address_hash)}::text[])`
}

/** In a fixed order, to avoid deadlocks. Existing ones get the later opt-out; returns the new ones. */
export async function insertSuppressions(
  sql: Db,
  { account_id, mode }: Tenant,
  rows: readonly SuppressionRow[],
): Promise<SuppressionKey[]> {
  if (rows.length === 0) return []
  // xmax is 0 for inserted rows only
  const written = await sql<(SuppressionKey & { fresh: boolean })[]>`
    insert into suppressions as s (account_id, mode, channel_type, address_hash, reason, message_id,
      request_id, created_at)
    select ${account_id}, ${mode}, channel_type, address_hash, reason, message_id, request_id, created_at
    from json_to_recordset(${jsonRows(rows)}::text::json) as t(channel_type text, address_hash text,
      reason text, message_id text, request_id text, created_at timestamptz)
    order by channel_type, address_hash
    on conflict on constraint suppressions_pkey do update
      set (reason, message_id, request_id, created_at) = (excluded.reason, excluded.message_id,
        excluded.request_id, excluded.created_at)
      where s.created_at < excluded.created_at
    returning channel_type, address_hash, s.xmax = 0 as fresh`
  return written.filter(({ fresh }) => fresh)
}

/** With `until`, only those without a later opt-out. */
export async function deleteSuppressions(
  sql: Db,
  { account_id, mode }: Tenant,
  keys: readonly (SuppressionKey & { readonly until?: string })[],
): Promise<number> {
  if (keys.length === 0) return 0
  const result = await sql`
    delete from suppressions s
    using json_to_recordset(${jsonRows(keys)}::text::json) as t(channel_type text, address_hash text,
      until timestamptz)
    where s.account_id = ${account_id}
      and s.mode = ${mode}
      and s.channel_type = t.channel_type
      and s.address_hash = t.address_hash
      and (t.until is null or s.created_at <= t.until)`
  return result.count
}

export async function insertConsentChanges(
  sql: Db,
  { account_id, mode }: Tenant,
  rows: readonly ConsentChangeRow[],
  at: string,
): Promise<void> {
  if (rows.length === 0) return
  if (rows.length >= bulkRows && (await insertConsentLines(sql, { account_id, mode }, rows, at))) return
  await sql`
    insert into consent_changes (account_id, mode, contact_id, id, channel_type, status, source, message_id,
      request_id, occurred_at, created_at)
    select ${account_id}, ${mode}, contact_id, id, channel_type, status, source, message_id, request_id,
      occurred_at, ${at}
    from json_to_recordset(${jsonRows(rows)}::text::json)
      as t(contact_id text, id text, channel_type text, status text, source text, message_id text,
      request_id text, occurred_at timestamptz)`
}

export async function listConsentChanges(
  sql: Db,
  { account_id, mode }: Tenant,
  contactId: string,
  page: Page,
): Promise<ConsentChange[]> {
  return await sql<ConsentChange[]>`
    select id, 'consent_change' as object, channel_type, status, source, message_id, request_id, occurred_at
    from consent_changes
    where account_id = ${account_id} and mode = ${mode} and contact_id = ${contactId}
      ${page.starting_after === undefined ? sql`` : sql`and id < ${page.starting_after}`}
    order by id desc limit ${page.limit + 1}`
}

export async function optOutsBy(
  sql: Db,
  { account_id, mode }: Tenant,
  written: readonly { readonly contact_id: string; readonly message_id: string }[],
): Promise<Set<string>> {
  if (written.length === 0) return new Set()
  const rows = await sql<{ message_id: string }[]>`
    select c.message_id
    from json_to_recordset(${jsonRows(written)}::text::json) as w (contact_id text, message_id text)
    join consent_changes c on c.contact_id = w.contact_id and c.message_id = w.message_id
    where c.account_id = ${account_id} and c.mode = ${mode} and c.status = 'opted_out'`
  return new Set(rows.map(({ message_id }) => message_id))
}

export type LastConsentChange = Pick<
  ConsentChangeRow,
  'contact_id' | 'channel_type' | 'status' | 'source' | 'occurred_at'
>

/** By `contact_id|channel_type`. */
export async function lastConsentChanges(
  sql: Db,
  { account_id, mode }: Tenant,
  contactIds: readonly string[],
  channelTypes: readonly string[],
): Promise<Map<string, LastConsentChange>> {
  if (contactIds.length === 0) return new Map()
  const rows = await sql<LastConsentChange[]>`
    select distinct on (contact_id, channel_type) contact_id, channel_type, status, source, occurred_at
    from consent_changes
    where account_id = ${account_id}
      and mode = ${mode}
      and contact_id = any (${[...contactIds]}::text[])
      and channel_type = any (${[...channelTypes]}::text[])
    order by contact_id, channel_type, id desc`
  return new Map(rows.map((row) => [`${row.contact_id}|${row.channel_type}`, row]))
}

export async function consentChangeExists(
  sql: Db,
  { account_id, mode }: Tenant,
  contactId: string,
  id: string,
): Promise<boolean> {
  const rows = await sql`
      select 1
      from consent_changes
      where account_id = ${account_id} and mode = ${mode} and contact_id = ${contactId} and id = ${id}`
  return rows.length > 0
}

export async function deleteConsentChanges(sql: Db, { account_id, mode }: Tenant, contactId: string): Promise<void> {
  await sql`
    delete from consent_changes
    where account_id = ${account_id} and mode = ${mode} and contact_id = ${contactId}`
}

export interface WindowRow {
  readonly address: string
  readonly channel_id: string
  readonly expires_at: string
}

export async function openWindows(sql: Db, { account_id, mode }: Tenant, rows: readonly WindowRow[]): Promise<void> {
  if (rows.length === 0) return
  await sql`
    insert into service_windows as w (account_id, mode, address, channel_id, expires_at)
    select ${account_id}, ${mode}, address, channel_id, max(expires_at)
    from json_to_recordset(${jsonRows(rows)}::text::json) as t(address text, channel_id text,
      expires_at timestamptz)
    group by address, channel_id order by address, channel_id
    on conflict on constraint service_windows_pkey do update
      set expires_at = greatest(w.expires_at, excluded.expires_at)`
}

export async function findWindows(
  sql: Db,
  { account_id, mode }: Tenant,
  addresses: readonly string[],
): Promise<WindowRow[]> {
  if (addresses.length === 0) return []
  return await sql<WindowRow[]>`
    select address, channel_id, expires_at from service_windows
    where account_id = ${account_id} and mode = ${mode} and address = any (${[...addresses]}::text[])
    order by channel_id`
}

export async function deleteWindows(
  sql: Db,
  { account_id, mode }: Tenant,
  addresses: readonly string[],
): Promise<void> {
  if (addresses.length === 0) return
  await sql`
    delete from service_windows
    where account_id = ${account_id} and mode = ${mode} and address = any (${[...addresses]}::text[])`
}
