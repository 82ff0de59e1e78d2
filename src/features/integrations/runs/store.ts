/** SQL of `automation_runs`. */
import type { Tenant } from '../../../contract/caller.ts'
import type { Db } from '../../../platform/database/sql.ts'

/** Why a run was cancelled before its message was made. */
export type CancelReason = 'source_disabled' | 'source_deleted'

/** Cancels what waits of a source: runs that have no message yet. */
export async function cancelRunsOfSource(sql: Db, { account_id, mode }: Tenant, source_id: string, reason: CancelReason): Promise<void> {
  await sql`
    update automation_runs set status = 'cancelled', reason = ${reason}, due_at = null
    where account_id = ${account_id} and mode = ${mode} and source_id = ${source_id} and status = 'scheduled' and message_id is null`
}
