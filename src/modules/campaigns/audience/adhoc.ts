/** The recipients of an ad-hoc audience: who of them can be written to, and who not and why. Told alike by the snapshot and by a rehearsal. */
import type { SkipReason } from '../../../api/resources/campaign.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { addressKeyOf, fullName } from '../../contacts/service.ts'
import { checkRecipient } from '../../messages/service.ts'
import { contactsById } from '../contacts-by-id.ts'
import type { CampaignDeps } from '../deps.ts'
import { recipientEligibility } from '../eligibility.ts'
import { givenNames } from '../names.ts'
import type { NewRecipient } from '../recipient-store.ts'
import type { AdhocRecipients, CampaignRow } from '../rows.ts'

/** The addresses by which duplicates are told. */
export const addressesOf = (channel_type: string, given: AdhocRecipients): string[] =>
  given.map(({ to }) => addressKeyOf(channel_type, to).address)

/** Each of them is looked at here and not in the database: that many take some milliseconds. */
const chunkRows = 250

/** All of them, or those from number `from` on (counted from 0), as `adhocRecipients` tells them, some hundred at a time. */
export async function* adhocChunks(
  deps: CampaignDeps,
  sql: Db,
  row: CampaignRow,
  given: AdhocRecipients,
  marketing: boolean,
  from = 0,
): AsyncGenerator<NewRecipient[], undefined> {
  const before = new Set(addressesOf(row.channel_type, given.slice(0, from)))
  for (let at = from; at < given.length; at += chunkRows) {
    const recipients = await adhocRecipients(deps, sql, row, given.slice(at, at + chunkRows), marketing, before)
    for (const { address } of recipients) before.add(address)
    yield recipients
  }
}

/**
 * Each recipient as it is to be kept, in the order given. `marketing`: who has stopped marketing alone is unsubscribed too. `before`: the addresses of recipients that
 * stand before these.
 */
export async function adhocRecipients(
  deps: CampaignDeps,
  sql: Db,
  row: CampaignRow,
  given: AdhocRecipients,
  marketing: boolean,
  before: ReadonlySet<string> = new Set(),
): Promise<NewRecipient[]> {
  const to = given.map((recipient) => recipient.to)
  const found = await recipientEligibility(deps, sql, row, to, marketing)
  const known = await contactsById(deps, sql, row, found)
  const seen = new Set(before)
  return given.map((recipient, i): NewRecipient => {
    const { to, first_name = null, last_name = null, variables = null } = recipient
    const { address, contact_id, blocked } = found[i]!
    const contact = known.get(contact_id ?? '')
    const duplicate = seen.has(address)
    seen.add(address)
    const opted_in = contact?.consent[row.channel_type]?.status === 'opted_in'
    const reasons: [boolean, SkipReason][] = [
      [checkRecipient(row.channel_type, to).length > 0, 'invalid_identifier'],
      [duplicate, 'duplicate'],
      [blocked, 'unsubscribed'],
      [row.require_opt_in && !opted_in, 'not_opted_in'],
    ]
    return {
      contact_id: contact?.id ?? null,
      to,
      address,
      name: fullName(givenNames(recipient)) ?? contact?.full_name ?? null,
      first_name,
      last_name,
      variables,
      timezone: row.recipient_timezone ? (contact?.timezone ?? '') : '',
      skip_reason: reasons.find(([holds]) => holds)?.[1] ?? null,
    }
  })
}
