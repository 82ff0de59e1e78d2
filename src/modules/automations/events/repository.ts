/** SQL of `automation_events`, the receipts of events. */
import type { Tenant } from '../../../api/caller.ts'
import { idFloor } from '../../../lib/ids.ts'
import type { NewReceipt, ReceiptRow } from './receipt.ts'
import { type Db, textColumn } from '../../../platform/database/sql.ts'
import type { Page } from '../../../platform/http/paging.ts'

export interface EventKey {
  readonly source_id: string
  readonly event_id: string
  readonly dedup_key: string | null
}

/** The caller has compared the sources with the tenant. */
export async function findKnown(sql: Db, keys: readonly EventKey[]): Promise<(EventKey & { readonly id: string })[]> {
  const sources = keys.map(({ source_id }) => source_id)
  const statuses = keys.flatMap(({ source_id, dedup_key }) => (dedup_key === null ? [] : [{ source_id, dedup_key }]))
  const found = sql`e.id, e.source_id, e.event_id, e.dedup_key from automation_events e`
  return await sql<(EventKey & { id: string })[]>`
    select k.* from unnest(${sources}::text[], ${keys.map(({ event_id }) => event_id)}::text[]) i(source_id, event_id)
    cross join lateral (select ${found} where e.source_id = i.source_id and e.event_id = i.event_id limit 1) k
    ${
      statuses.length === 0
        ? sql``
        : sql`
    union all
    select k.* from unnest(${statuses.map(({ source_id }) => source_id)}::text[], ${statuses.map(({ dedup_key }) => dedup_key)}::text[]) i(source_id, dedup_key)
    cross join lateral (select ${found} where e.source_id = i.source_id and e.dedup_key = i.dedup_key limit 1) k`
    }`
}

/** Among all processes. */
export async function lockCustomers(sql: Db, customer_keys: readonly string[]): Promise<void> {
  if (customer_keys.length === 0) return
  await sql`
    select pg_advisory_xact_lock(number)
    from (
      select distinct hashtextextended('customer ' || key, 0) as number
      from unnest(${customer_keys as string[]}::text[]) k(key)
      order by number) n`
}

/** Resolves to the number inserted: another transaction may have inserted others. */
export async function insertReceipts(sql: Db, rows: readonly NewReceipt[]): Promise<number> {
  if (rows.length === 0) return 0
  const column = (of: (row: NewReceipt) => string | null) => textColumn(rows.map(of))
  // free text may contain any character, so it cannot use text_column
  const texts = (of: (row: NewReceipt) => string | null) => rows.map(of)
  const result = await sql`
    insert into automation_events (account_id, mode, id, source_id, type, event_id, dedup_key, freed_dedup_key,
      origin, status, reason, contact_id, customer, consent, data, occurred_at, created_at)
    select account_id, mode, id, source_id, type, event_id, dedup_key, freed_dedup_key, origin, status, reason,
      contact_id, customer::json, consent::json, data::json, occurred_at::timestamptz, created_at::timestamptz
    from (
      select unnest(text_column(${column((row) => row.account_id)})) as account_id,
        unnest(text_column(${column((row) => row.mode)})) as mode,
        unnest(text_column(${column((row) => row.id)})) as id,
        unnest(text_column(${column((row) => row.source_id)})) as source_id,
        unnest(${texts((row) => row.type)}::text[]) as type,
        unnest(${texts((row) => row.event_id)}::text[]) as event_id,
        unnest(${texts((row) => row.dedup_key)}::text[]) as dedup_key,
        unnest(${texts((row) => row.freed_dedup_key)}::text[]) as freed_dedup_key,
        unnest(text_column(${column((row) => row.origin)})) as origin,
        unnest(text_column(${column((row) => row.status)})) as status,
        unnest(text_column(${column((row) => row.reason)})) as reason,
        unnest(text_column(${column((row) => row.contact_id)})) as contact_id,
        unnest(text_column(${column((row) => JSON.stringify(row.customer))})) as customer,
        unnest(text_column(${column((row) => JSON.stringify(row.consent))})) as consent,
        unnest(text_column(${column((row) => row.data_json)})) as data,
        unnest(text_column(${column((row) => row.occurred_at)})) as occurred_at,
        unnest(text_column(${column((row) => row.created_at)})) as created_at
    ) t
    order by source_id, event_id
    on conflict do nothing`
  return result.count
}

