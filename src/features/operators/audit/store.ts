/** SQL of the audit log: rows are added and, after a year, forgotten; never changed. */
import type { Db } from '../../../platform/database/sql.ts'

export interface AuditRow {
  readonly account_id: string
  readonly id: string
  readonly actor_type: 'user' | 'api_key' | 'command'
  readonly actor_id: string
  readonly impersonator_id: string | null
  /** An operation's name, such as `campaigns.launch`. */
  readonly action: string
  readonly object_id: string | null
  /** The fields that were changed, as they are now; secrets masked. */
  readonly changes: Readonly<Record<string, unknown>>
  readonly address: string | null
  readonly request_id: string | null
  readonly created_at: string
}

/** Adds an entry, in the transaction of the change that it tells of. */
export async function insertAudit(tx: Db, row: AuditRow): Promise<void> {
  await tx`
    insert into audit_entries (account_id, id, actor_type, actor_id, impersonator_id, action, object_id, changes, address, request_id, created_at)
    values (${row.account_id}, ${row.id}, ${row.actor_type}, ${row.actor_id}, ${row.impersonator_id}, ${row.action}, ${row.object_id},
            ${JSON.stringify(row.changes)}::text::json, ${row.address}, ${row.request_id}, ${row.created_at})`
}
