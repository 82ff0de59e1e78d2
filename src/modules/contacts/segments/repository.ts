/** SQL of segments and of the contacts that match them. */
import type { Tenant } from '../../../api/caller.ts'
import type { Segment } from '../../../api/resources/segment.ts'
import type { Db, Transaction } from '../../../platform/database/sql.ts'
import type { Page } from '../../../platform/http/paging.ts'
import { phoneChannelTypes } from '../addresses.ts'
import type { Fragment } from './predicate-repository.ts'

const columns = (sql: Db) => sql`account_id, mode, id, name, description, rules, created_at, updated_at`

export async function insertSegment(sql: Db, row: SegmentRow): Promise<void> {
  await sql`
    insert into segments (account_id, mode, id, name, description, rules, created_at, updated_at)
    values (${row.account_id}, ${row.mode}, ${row.id}, ${row.name}, ${row.description},
      ${JSON.stringify(row.rules)}::text::json, ${row.created_at}, ${row.updated_at})`
}

export async function updateSegment(sql: Db, row: SegmentRow): Promise<void> {
  await sql`
    update segments
    set name = ${row.name}, description = ${row.description},
      rules = ${JSON.stringify(row.rules)}::text::json, updated_at = ${row.updated_at}
    where account_id = ${row.account_id} and mode = ${row.mode} and id = ${row.id}`
}

export async function deleteSegment(sql: Db, { account_id, mode }: Tenant, id: string): Promise<boolean> {
  const { count } = await sql`
    delete from segments where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return count > 0
}

export async function findSegment(sql: Db, { account_id, mode }: Tenant, id: string): Promise<SegmentRow | null> {
  const [row] = await sql<SegmentRow[]>`
    select ${columns(sql)} from segments where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return row ?? null
}

/** Changes with every update of the row. */
export async function findVersion(sql: Db, { account_id, mode }: Tenant, id: string): Promise<string | null> {
  const [row] = await sql<{ version: string }[]>`
    select xmin::text as version
    from segments
    where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return row?.version ?? null
}

export async function findVersioned(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
): Promise<{ version: string; rules: string } | null> {
  const [row] = await sql<{ version: string; rules: string }[]>`
    select xmin::text as version, rules::text as rules
    from segments
    where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return row ?? null
}

export async function lockSegment(
  sql: Transaction,
  { account_id, mode }: Tenant,
  id: string,
): Promise<SegmentRow | null> {
  const [row] = await sql<SegmentRow[]>`
    select ${columns(sql)}
    from segments
    where account_id = ${account_id} and mode = ${mode} and id = ${id} for update`
  return row ?? null
}

export async function listSegments(sql: Db, { account_id, mode }: Tenant, page: Page): Promise<SegmentRow[]> {
  return await sql<SegmentRow[]>`
    select ${columns(sql)} from segments
    where account_id = ${account_id}
      and mode = ${mode}
      ${page.starting_after === undefined ? sql`` : sql`and id < ${page.starting_after}`}
    order by id desc limit ${page.limit + 1}`
}

export async function findExistingLists(
  sql: Db,
  { account_id, mode }: Tenant,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await sql<{ id: string }[]>`
    select id
    from contact_lists
    where account_id = ${account_id} and mode = ${mode} and id = any(${[...ids]}::text[])`
  return new Set(rows.map((row) => row.id))
}

/** For hashing list members: with the default, a list of a million is probed contact by contact. */
const countingMemory = '96MB'

export interface Count {
  readonly count: number
  readonly reachable: Record<string, number>
}

export async function countContacts(
  sql: Transaction,
  { account_id, mode }: Tenant,
  where: Fragment,
  channelTypes: readonly string[],
): Promise<Count> {
  await sql`select set_config('work_mem', ${countingMemory}, true)`
  const reachable = channelTypes.map(
    (type) =>
      sql`, count(*) filter (where not c.blocked and ${hasAddress(sql, type)} and not c.labels && ${[`c:${type}:opted_out`]}::text[]) as ${sql(type)}`,
  )
  const [row] = await sql<Record<string, number>[]>`
    select count(*) as contacts ${reachable}
    from contacts c
    where c.account_id = ${account_id} and c.mode = ${mode} and ${where}`
  const { contacts, ...counts } = row!
  return { count: contacts!, reachable: counts }
}

function hasAddress(sql: Db, type: string): Fragment {
  return phoneChannelTypes.includes(type)
    ? sql`(c.phone is not null or c.identifiers ? ${type}::text)`
    : sql`c.identifiers ? ${type}::text`
}

/** With custom plans, so that long lists of values are hashed. */
export async function pageOfMembers(
  sql: Transaction,
  { account_id, mode }: Tenant,
  where: Fragment,
  after: string,
  limit: number,
): Promise<string[]> {
  await sql`select set_config('plan_cache_mode', 'force_custom_plan', true)`
  const rows = await sql<{ id: string }[]>`
    select c.id
    from contacts c
    where c.account_id = ${account_id} and c.mode = ${mode} and c.id > ${after} and ${where}
    order by c.id limit ${limit}`
  return rows.map((row) => row.id)
}

export interface SegmentRow extends Omit<Segment, 'object' | 'mode'> {
  account_id: string
  mode: 'live' | 'test'
}