export async function findFirstOfStatuses(
  sql: Db,
  { account_id, mode }: Tenant,
  source_id: string,
  dedup_keys: readonly string[],
): Promise<Pick<ReceiptRow, 'customer' | 'consent'> | null> {
  const [row] = await sql<Pick<ReceiptRow, 'customer' | 'consent'>[]>`
    with of_order as materialized (
      select id, account_id, mode, customer, consent, false as freed
      from automation_events
      where source_id = ${source_id} and dedup_key = any (${dedup_keys as string[]}::text[])
      union all
      select id, account_id, mode, customer, consent, true
      from automation_events
      where source_id = ${source_id} and freed_dedup_key = any (${dedup_keys as string[]}::text[])
    )
    select customer, consent from of_order
    where account_id = ${account_id} and mode = ${mode} and customer::text <> '{}' order by freed, id limit 1`
  return row ?? null
}

export interface NamesOfPerson {
  readonly external_id: string | null
  /** In every notation, digits only, with the country code. */
  readonly phones: readonly string[]
  readonly email: string | null
  readonly order_ids: readonly string[]
}

export interface ReceiptsBefore {
  readonly source_id: string
  readonly before_id: string
  readonly rows_max: number
}

/** `next`: continue before this ID; null: done. */
export interface ReceiptsOfPerson {
  readonly ids: readonly string[]
  readonly contact_ids: readonly string[]
  readonly next: string | null
}

export async function findReceiptsOfPerson(
  sql: Db,
  { account_id, mode }: Tenant,
  { source_id, before_id, rows_max }: ReceiptsBefore,
  names: NamesOfPerson,
): Promise<ReceiptsOfPerson> {
  const ofOrders =
    names.order_ids.length === 0
      ? sql``
      : sql`or coalesce(e.data -> 'order' ->> 'id', e.data -> 'raw' ->> 'order_id', e.data -> 'raw' ->> 'id') = any (${names.order_ids as string[]}::text[])`
  const rows = await sql<{ id: string; contact_id: string | null; is_of_person: boolean | null }[]>`
    select e.id, e.contact_id, e.customer ->> 'external_id' = ${names.external_id}
      or regexp_replace(e.customer ->> 'phone', '\\D', '', 'g') = any (${names.phones as string[]}::text[])
      or lower(btrim(e.customer ->> 'email')) = lower(${names.email}::text) ${ofOrders} as is_of_person
    from automation_events e
    where e.source_id = ${source_id}
      and e.account_id = ${account_id}
      and e.mode = ${mode}
      and e.id < ${before_id}
    order by e.id desc limit ${rows_max}`
  const found = rows.filter(({ is_of_person }) => is_of_person === true)
  return {
    ids: found.map(({ id }) => id),
    contact_ids: [...new Set(found.flatMap(({ contact_id }) => (contact_id === null ? [] : [contact_id])))],
    next: rows.length < rows_max ? null : rows.at(-1)!.id,
  }
}

export async function emptyReceipts(sql: Db, { account_id, mode }: Tenant, ids: readonly string[]): Promise<void> {
  await sql`
    update automation_events set customer = '{}', data = '{}', contact_id = null
    where account_id = ${account_id} and mode = ${mode} and id = any (${ids as string[]}::text[])`
}

const columns = (sql: Db) =>
  sql`e.account_id, e.mode, e.id, e.source_id, e.type, e.event_id, e.origin, e.status, e.reason, e.contact_id, e.customer, e.consent, e.data, e.occurred_at, e.created_at`

