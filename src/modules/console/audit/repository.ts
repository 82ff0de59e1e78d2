/** SQL of the audit log. Rows are never updated, and deleted after a year. */
import type { Db } from '../../../platform/database/sql.ts'
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

export async function listAudit(sql: Db, account_id: string, filters: AuditFilters, page: Page): Promise<AuditRow[]> {
  const { actor, object_id, created_after, created_before } = filters
  return await sql<AuditRow[]>`
    select account_id, id, actor_type, actor_id, impersonator_id, action, object_id, changes, address,
      request_id, created_at
    from audit_entries
    where account_id = ${account_id}
      ${page.starting_after === undefined ? sql`` : sql`and id < ${page.starting_after}`}
      ${actor === undefined ? sql`` : sql`and (actor_id = ${actor} or impersonator_id = ${actor})`}
      ${object_id === undefined ? sql`` : sql`and object_id = ${object_id}`}
      ${created_after === undefined ? sql`` : sql`and created_at > ${created_after}`}
      ${created_before === undefined ? sql`` : sql`and created_at < ${created_before}`}
    order by id desc
    limit ${page.limit + 1}`
}

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
