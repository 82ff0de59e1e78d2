/** Status and error codes of Infobip (https://www.infobip.com/docs/essentials/api-essentials/response-status-and-error-codes). */
import type { MessageErrorCode } from '../../api/resources/message.ts'
import type { Outcome, DeliveryReceipt } from '../provider.ts'
import type { Status } from './api.ts'

const groups = { pending: 1, undeliverable: 2, delivered: 3, expired: 4, rejected: 5 } as const

/** Infobip already has a message with this id: an earlier attempt arrived. */
const duplicateId = 23
/** Delivered to the carrier; the final status may follow. */
const deliveredToOperator = 2
const nothingReported = 29

/** `unknown`: Infobip may have accepted it. */
type Meaning = readonly [code: MessageErrorCode | 'unknown', sentence: string]

const statuses: Readonly<Record<number, Meaning>> = {
  4: ['provider_error', 'The carrier refused the message.'],
  6: [
    'provider_error',
    'The Infobip account does not reach the network of this recipient. Ask the support of Infobip to set it up.',
  ],
  8: ['provider_error', 'Infobip does not recognise the number of the recipient. Correct it before sending again.'],
  9: ['provider_error', 'The carrier could not deliver the message.'],
  10: ['recipient_blocked', 'The recipient is on a do-not-disturb list.'],
  11: [
    'upstream_rejected',
    'The sender of the channel is not registered with the Infobip account. Register it in the Infobip portal.',
  ],
  12: ['provider_error', 'The Infobip account has no credit left. Top it up, then send again.'],
  13: [
    'upstream_rejected',
    'The sender of the channel is on the block list of the Infobip account. Remove it from the list in the Infobip portal.',
  ],
  14: ['recipient_blocked', 'The recipient is on the block list of the Infobip account or of the carrier.'],
  15: ['expired', 'The message was not delivered within its validity period.'],
  17: ['provider_error', 'The credit of the Infobip account has expired. Top it up, then send again.'],
  18: [
    'policy_violation',
    'A trial account of Infobip sends to verified numbers only. Verify the recipient in the Infobip portal, or upgrade the account.',
  ],
  19: ['provider_error', 'The Infobip account has no route for SMS. Ask the support of Infobip to set it up.'],
  20: ['policy_violation', 'The recipient got more messages within an hour than Infobip allows.'],
  21: ['unknown', 'Infobip had a system error.'],
  24: ['provider_error', 'Infobip rejected the parts of the message.'],
  25: ['provider_error', 'The text is longer than Infobip allows (4,000 bytes in 25 parts). Shorten it.'],
  31: ['provider_error', 'Infobip did not send the message.'],
  51: ['provider_error', 'The recipient is missing.'],
  52: ['provider_error', 'The recipient is not a valid phone number. Correct it before sending again.'],
  87: ['policy_violation', 'Infobip classified the message as fraud.'],
  100: ['provider_error', 'Infobip refused the request.'],
}

/** `error.id` of delivery reports. */
const errors: Readonly<Record<number, readonly [MessageErrorCode, string]>> = {
  1: ['provider_error', 'The recipient is unknown to the network.'],
  5: ['provider_error', 'The recipient is unknown to the network.'],
  6: ['provider_error', "The recipient's phone is switched off or out of reach."],
  9: ['provider_error', 'The network bars the recipient.'],
  11: ['provider_error', "The recipient's subscription does not include SMS."],
  13: ['provider_error', 'The carrier has suspended the recipient.'],
  27: ['provider_error', "The recipient's phone is switched off or out of reach."],
  31: ['provider_error', "The recipient's phone was busy."],
  32: ['provider_error', 'The network could not deliver the message.'],
  256: ['provider_error', "The recipient's phone is full."],
  573: ['recipient_blocked', 'The recipient has asked the carrier to block messages from this sender.'],
  581: ['provider_error', 'The recipient has no credit left to receive the message.'],
  629: ['provider_error', 'The recipient cannot get SMS.'],
}

export function outcomeOfStatus(
  status: Status,
  provider_id: string,
): Extract<Outcome, { kind: 'accepted' | 'refused' | 'unknown' }> {
  if (
    status.group === groups.pending ||
    status.group === groups.delivered ||
    status.id === duplicateId ||
    status.id === nothingReported
  )
    return { kind: 'accepted', provider_ids: [provider_id] }
  const [code, message] = meaningOf(status)
  return code === 'unknown'
    ? { kind: 'unknown', message }
    : { kind: 'refused', code, provider_code: providerCode(status), message }
}

/** null if the report changes nothing. */
export function transitionOf(status: Status): DeliveryReceipt['transition'] | null {
  if (status.group === groups.pending || status.id === deliveredToOperator) return 'accept'
  if (status.group === groups.delivered) return 'deliver'
  if (status.id === nothingReported || status.id === duplicateId) return null
  return status.group === groups.undeliverable || status.group === groups.expired || status.group === groups.rejected
    ? 'fail'
    : null
}

export function failure(status: Status, error: Status | null): NonNullable<DeliveryReceipt['error']> {
  const known = error === null ? undefined : errors[error.id]
  const provider_code = error === null || error.id === 0 ? providerCode(status) : providerCode(error)
  if (known !== undefined) return { code: known[0], message: known[1], provider_code }
  const [code, message] = meaningOf(status)
  return { code: code === 'unknown' ? 'provider_error' : code, message, provider_code }
}

const providerCode = ({ id, name }: Status): string => (name === '' ? String(id) : name)

function meaningOf(status: Status): Meaning {
  const known = statuses[status.id]
  if (known !== undefined) return known
  if (status.group === groups.expired) return ['expired', 'The message was not delivered within its validity period.']
  return ['provider_error', `Infobip could not deliver the message: ${providerCode(status)}.`]
}
