/** SQL of messages that are withdrawn. */
import type { Tenant } from '../../api/caller.ts'
import type { Db } from '../../platform/database/sql.ts'

/**
 * Locks those of these messages that are with no provider: `queued`, or `sending` and back in nobody's hand, with nothing of them taken and no hand-over in doubt. What another transaction
 * holds is passed over. Messages are locked before their jobs, as everywhere.
 */
export async function lockWithdrawable(
  tx: Db,
  { account_id, mode }: Tenant,
  ids: readonly string[],
): Promise<{ id: string; status: 'queued' | 'sending' }[]> {
  if (ids.length === 0) return []
  return await tx<{ id: string; status: 'queued' | 'sending' }[]>`
    with held as materialized (
      select id, status from messages
      where account_id = ${account_id} and mode = ${mode} and id = any (${[...ids]}::text[]) and status in ('queued', 'sending') order by id for update skip locked
    ),
    returned as materialized (
      select j.message_id from held h join dispatch_jobs j on j.message_id = h.id
      where h.status = 'sending' and j.process_id is null and not j.outcome_unknown and j.accepted_ids is null for update of j skip locked
    )
    select id, status from held where status = 'queued' or id in (select message_id from returned)`
}
