/** Saves ad-hoc recipients of phone channels as contacts, where the campaign asks for it (behaviour: campaigns 4). */
import { isPhoneChannel } from '../../../api/resources/channel.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Transaction } from '../../../platform/database/sql.ts'
import { addressKeyOf, type SaveItem } from '../../contacts/service.ts'
import { checkRecipient } from '../../messages/service.ts'
import type { CampaignDeps } from '../deps.ts'
import { givenNames } from '../names.ts'
import type { AdhocRecipients, CampaignRow } from '../rows.ts'

/**
 * Makes contacts of those who are none yet, as far as the contact cap allows; who is one stays as it is. Consent is left alone: an earlier opt-out holds for the new
 * contact, and nobody is opted in by being written to.
 */
export async function saveAsContacts(
  { platform, contacts }: CampaignDeps,
  tx: Transaction,
  row: CampaignRow,
  recipients: AdhocRecipients,
): Promise<void> {
  const { channel_type } = row
  if (!isPhoneChannel(channel_type)) return
  const items = recipients
    .filter(({ to }) => checkRecipient(channel_type, to).length === 0)
    .map((recipient): SaveItem => {
      const { to } = recipient
      const key = addressKeyOf(channel_type, to)
      const address = key.kind === 'phone' ? { phone: to } : { identifiers: { [key.kind]: key.address } }
      return { kind: 'link', key, change: {}, creation: { ...address, ...givenNames(recipient) } }
    })
  await contacts.save(tx, row, items, { at: isoTime(platform.clock.now()), source: 'campaign', keep_opt_outs: true })
}
