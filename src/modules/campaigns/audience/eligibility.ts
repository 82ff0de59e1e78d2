/** Whether recipients may be written to, without sending a message. */
import type { Tenant } from '../../../api/caller.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { CampaignRow } from '../campaign.ts'
import type { CampaignDeps } from '../deps.ts'
import {
  addressKeyOf,
  type ContactRow,
  findEligibility,
  marketingType,
  suppressionHash,
} from '../../contacts/service.ts'
import type { Db } from '../../../platform/database/sql.ts'

export interface RecipientEligibility {
  readonly address: string
  readonly contact_id: string | null
  readonly blocked: boolean
}

/** One result per `to`, in order. `marketing`: opt-outs from marketing count too. */
export async function recipientEligibility(
  { platform: { secrets, clock } }: CampaignDeps,
  sql: Db,
  { account_id, mode, channel_id, channel_type: type }: CampaignRow,
  to: readonly string[],
  marketing: boolean,
): Promise<RecipientEligibility[]> {
  const keys = to.map((one) => addressKeyOf(type, one))
  const at = isoTime(clock.now())
  const find = (channel_type: string) => {
    const suppressionOf = (address: string) => suppressionHash(secrets, { account_id, mode }, channel_type, address)
    const queries = keys.map(({ kind, address }) => {
      return {
        account_id,
        mode,
        channel_id,
        channel_type,
        kind,
        address,
        suppression: suppressionOf(address),
        windowed: false,
      }
    })
    return findEligibility(sql, queries, at)
  }
  const found = await find(type)
  const stopped = marketing ? await find(marketingType(type)) : []
  return keys.map(({ address }, i) => ({
    address,
    contact_id: found[i]!.contact_id,
    blocked: found[i]!.verdict === 'recipient_blocked' || stopped[i]?.verdict === 'recipient_blocked',
  }))
}

export async function contactsById(
  { contacts }: Pick<CampaignDeps, 'contacts'>,
  sql: Db,
  tenant: Tenant,
  recipients: readonly { readonly contact_id: string | null }[],
): Promise<ReadonlyMap<string, ContactRow>> {
  const ids = new Set(recipients.flatMap(({ contact_id }) => (contact_id === null ? [] : [contact_id])))
  return new Map((await contacts.findByIds(sql, tenant, [...ids])).map((contact) => [contact.id, contact]))
}
