/** Entries about a person: in the audit log of every account that they are a member of (behaviour: console-records 1.5). */
import { isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { listMemberships } from '../people/store.ts'
import { insertAudit, type AuditRow } from './store.ts'

export type UserEntry = Omit<AuditRow, 'account_id' | 'id' | 'impersonator_id' | 'created_at'>

/** Adds an entry about a user to each of their accounts, in the transaction of the change that it tells of. */
export async function auditUser(
  tx: Db,
  { ids, clock }: Pick<Platform, 'ids' | 'clock'>,
  user_id: string,
  entry: UserEntry,
): Promise<void> {
  const created_at = isoTime(clock.now())
  for (const { account_id } of await listMemberships(tx, user_id))
    await insertAudit(tx, { ...entry, account_id, id: ids('aud'), impersonator_id: null, created_at })
}
