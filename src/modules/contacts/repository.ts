/** SQL of contacts, their addresses, tags and attributes. */
import type { PendingQuery, Row } from '#postgres'
import type { Tenant } from '../../api/caller.ts'
import type { AttributeType } from '../../api/resources/contact.ts'
import { type ContactRow, searchColumns } from './contact.ts'
import type { AddressRow, AddressKey } from './addresses.ts'
import { jsonRows, type Db } from '../../platform/database/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import { bulkRows, insertAddressLines, insertContactLines } from './bulk-repository.ts'

/** A condition on the contact `c`. Never await it: that would run it. */
export type Condition = PendingQuery<Row[]>

const columns = (
  sql: Db,
) => sql`c.account_id, c.mode, c.id, c.phone, c.phone_key, c.email, c.first_name, c.last_name, c.full_name, c.locale, c.timezone, c.country,
  c.external_id, c.identifiers, c.tags, c.attributes, c.metadata, c.consent, c.blocked, c.last_seen_at, c.last_message_at, c.created_at, c.updated_at`

const recordset = `as t(id text, phone text, phone_key text, email text, first_name text, last_name text, locale text, timezone text, country text, external_id text,
  identifiers jsonb, tags text[], attributes jsonb, metadata json, consent jsonb, blocked boolean, name_key text, last_name_key text, email_key text, labels text[],
  last_seen_at timestamptz, last_message_at timestamptz, created_at timestamptz, updated_at timestamptz)`

const stored = [
  'id',
  'phone',
  'phone_key',
  'email',
  'first_name',
  'last_name',
  'locale',
  'timezone',
  'country',
  'external_id',
  'identifiers',
  'tags',
  'attributes',
  'metadata',
  'consent',
  'blocked',
  'last_seen_at',
  'last_message_at',
  'created_at',
  'updated_at',
] as const

function withSearch(rows: readonly ContactRow[]): string {
  return jsonRows(
    rows.map((row) => {
      const columns: Record<string, unknown> = searchColumns(row) as never
      for (const name of stored) if (row[name] !== null) columns[name] = row[name]
      return columns
    }),
  )
}

export async function findAddresses(
  sql: Db,
  { account_id, mode }: Tenant,
  keys: readonly AddressKey[],
): Promise<AddressRow[]> {
  const byKind = new Map<string, Set<string>>()
  for (const { kind, address } of keys) byKind.set(kind, (byKind.get(kind) ?? new Set()).add(address))
  const found: AddressRow[] = []
  // an array against the last key column costs a fifth of a join
  for (const [kind, addresses] of byKind) {
    found.push(
      ...(await sql<AddressRow[]>`
      select kind, address, contact_id, blocked from contact_addresses
      where account_id = ${account_id}
        and mode = ${mode}
        and kind = ${kind}
        and address = any (${[...addresses]}::text[])`),
    )
  }
  return found
}

/** In ID order; missing ones are left out. */
export async function lockContacts(
  sql: Db,
  { account_id, mode }: Tenant,
  ids: readonly string[],
): Promise<ContactRow[]> {
  if (ids.length === 0) return []
  return await sql<ContactRow[]>`
    select ${columns(sql)} from contacts c
    where c.account_id = ${account_id} and c.mode = ${mode} and c.id = any (${[...ids]}::text[])
    order by c.id for update`
}

export async function findContact(sql: Db, { account_id, mode }: Tenant, id: string): Promise<ContactRow | null> {
  const [row] = await sql<ContactRow[]>`
    select ${columns(sql)}
    from contacts c
    where c.account_id = ${account_id} and c.mode = ${mode} and c.id = ${id}`
  return row ?? null
}

export async function findContacts(
  sql: Db,
  { account_id, mode }: Tenant,
  ids: readonly string[],
): Promise<ContactRow[]> {
  if (ids.length === 0) return []
  return await sql<ContactRow[]>`
    select ${columns(sql)}
    from contacts c
    where c.account_id = ${account_id} and c.mode = ${mode} and c.id = any (${[...ids]}::text[])`
}

