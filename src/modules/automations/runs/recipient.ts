/** Whom a run goes to. Pure. */
import { isPhoneChannel } from '../../../api/resources/channel.ts'
import type { EventCustomer } from '../../../api/resources/automation-event.ts'
import { normalisePhone } from '../../../lib/phone.ts'
import type { ContactRow } from '../../contacts/service.ts'

/** As messages on a channel of this type write it: the number that the event names, else what is known of the contact; null where nobody can be reached there. */
export function recipientOf(
  channel_type: string,
  customer: EventCustomer,
  contact: Pick<ContactRow, 'phone' | 'identifiers'> | undefined,
): string | null {
  const identifier = contact?.identifiers[channel_type] ?? null
  if (!isPhoneChannel(channel_type)) return identifier
  return (typeof customer.phone === 'string' ? normalisePhone(customer.phone) : null) ?? contact?.phone ?? identifier
}
