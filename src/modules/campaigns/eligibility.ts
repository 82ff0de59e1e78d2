/** Whether the recipients of a campaign may be written to: asked as when their messages are accepted, with nothing sent. */
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import { addressKeyOf, findEligibility, marketingType, suppressionHash } from '../contacts/service.ts'
import type { CampaignDeps } from './deps.ts'
import type { CampaignRow } from './rows.ts'

export interface RecipientEligibility {
  /** By which duplicates are told. */
  readonly address: string
  /** The contact that has this address. */
  readonly contact_id: string | null
  /** Opted out, blocked or suppressed. */
  readonly blocked: boolean
}

/** One a `to`, in their order. `marketing`: who has stopped marketing alone is blocked too. */
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
    const asked = keys.map(({ kind, address }) => {
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
    return findEligibility(sql, asked, at)
  }
  const found = await find(type)
  const stopped = marketing ? await find(marketingType(type)) : []
  return keys.map(({ address }, i) => ({
    address,
    contact_id: found[i]!.contact_id,
    blocked: found[i]!.verdict === 'recipient_blocked' || stopped[i]?.verdict === 'recipient_blocked',
  }))
}
