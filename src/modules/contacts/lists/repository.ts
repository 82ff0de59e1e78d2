/** SQL of contact lists and their members. */
import type { Tenant } from '../../../api/caller.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { Page } from '../../../platform/http/paging.ts'

const shown = (sql: Db) => sql`l.id, l.mode, l.name, l.description, l.metadata, l.created_at, l.updated_at,
  (
    select coalesce(sum(delta), 0)::bigint
    from contact_counters
    where account_id = l.account_id and mode = l.mode and kind = 'list' and key = l.id) as contacts_count`

export interface ListFields {
  readonly name: string
  readonly description: string
  readonly metadata: Readonly<Record<string, unknown>>
}

export async function insertList(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  fields: ListFields,
  at: string,
): Promise<void> {
  await sql`
    insert into contact_lists (account_id, mode, id, name, description, metadata, created_at, updated_at)
    values (${account_id}, ${mode}, ${id}, ${fields.name}, ${fields.description},
      ${JSON.stringify(fields.metadata)}::text::json, ${at}, ${at})`
}

export async function findList(sql: Db, { account_id, mode }: Tenant, id: string): Promise<ListRow | null> {
  const [row] = await sql<ListRow[]>`
    select ${shown(sql)}
    from contact_lists l
    where l.account_id = ${account_id} and l.mode = ${mode} and l.id = ${id}`
  return row ?? null
}

export async function listLists(sql: Db, { account_id, mode }: Tenant, page: Page): Promise<ListRow[]> {
  return await sql<ListRow[]>`
    select ${shown(sql)} from contact_lists l
    where l.account_id = ${account_id}
      and l.mode = ${mode}
      ${page.starting_after === undefined ? sql`` : sql`and l.id < ${page.starting_after}`}
    order by l.id desc limit ${page.limit + 1}`
}

export async function updateList(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  fields: Partial<ListFields>,
  at: string,
): Promise<boolean> {
  const result = await sql`
    update contact_lists set
      name = coalesce(${fields.name ?? null}, name),
      description = coalesce(${fields.description ?? null}, description),
      metadata = coalesce(${fields.metadata === undefined ? null : JSON.stringify(fields.metadata)}::text::json,
      metadata), updated_at = ${at}
    where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return result.count > 0
}

export async function deleteList(sql: Db, { account_id, mode }: Tenant, id: string): Promise<boolean> {
  const { count } = await sql`
    delete from contact_lists where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return count > 0
}

/** False when it does not exist. */
export async function lockList(sql: Db, { account_id, mode }: Tenant, id: string): Promise<boolean> {
  const rows = await sql`
    select 1
    from contact_lists
    where account_id = ${account_id} and mode = ${mode} and id = ${id} for key share`
  return rows.length > 0
}

/** Against deletion. Returns those that exist. */
export async function lockContacts(sql: Db, { account_id, mode }: Tenant, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id
    from contacts
    where account_id = ${account_id} and mode = ${mode} and id = any (${[...ids]}::text[])
    order by id for key share`
  return rows.map((row) => row.id)
}

/** Lock the contacts first. Returns the number of new members. */
export async function insertMembers(
  sql: Db,
  { account_id, mode }: Tenant,
  listId: string,
  contactIds: readonly string[],
  at: string,
): Promise<number> {
  const result = await sql`
    insert into contact_list_members (account_id, mode, list_id, contact_id, created_at)
    select ${account_id}, ${mode}, ${listId}, id, ${at}
    from unnest(${[...contactIds]}::text[]) as t(id)
    order by id
    on conflict on constraint contact_list_members_pkey do nothing`
  return result.count
}

export async function deleteMembers(
  sql: Db,
  { account_id, mode }: Tenant,
  listId: string,
  contactIds: readonly string[],
): Promise<number> {
  const result = await sql`
    delete from contact_list_members
    where account_id = ${account_id}
      and mode = ${mode}
      and list_id = ${listId}
      and contact_id = any (${[...contactIds]}::text[])`
  return result.count
}

export async function deleteMemberships(sql: Db, { account_id, mode }: Tenant, contactId: string): Promise<string[]> {
  const rows = await sql<{ list_id: string }[]>`
    delete from contact_list_members
    where account_id = ${account_id} and mode = ${mode} and contact_id = ${contactId}
    returning list_id`
  return rows.map((row) => row.list_id)
}

export async function findEmptying(sql: Db): Promise<{ account_id: string; mode: 'live' | 'test'; id: string } | null> {
  const [row] = await sql<{ account_id: string; mode: 'live' | 'test'; id: string }[]>`
    select account_id, mode, id from contact_tombstones where members_left order by id limit 1`
  return row ?? null
}

export async function deleteSomeMembers(
  sql: Db,
  { account_id, mode }: Tenant,
  listId: string,
  limit: number,
): Promise<number> {
  const result = await sql`
    delete from contact_list_members
    where account_id = ${account_id} and mode = ${mode} and list_id = ${listId} and contact_id in (
      select contact_id
      from contact_list_members
      where account_id = ${account_id} and mode = ${mode} and list_id = ${listId}
      limit ${limit})`
  return result.count
}

export async function finishEmptying(sql: Db, { account_id, mode }: Tenant, listId: string): Promise<void> {
  await sql`
    delete from contact_counters
    where account_id = ${account_id} and mode = ${mode} and kind = 'list' and key = ${listId}`
  await sql`
    update contact_tombstones
    set members_left = false
    where account_id = ${account_id} and mode = ${mode} and id = ${listId}`
}

export interface ListRow {
  readonly id: string
  readonly mode: 'live' | 'test'
  readonly name: string
  readonly description: string
  readonly metadata: Record<string, unknown>
  readonly contacts_count: number
  readonly created_at: string
  readonly updated_at: string
}