export async function findOwners(
  sql: Db,
  { account_id, mode }: Tenant,
  kind: string,
  addresses: readonly string[],
): Promise<Map<string, ContactRow>> {
  const rows = await sql<(ContactRow & { address: string })[]>`
    select i.address, ${columns(sql)} from unnest(${addresses as string[]}::text[]) i(address)
    cross join lateral (
      select contact_id
      from contact_addresses
      where account_id = ${account_id} and mode = ${mode} and kind = ${kind} and address = i.address
      limit 1
    ) a
    cross join lateral (
      select *
      from contacts
      where account_id = ${account_id} and mode = ${mode} and id = a.contact_id
      limit 1) c`
  return new Map(rows.map(({ address, ...row }) => [address, row]))
}

/** In a fixed order. Violates `contact_addresses_pkey` when another contact has one. */
export async function insertAddresses(
  sql: Db,
  { account_id, mode }: Tenant,
  rows: readonly AddressRow[],
): Promise<void> {
  if (rows.length === 0) return
  if (rows.length >= bulkRows && (await insertAddressLines(sql, { account_id, mode }, rows))) return
  await sql`
    insert into contact_addresses (account_id, mode, kind, address, contact_id, blocked)
    select ${account_id}, ${mode}, kind, address, contact_id, blocked::boolean
    from unnest(${rows.map((row) => row.kind)}::text[], ${rows.map((row) => row.address)}::text[],
      ${rows.map((row) => row.contact_id)}::text[], ${rows.map((row) => String(row.blocked))}::text[])
      as t(kind, address, contact_id, blocked)
    order by kind collate "C", address collate "C"`
}

export async function deleteAddresses(
  sql: Db,
  { account_id, mode }: Tenant,
  rows: readonly (AddressKey & { contact_id: string })[],
): Promise<void> {
  if (rows.length === 0) return
  await sql`
    delete from contact_addresses a
    using json_to_recordset(${jsonRows(rows)}::text::json) as t(kind text, address text, contact_id text)
    where a.account_id = ${account_id}
      and a.mode = ${mode}
      and a.kind = t.kind
      and a.address = t.address
      and a.contact_id = t.contact_id`
}

export async function blockAddresses(
  sql: Db,
  { account_id, mode }: Tenant,
  rows: readonly AddressRow[],
): Promise<void> {
  if (rows.length === 0) return
  await sql`
    update contact_addresses a set blocked = t.blocked
    from json_to_recordset(${jsonRows(rows)}::text::json) as t(kind text, address text, contact_id text,
      blocked boolean)
    where a.account_id = ${account_id}
      and a.mode = ${mode}
      and a.kind = t.kind
      and a.address = t.address
      and a.contact_id = t.contact_id`
}

export async function insertContacts(
  sql: Db,
  { account_id, mode }: Tenant,
  rows: readonly ContactRow[],
): Promise<void> {
  if (rows.length === 0) return
  if (rows.length >= bulkRows && (await insertContactLines(sql, { account_id, mode }, rows))) return
  await sql`
    insert into contacts (account_id, mode, id, phone, phone_key, email, first_name, last_name, locale,
      timezone, country, external_id, identifiers, tags, attributes, metadata, consent, blocked, name_key,
      last_name_key, email_key, labels, last_seen_at, last_message_at, created_at, updated_at)
    select ${account_id}, ${mode}, id, phone, phone_key, email, first_name, last_name, locale, timezone,
      country, external_id, identifiers, tags, attributes, metadata, consent, blocked, name_key,
      last_name_key, email_key, labels, last_seen_at, last_message_at, created_at, updated_at
    from json_to_recordset(${withSearch(rows)}::text::json) ${sql.unsafe(recordset)}`
}

export async function updateContacts(
  sql: Db,
  { account_id, mode }: Tenant,
  rows: readonly ContactRow[],
): Promise<void> {
  if (rows.length === 0) return
  await sql`
    update contacts c
    set phone = t.phone, phone_key = t.phone_key, email = t.email, first_name = t.first_name,
      last_name = t.last_name, locale = t.locale, timezone = t.timezone, country = t.country,
      external_id = t.external_id, identifiers = t.identifiers, tags = t.tags, attributes = t.attributes,
      metadata = t.metadata, consent = t.consent, blocked = t.blocked, name_key = t.name_key,
      last_name_key = t.last_name_key, email_key = t.email_key, labels = t.labels,
      last_seen_at = t.last_seen_at, last_message_at = t.last_message_at, updated_at = t.updated_at
    from json_to_recordset(${withSearch(rows)}::text::json) ${sql.unsafe(recordset)}
    where c.account_id = ${account_id} and c.mode = ${mode} and c.id = t.id`
}

