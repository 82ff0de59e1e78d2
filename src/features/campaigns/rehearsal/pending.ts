/** Recipients of a snapshot who still wait, looked at as each is again just before it is sent to: whether the contact is still there and may still be written to. */
import type { SkipReason } from '../../../contract/resources/campaign.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Transaction } from '../../../platform/database/sql.ts'
import { addressKeyOf, findEligibility, marketingType, suppressionHash } from '../../contacts/service.ts'
import type { CampaignDeps } from '../deps.ts'
import type { CampaignRow } from '../rows.ts'
import { listPending, type PendingRow } from './rehearsal-store.ts'

/** The next `limit` of them above the number `after`. `marketing`: who has stopped marketing alone is unsubscribed too. */
export async function pendingRecipients(
  deps: CampaignDeps,
  sql: Transaction,
  row: CampaignRow,
  after: number,
  limit: number,
  marketing: boolean,
): Promise<PendingRow[]> {
  const waiting = await listPending(sql, row, after, limit)
  const unsent = waiting.filter(({ submitted }) => !submitted)
  const blocked = await blockedOf(deps, sql, row, unsent, marketing)
  const ids = unsent.flatMap(({ contact_id }) => (contact_id === null ? [] : [contact_id]))
  const contacts = new Map((await deps.contacts.rows(sql, row, ids)).map((contact) => [contact.id, contact]))
  return waiting.map((recipient) => {
    const { n, contact_id, submitted } = recipient
    if (submitted) return recipient
    const contact = contacts.get(contact_id ?? '')
    const reasons: [boolean, SkipReason][] = [
      [contact_id !== null && contact === undefined, 'contact_deleted'],
      [row.require_opt_in && contact?.consent[row.channel_type]?.status !== 'opted_in', 'not_opted_in'],
      [blocked.has(n), 'unsubscribed'],
    ]
    return { ...recipient, skip_reason: reasons.find(([holds]) => holds)?.[1] ?? null }
  })
}

/** The numbers of those who may not be written to. */
async function blockedOf(
  { platform: { secrets, clock } }: CampaignDeps,
  sql: Transaction,
  row: CampaignRow,
  recipients: readonly PendingRow[],
  marketing: boolean,
): Promise<ReadonlySet<number>> {
  const { account_id, mode, channel_id } = row
  const blocked = new Set<number>()
  for (const channel_type of [row.channel_type, ...(marketing ? [marketingType(row.channel_type)] : [])]) {
    const keys = recipients.map(({ to }) => {
      const { kind, address } = addressKeyOf(row.channel_type, to)
      return { account_id, mode, channel_id, channel_type, kind, address, suppression: suppressionHash(secrets, row, channel_type, address), windowed: false }
    })
    const found = await findEligibility(sql, keys, isoTime(clock.now()))
    for (const [i, { verdict }] of found.entries()) if (verdict === 'recipient_blocked') blocked.add(recipients[i]!.n)
  }
  return blocked
}