/** Excludes receipts of deleted sources, which a periodic job deletes. */
const isVisible = (sql: Db, { account_id, mode }: Tenant) =>
  sql`
    not exists (
      select
      from integration_sources s
      where s.account_id = ${account_id}
        and s.mode = ${mode}
        and s.id = e.source_id
        and s.deleted_at is not null)`

export async function findReceipt(sql: Db, tenant: Tenant, id: string): Promise<ReceiptRow | null> {
  const [row] = await sql<ReceiptRow[]>`
    select ${columns(sql)}
    from automation_events e
    where e.account_id = ${tenant.account_id}
      and e.mode = ${tenant.mode}
      and e.id = ${id}
      and ${isVisible(sql, tenant)}`
  return row ?? null
}

export async function findReceipts(sql: Db, ids: readonly string[]): Promise<ReceiptRow[]> {
  return await sql<
    ReceiptRow[]
  >`select ${columns(sql)} from automation_events e where e.id = any (${ids as string[]}::text[])`
}

export async function receiptExisted(sql: Db, { account_id, mode }: Tenant, id: string): Promise<boolean> {
  const rows = await sql`
      select 1 from automation_events where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return rows.length > 0
}

export interface ReceiptFilters {
  readonly source?: string
  readonly type?: string
  readonly status?: string
  readonly created_after?: string
  readonly created_before?: string
}

/** An ID is created within this time of the receipt's `created_at`. */
const idSlackMs = 1000

const pageCharactersMax = 4_000_000

/** Ends before its limit if the data is large. Creation times bound the ID too, for the index. */
export async function listReceipts(
  sql: Db,
  tenant: Tenant,
  filters: ReceiptFilters,
  page: Page,
): Promise<{ rows: ReceiptRow[]; has_more: boolean }> {
  const { source, type, status, created_after, created_before } = filters
  const floor = (time: string, slack: number) => idFloor('aev', Math.max(0, Date.parse(time) + slack))
  const found = await sql<(ReceiptRow & { found: number; before: number })[]>`
    with e as materialized (
      select ${columns(sql)} from automation_events e
      where e.account_id = ${tenant.account_id} and e.mode = ${tenant.mode} and ${isVisible(sql, tenant)}
        ${source === undefined ? sql`` : sql`and e.source_id = ${source}`}
        ${type === undefined ? sql`` : sql`and e.type = ${type}`}
        ${status === undefined ? sql`` : sql`and e.status = ${status}`}
        ${created_after === undefined ? sql`` : sql`and e.created_at > ${created_after} and e.id >= ${floor(created_after, -idSlackMs)}`}
        ${created_before === undefined ? sql`` : sql`and e.created_at < ${created_before} and e.id < ${floor(created_before, idSlackMs)}`}
        ${page.starting_after === undefined ? sql`` : sql`and e.id < ${page.starting_after}`}
      order by ${source === undefined ? sql`` : sql`e.source_id desc, `}e.id desc limit ${page.limit + 1}
    ),
    sized as (
      select ${columns(sql)}, count(*) over ()::int as found,
        coalesce(sum(length(e.data::text)) over (order by e.id desc rows between unbounded preceding and 1 preceding),
        0)::int as before
      from e
    )
    select * from sized where before = 0 or before <= ${pageCharactersMax} order by id desc`
  const rows = found.slice(0, page.limit).map(({ found: _found, before: _before, ...row }): ReceiptRow => row)
  return { rows, has_more: (found[0]?.found ?? 0) > rows.length }
}

export async function deleteOrphanedReceipts(sql: Db, rows_max: number): Promise<number> {
  const result = await sql`
    delete from automation_events where id = any(array(
      select e.id from integration_sources s
      cross join lateral (select id from automation_events where source_id = s.id limit ${rows_max}) e
      where s.deleted_at is not null limit ${rows_max}
    ))`
  return result.count
}
