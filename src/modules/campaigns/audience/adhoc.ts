/** The recipients of an ad-hoc audience, each with its skip reason. */
import type { SkipReason } from '../../../api/resources/campaign.ts'
import { contactsById, recipientEligibility } from './eligibility.ts'
import { type AdhocRecipients, type CampaignRow, trimmedNames } from '../campaign.ts'
import type { CampaignDeps } from '../deps.ts'
import type { NewRecipient } from '../recipient-repository.ts'
import { addressKeyOf, fullName } from '../../contacts/service.ts'
import { recipientFailures } from '../../messages/service.ts'
import type { Db } from '../../../platform/database/sql.ts'

export const addressesOf = (channel_type: string, adhoc: AdhocRecipients): string[] =>
  adhoc.map(({ to }) => addressKeyOf(channel_type, to).address)

const chunkRows = 250

export async function* adhocChunks(
  deps: CampaignDeps,
  sql: Db,
  row: CampaignRow,
  adhoc: AdhocRecipients,
  marketing: boolean,
  from = 0,
): AsyncGenerator<NewRecipient[], undefined> {
  const before = new Set(addressesOf(row.channel_type, adhoc.slice(0, from)))
  for (let at = from; at < adhoc.length; at += chunkRows) {
    const recipients = await adhocRecipients(deps, sql, row, adhoc.slice(at, at + chunkRows), marketing, before)
    for (const { address } of recipients) before.add(address)
    yield recipients
  }
}

/** In order. `marketing`: opt-outs from marketing count too. `before`: the addresses of earlier recipients. */
export async function adhocRecipients(
  deps: CampaignDeps,
  sql: Db,
  row: CampaignRow,
  adhoc: AdhocRecipients,
  marketing: boolean,
  before: ReadonlySet<string> = new Set(),
): Promise<NewRecipient[]> {
  const to = adhoc.map((recipient) => recipient.to)
  const found = await recipientEligibility(deps, sql, row, to, marketing)
  const known = await contactsById(deps, sql, row, found)
  const seen = new Set(before)
  return adhoc.map((recipient, i): NewRecipient => {
    const { to, first_name = null, last_name = null, variables = null } = recipient
    const { address, contact_id, blocked } = found[i]!
    const contact = known.get(contact_id ?? '')
    const duplicate = seen.has(address)
    seen.add(address)
    const opted_in = contact?.consent[row.channel_type]?.status === 'opted_in'
    const reasons: [boolean, SkipReason][] = [
      [recipientFailures(row.channel_type, to).length > 0, 'invalid_identifier'],
      [duplicate, 'duplicate'],
      [blocked, 'unsubscribed'],
      [row.require_opt_in && !opted_in, 'not_opted_in'],
    ]
    return {
      contact_id: contact?.id ?? null,
      to,
      address,
      name: fullName(trimmedNames(recipient)) ?? contact?.full_name ?? null,
      first_name,
      last_name,
      variables,
      timezone: row.recipient_timezone ? (contact?.timezone ?? '') : '',
      skip_reason: reasons.find(([holds]) => holds)?.[1] ?? null,
    }
  })
}
