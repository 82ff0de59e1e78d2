/** SQL of the audit log. Rows are never updated, and deleted after a year. */
import { idFloor } from '../../../lib/ids.ts'
import type { Db, Fragment } from '../../../platform/database/sql.ts'
import type { Page } from '../../../platform/http/paging.ts'

export interface AuditRow {
  readonly account_id: string
  readonly id: string
  readonly actor_type: 'user' | 'api_key' | 'command'
  readonly actor_id: string
  readonly impersonator_id: string | null
  /** An operation's name, such as `campaigns.launch`. */
  readonly action: string
  readonly object_id: string | null
  /** The new values of the changed fields; secrets are masked. */
  readonly changes: Readonly<Record<string, unknown>>
  readonly address: string | null
  readonly request_id: string | null
  readonly created_at: string
}

/** Call in the transaction of the change. */
export async function insertAudit(tx: Db, row: AuditRow): Promise<void> {
  await tx`
    insert into audit_entries (account_id, id, actor_type, actor_id, impersonator_id, action, object_id,
      changes, address, request_id, created_at)
    values (${row.account_id}, ${row.id}, ${row.actor_type}, ${row.actor_id}, ${row.impersonator_id},
      ${row.action}, ${row.object_id}, ${JSON.stringify(row.changes)}::text::json, ${row.address},
      ${row.request_id}, ${row.created_at})`
}

export interface AuditFilters {
  /** The acting user, or the impersonated one. */
  readonly actor?: string
  readonly object_id?: string
  readonly created_after?: string
  readonly created_before?: string
}

/** The id of an entry is made within this time of its `created_at`. */
const idSlackMs = 10 * 60_000

/** Newest first. Filters lead the order, as in the request log, and times become ranges of ids. */
export async function listAudit(sql: Db, account_id: string, filters: AuditFilters, page: Page): Promise<AuditRow[]> {
  const { actor, object_id, created_after, created_before } = filters
  const from = bound(created_after, -idSlackMs)
  const to = bound(created_before, idSlackMs)
  const matching = (filter: Fragment, order: Fragment) => sql<AuditRow[]>`
    select account_id, id, actor_type, actor_id, impersonator_id, action, object_id, changes, address,
      request_id, created_at
    from audit_entries
    where account_id = ${account_id}
      ${page.starting_after === undefined ? sql`` : sql`and id < ${page.starting_after}`}
      ${from === undefined ? sql`` : sql`and id >= ${from} and created_at > ${created_after!}`}
      ${to === undefined ? sql`` : sql`and id < ${to} and created_at < ${created_before!}`}
      ${filter}
    order by ${order}
    limit ${page.limit + 1}`
  if (object_id !== undefined)
    return await matching(
      sql`and object_id = any(array[${object_id}]) ${actor === undefined ? sql`` : sql`and (actor_id = ${actor} or impersonator_id = ${actor})`}`,
      sql`object_id desc, id desc`,
    )
  if (actor === undefined) return await matching(sql``, sql`id desc`)
  const asActor = matching(sql`and actor_id = any(array[${actor}])`, sql`actor_id desc, id desc`)
  const asImpersonator = matching(
    sql`and impersonator_id is not null and impersonator_id = any(array[${actor}]) and actor_id <> ${actor}`,
    sql`impersonator_id desc, id desc`,
  )
  return await sql<AuditRow[]>`
    select *
    from ((${asActor}) union all (${asImpersonator})) e
    order by id desc
    limit ${page.limit + 1}`
}

const bound = (time: string | undefined, shift_ms: number): string | undefined =>
  time === undefined ? undefined : idFloor('aud', Math.max(0, Date.parse(time) + shift_ms))

export async function auditExists(sql: Db, account_id: string, id: string): Promise<boolean> {
  const rows = await sql`select 1 as found from audit_entries where account_id = ${account_id} and id = ${id}`
  return rows.length > 0
}

export async function forgetAudit(sql: Db, older_than: string, rows_max: number): Promise<number> {
  const { count } = await sql`
    delete from audit_entries
    where ctid = any (array(
      select ctid from audit_entries where created_at < ${older_than} order by created_at limit ${rows_max}))`
  return count
}
