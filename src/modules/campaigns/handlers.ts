/** Handles domain events in the transactions that publish them. */
import type { DomainEventPayloads } from '../../api/domain-events.ts'
import type { FailureReason } from '../../api/resources/campaign.ts'
import { skipContacts, skipUnsubscribed } from './recipient-repository.ts'
import { lockActive } from './repository.ts'
import { toFailed, transition } from './transitions.ts'
import { type Db, transact, type Transaction } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'

export const skipOptedOut = (sql: Db, events: readonly DomainEventPayloads['opted_out'][]): Promise<void> =>
  skipUnsubscribed(sql, events)

export const skipDeletedContacts = (
  sql: Db,
  events: readonly DomainEventPayloads['contact_deleted'][],
): Promise<void> => skipContacts(sql, events)

export const failCampaignsOfChannel =
  (platform: Platform) =>
  async (sql: Db, events: readonly DomainEventPayloads['channel_deleted'][]): Promise<void> => {
    for (const event of events) await failAll(platform, sql, event.account_id, event, 'channel_deleted')
  }

export const failCampaignsOfAccount =
  (platform: Platform) =>
  async (sql: Db, events: readonly DomainEventPayloads['account_suspended'][]): Promise<void> => {
    for (const { account_id } of events) await failAll(platform, sql, account_id, null, 'account_suspended')
  }

/** The sending worker cancels the unsent recipients. */
async function failAll(
  platform: Platform,
  sql: Db,
  account_id: string,
  channel: Parameters<typeof lockActive>[2],
  reason: FailureReason,
): Promise<void> {
  await transact(sql, async (tx: Transaction) => {
    for (const row of await lockActive(tx, account_id, channel)) await transition(tx, platform, row, toFailed(reason))
  })
  platform.notify('campaigns', 'fan-out')
}