export async function deleteContact(sql: Db, { account_id, mode }: Tenant, id: string): Promise<void> {
  await sql`
    delete from contacts where account_id = ${account_id} and mode = ${mode} and id = ${id}`
}

/** Does not change `updated_at`. */
export async function touchSeen(
  sql: Db,
  { account_id, mode }: Tenant,
  rows: readonly { id: string; at: string }[],
): Promise<void> {
  if (rows.length === 0) return
  await sql`
    update contacts c
    set last_seen_at = greatest(c.last_seen_at, t.at), last_message_at = greatest(c.last_message_at, t.at)
    from (
      select id, max(at) as at
      from json_to_recordset(${jsonRows(rows)}::text::json) as r(id text, at timestamptz)
      group by id) t
    where c.account_id = ${account_id} and c.mode = ${mode} and c.id = t.id`
}

/** Locked in a fixed order. */
export async function touchMessaged(
  sql: Db,
  rows: readonly { account_id: string; mode: string; id: string; at: string }[],
): Promise<void> {
  await sql`
    with input as materialized (
      select *
      from json_to_recordset(${jsonRows(rows)}::text::json) as t(account_id text, mode text, id text,
        at timestamptz)),
    locked as materialized (
      select c.account_id, c.mode, c.id, i.at
      from contacts c
      join input i on i.account_id = c.account_id and i.mode = c.mode and i.id = c.id
      where c.last_message_at is null or c.last_message_at < i.at
      order by c.account_id, c.mode, c.id for update of c
    )
    update contacts c set last_message_at = greatest(c.last_message_at, l.at)
    from locked l where c.account_id = l.account_id and c.mode = l.mode and c.id = l.id`
}

export interface ContactFilters {
  readonly phone_key?: string
  readonly email_key?: string
  readonly external_id?: string
  readonly labels: readonly string[]
  readonly without: readonly string[]
  readonly list_id?: string
  readonly name_prefix?: string
  readonly phone_prefix?: string
  readonly created_after?: string
  readonly created_before?: string
  readonly id_from?: string
  readonly id_below?: string
  readonly updated_after?: string
}

/** Sorts after every text with this prefix, in collation "C". */
const end = (prefix: string): string => `${prefix}\u{10ffff}`

export interface Search {
  readonly filters: ContactFilters
  readonly segment: Condition | undefined
  /**
   * `few`: collect all matches by index, then sort. `many`: scan from the newest contact. The planner estimates tags
   * and prefixes badly.
   */
  readonly expected: 'few' | 'many' | undefined
}

function conditions(sql: Db, { account_id, mode }: Tenant, { filters, segment, expected }: Search): Condition[] {
  const found: Condition[] = []
  if (filters.phone_key !== undefined)
    found.push(
      sql`
        c.id = (
          select contact_id
          from contact_addresses
          where account_id = ${account_id}
            and mode = ${mode}
            and kind = 'phone'
            and address = ${filters.phone_key})`,
    )
  if (filters.email_key !== undefined)
    found.push(sql`(c.tenant = tenant_number(${account_id}, ${mode}) and c.email_key = ${filters.email_key})`)
  if (filters.external_id !== undefined)
    found.push(sql`(c.tenant = tenant_number(${account_id}, ${mode}) and c.external_id = ${filters.external_id})`)
  if (filters.labels.length > 0) found.push(sql`c.labels @> ${[...filters.labels]}::text[]`)
  if (filters.without.length > 0) found.push(sql`not c.labels && ${[...filters.without]}::text[]`)
  if (filters.list_id !== undefined)
    found.push(
      sql`
        c.id in (
          select contact_id
          from contact_list_members
          where account_id = ${account_id} and mode = ${mode} and list_id = ${filters.list_id})`,
    )
  if (filters.name_prefix !== undefined) found.push(prefixes(sql, { account_id, mode }, filters, expected === 'many'))
  if (filters.created_after !== undefined) found.push(sql`c.created_at > ${filters.created_after}`)
  if (filters.created_before !== undefined) found.push(sql`c.created_at < ${filters.created_before}`)
  if (filters.id_from !== undefined) found.push(sql`c.id >= ${filters.id_from}`)
  if (filters.id_below !== undefined) found.push(sql`c.id < ${filters.id_below}`)
  if (filters.updated_after !== undefined) found.push(sql`c.updated_at > ${filters.updated_after}`)
  if (segment !== undefined) found.push(segment)
  return found
}

