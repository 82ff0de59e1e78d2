/** Recipients of a snapshot who still wait, looked at as each is again just before it is sent to: whether the contact is still there and may still be written to. */
import type { SkipReason } from '../../../api/resources/campaign.ts'
import type { Transaction } from '../../../platform/database/sql.ts'
import { hasStopped } from '../../contacts/service.ts'
import { contactsById } from '../contacts-by-id.ts'
import type { CampaignDeps } from '../deps.ts'
import { recipientEligibility } from '../eligibility.ts'
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
  const to = unsent.map((recipient) => recipient.to)
  const eligibility = await recipientEligibility(deps, sql, row, to, marketing)
  const blocked = new Set(unsent.filter((_, i) => eligibility[i]!.blocked).map(({ n }) => n))
  const contacts = await contactsById(deps, sql, row, unsent)
  return waiting.map((recipient) => {
    const { n, contact_id, submitted } = recipient
    if (submitted) return recipient
    const contact = contacts.get(contact_id ?? '')
    const reasons: [boolean, SkipReason][] = [
      [contact_id !== null && contact === undefined, 'contact_deleted'],
      [row.require_opt_in && contact?.consent[row.channel_type]?.status !== 'opted_in', 'not_opted_in'],
      [blocked.has(n) || (contact !== undefined && hasStopped(contact, row.channel_type, marketing)), 'unsubscribed'],
    ]
    return { ...recipient, skip_reason: reasons.find(([holds]) => holds)?.[1] ?? null }
  })
}
