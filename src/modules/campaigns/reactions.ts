/** What campaigns do about facts of other features, in the transactions of those facts: an opt-out, a deleted contact or channel, a suspended account. */
import type { FactPayloads } from '../../api/domain-events.ts'
import type { FailureReason } from '../../api/resources/campaign.ts'
import { transact, type Db, type Transaction } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { failedRow, move } from './lifecycle/moves.ts'
import { skipContacts, skipUnsubscribed } from './recipient-store.ts'
import { lockActive } from './store.ts'

/** Who may not be written to any more gets no message of any campaign on that channel type. */
export const leaveOutUnsubscribed = (sql: Db, facts: readonly FactPayloads['opted_out'][]): Promise<void> =>
  skipUnsubscribed(sql, facts)

/** Who is a contact no more gets no message of any campaign. */
export const leaveOutDeleted = (sql: Db, facts: readonly FactPayloads['contact_deleted'][]): Promise<void> =>
  skipContacts(sql, facts)

export const failOfChannel =
  (platform: Platform) =>
  async (sql: Db, facts: readonly FactPayloads['channel_deleted'][]): Promise<void> => {
    for (const fact of facts) await failAll(platform, sql, fact.account_id, fact, 'channel_deleted')
  }

export const failOfAccount =
  (platform: Platform) =>
  async (sql: Db, facts: readonly FactPayloads['account_suspended'][]): Promise<void> => {
    for (const { account_id } of facts) await failAll(platform, sql, account_id, null, 'account_suspended')
  }

/** Who got no message is cancelled by the worker. */
async function failAll(
  platform: Platform,
  sql: Db,
  account_id: string,
  channel: Parameters<typeof lockActive>[2],
  reason: FailureReason,
): Promise<void> {
  await transact(sql, async (tx: Transaction) => {
    for (const row of await lockActive(tx, account_id, channel)) await move(tx, platform, row, failedRow(reason))
  })
  platform.notify('campaigns', 'fan-out')
}