/** Ranges start with the tenant number, as the indexes do. */
function prefixRanges(sql: Db, { account_id, mode }: Tenant, filters: ContactFilters): Condition[] {
  const name = filters.name_prefix!
  const own = sql`c.tenant = tenant_number(${account_id}, ${mode})`
  const ranges = [
    sql`(${own} and c.name_key >= ${name} and c.name_key < ${end(name)})`,
    sql`(${own} and c.last_name_key >= ${name} and c.last_name_key < ${end(name)})`,
    sql`(${own} and c.email_key >= ${name} and c.email_key < ${end(name)})`,
  ]
  return filters.phone_prefix === undefined
    ? ranges
    : [...ranges, sql`(${own} and c.phone >= ${filters.phone_prefix} and c.phone < ${end(filters.phone_prefix)})`]
}

/** `walked`: a coalesce, for which the planner uses no index and expects half of the rows, so that it scans. */
function prefixes(sql: Db, tenant: Tenant, filters: ContactFilters, walked: boolean): Condition {
  const either = prefixRanges(sql, tenant, filters).reduce((left, right) => sql`${left} or ${right}`)
  return walked ? sql`coalesce(${either}, false)` : sql`(${either})`
}

export async function countPrefix(
  sql: Db,
  { account_id, mode }: Tenant,
  filters: ContactFilters,
  most: number,
): Promise<number> {
  const counts: number[] = []
  for (const range of prefixRanges(sql, { account_id, mode }, filters)) {
    const [row] = await sql<{ total: number }[]>`
      select count(*) as total
      from (
        select 1
        from contacts c
        where c.account_id = ${account_id} and c.mode = ${mode} and ${range}
        limit ${most}) found`
    counts.push(row!.total)
  }
  return Math.max(...counts)
}

export async function listContacts(sql: Db, tenant: Tenant, search: Search, page: Page): Promise<ContactRow[]> {
  const { account_id, mode } = tenant
  const all = conditions(sql, tenant, search).reduce(
    (joined, condition) => sql`${joined} and ${condition}`,
    sql`c.account_id = ${account_id} and c.mode = ${mode}`,
  )
  const after = page.starting_after === undefined ? sql`` : sql`and c.id < ${page.starting_after}`
  if (search.expected === 'few') {
    return await sql<ContactRow[]>`
      with withinLimits as materialized (select c.id from contacts c where ${all} ${after}),
      shown as materialized (select id from withinLimits order by id desc limit ${page.limit + 1})
      select ${columns(sql)} from contacts c
      where c.account_id = ${account_id} and c.mode = ${mode} and c.id in (select id from shown)
      order by c.id desc`
  }
  return await sql<ContactRow[]>`
    select ${columns(sql)} from contacts c where ${all} ${after} order by c.id desc limit ${page.limit + 1}`
}

export async function idExisted(sql: Db, { account_id, mode }: Tenant, id: string): Promise<boolean> {
  const [row] = await sql<{ known: boolean }[]>`
    select exists (select 1 from contacts where account_id = ${account_id} and mode = ${mode} and id = ${id})
      or exists (
        select 1 from contact_lists where account_id = ${account_id} and mode = ${mode} and id = ${id})
      or exists (
        select 1 from contact_tombstones where account_id = ${account_id} and mode = ${mode} and id = ${id})
        as known`
  return row!.known
}

export async function insertTombstone(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  members_left: boolean,
): Promise<void> {
  await sql`
    insert into contact_tombstones (account_id, mode, id, members_left)
    values (${account_id}, ${mode}, ${id}, ${members_left})`
}

