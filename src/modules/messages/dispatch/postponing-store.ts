/** SQL of messages that may not go before some time. */
import type { Tenant } from '../../../api/caller.ts'
import { jsonRows, type Db } from '../../../platform/database/sql.ts'

/** A message that is in the hand of this process, and is not to go before `next_run_at`. */
export interface Postponed extends Tenant {
  readonly message_id: string
  readonly next_run_at: string
}

/** Gives messages back until their time, uncounted: it is their `send_at` from then on, from which their validity counts. Messages are locked before their jobs, as everywhere. */
export async function postponeMessages(sql: Db, process_id: string, postponed: readonly Postponed[]): Promise<void> {
  if (postponed.length === 0) return
  await sql`
    with held as materialized (
      select m.id, t.next_run_at from json_to_recordset(${jsonRows(postponed)}::text::json) as t(account_id text, mode text, message_id text, next_run_at timestamptz)
      join messages m on m.account_id = t.account_id and m.mode = t.mode and m.id = t.message_id
      where m.status in ('queued', 'sending') order by m.id for update of m
    ),
    returned as (
      update dispatch_jobs j set next_run_at = h.next_run_at, process_id = null from held h where j.message_id = h.id and j.process_id = ${process_id}
      returning j.account_id, j.mode, j.message_id, j.next_run_at
    )
    update messages m set send_at = r.next_run_at from returned r where m.account_id = r.account_id and m.mode = r.mode and m.id = r.message_id`
}