export async function defineNames(
  sql: Db,
  { account_id, mode }: Tenant,
  tags: readonly { key: string; name: string }[],
  attributes: readonly { key: string; type: AttributeType }[],
  at: string,
): Promise<void> {
  if (tags.length > 0) {
    await sql`
      insert into contact_tags (account_id, mode, key, name)
      select ${account_id}, ${mode}, t.key, t.name
      from json_to_recordset(${jsonRows(tags)}::text::json) as t(key text, name text)
      where not exists (
        select 1
        from contact_tags o
        where o.account_id = ${account_id} and o.mode = ${mode} and o.key = t.key)
      order by t.key on conflict on constraint contact_tags_pkey do nothing`
  }
  if (attributes.length > 0) {
    await sql`
      insert into contact_attributes (account_id, mode, key, type, created_at)
      select ${account_id}, ${mode}, t.key, t.type, ${at}
      from json_to_recordset(${jsonRows(attributes)}::text::json) as t(key text, type text)
      where not exists (
        select 1
        from contact_attributes o
        where o.account_id = ${account_id} and o.mode = ${mode} and o.key = t.key)
      order by t.key on conflict on constraint contact_attributes_pkey do nothing`
  }
}

export interface TagRow {
  readonly name: string
  readonly contacts_count: number
}

export async function listTags(
  sql: Db,
  { account_id, mode }: Tenant,
  after: string | undefined,
  limit: number,
): Promise<TagRow[]> {
  return await sql<TagRow[]>`
    select t.name, sum(c.delta)::bigint as contacts_count
    from contact_tags t
    join contact_counters c on c.account_id = t.account_id
      and c.mode = t.mode
      and c.kind = 'tag'
      and c.key = t.key
    where t.account_id = ${account_id}
      and t.mode = ${mode}
      ${after === undefined ? sql`` : sql`and t.key > ${after}`}
    group by t.key, t.name having sum(c.delta) > 0
    order by t.key limit ${limit}`
}

export interface AttributeRow {
  readonly key: string
  readonly type: AttributeType
  readonly contacts_count: number
}

export async function listAttributes(
  sql: Db,
  { account_id, mode }: Tenant,
  after: string | undefined,
  limit: number,
): Promise<AttributeRow[]> {
  return await sql<AttributeRow[]>`
    select a.key, coalesce(n.type, a.type) as type, coalesce(n.total, 0)::bigint as contacts_count
    from contact_attributes a
    left join lateral (
      select (array_agg(name order by amount desc, name))[1] as type, sum(amount) as total
      from (
        select name, sum(delta) as amount from contact_counters
        where account_id = a.account_id and mode = a.mode and kind = 'attribute' and key = a.key
        group by name having sum(delta) > 0
      ) by_type
    ) n on true
    where a.account_id = ${account_id}
      and a.mode = ${mode}
      ${after === undefined ? sql`` : sql`and a.key > ${after}`}
    order by a.key limit ${limit}`
}

export async function definedAttributes(
  sql: Db,
  { account_id, mode }: Tenant,
  keys: readonly string[],
): Promise<Set<string>> {
  if (keys.length === 0) return new Set()
  const rows = await sql<{ key: string }[]>`
    select key
    from contact_attributes
    where account_id = ${account_id} and mode = ${mode} and key = any (${[...keys]}::text[])`
  return new Set(rows.map(({ key }) => key))
}

/** Counted up to `most`. */
export async function countLabelled(
  sql: Db,
  { account_id, mode }: Tenant,
  labels: readonly string[],
  match: 'any' | 'all',
  most: number,
): Promise<number> {
  const fits = match === 'any' ? sql`c.labels && ${[...labels]}::text[]` : sql`c.labels @> ${[...labels]}::text[]`
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count
    from (
      select
      from contacts c
      where c.account_id = ${account_id} and c.mode = ${mode} and ${fits}
      limit ${most}) n`
  return row!.count
}

export async function tagExists(sql: Db, { account_id, mode }: Tenant, key: string): Promise<boolean> {
  return (
    (
      await sql`
      select 1 from contact_tags where account_id = ${account_id} and mode = ${mode} and key = ${key}`
    ).length > 0
  )
}

export async function attributeExists(sql: Db, { account_id, mode }: Tenant, key: string): Promise<boolean> {
  return (
    (
      await sql`
      select 1 from contact_attributes where account_id = ${account_id} and mode = ${mode} and key = ${key}`
    ).length > 0
  )
}
