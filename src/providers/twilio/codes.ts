/** Error codes and statuses of Twilio (https://www.twilio.com/docs/api/errors). */
import type { Outcome, DeliveryReceipt } from '../provider.ts'
import type { MessageErrorCode } from '../../api/resources/message.ts'

/** `lost`: the credentials can no longer send. `later`: throttled. */
type Meaning = readonly [code: MessageErrorCode | 'lost' | 'later', sentence: string]

const meanings: Readonly<Record<string, Meaning>> = {
  20003: [
    'lost',
    'Twilio rejected the credentials. Copy the auth token from the Twilio console and update the channel with it.',
  ],
  20005: [
    'lost',
    'The Twilio account is not active. Check the Twilio console for the reason, then reconnect the channel.',
  ],
  20008: [
    'lost',
    'These are the test credentials of the Twilio account, which send nothing. Connect the channel with the live ones.',
  ],
  20404: ['provider_error', 'Twilio does not know the requested resource.'],
  20429: ['later', 'Too many requests at once.'],
  21211: ['provider_error', 'The recipient is not a valid phone number. Correct it before sending again.'],
  21214: ['provider_error', 'The recipient cannot be reached from this sender.'],
  21217: ['provider_error', 'The recipient is not a valid phone number. Correct it before sending again.'],
  21408: [
    'policy_violation',
    'The Twilio account may not send to that country. Allow it under Messaging > Settings > Geo permissions in the Twilio console.',
  ],
  21606: [
    'upstream_rejected',
    'The sender of the channel is not a number of the Twilio account that can send SMS to this recipient.',
  ],
  21608: [
    'policy_violation',
    'A trial account of Twilio sends to verified numbers only. Verify the recipient in the Twilio console, or upgrade the account.',
  ],
  21609: [
    'upstream_rejected',
    'Twilio cannot call the address for delivery receipts. Set POSTHORN_BASE_URL to an address that it can reach.',
  ],
  21610: [
    'recipient_blocked',
    'The recipient has opted out at Twilio (STOP). Only the recipient can undo that, by sending START.',
  ],
  21611: ['later', 'The queue of the sender at Twilio is full.'],
  21612: ['provider_error', 'The recipient cannot be reached by SMS from this sender.'],
  21614: ['provider_error', 'The recipient is not a mobile number.'],
  21617: ['provider_error', 'The text is longer than the 1,600 characters that Twilio allows.'],
  21620: ['provider_error', 'The address of an attachment cannot be used.'],
  21623: ['provider_error', 'There are more attachments than Twilio allows.'],
  21659: ['upstream_rejected', 'The sender of the channel is not a number of the Twilio account.'],
  21660: ['upstream_rejected', 'The sender of the channel belongs to another Twilio account.'],
  21701: [
    'upstream_rejected',
    'The messaging service of the channel does not exist. Give the SID of one of this Twilio account.',
  ],
  21703: ['upstream_rejected', 'The messaging service of the channel has no number that reaches this recipient.'],
  21705: [
    'upstream_rejected',
    'The messaging service of the channel cannot be used. Give the SID of one of this Twilio account.',
  ],
  30001: ['later', 'The queue of the sender at Twilio is full.'],
  30002: [
    'lost',
    'The Twilio account was suspended. Check the Twilio console for the reason, then reconnect the channel.',
  ],
  30003: ['provider_error', "The recipient's phone is switched off or out of reach."],
  30004: ['recipient_blocked', 'The recipient cannot get this message: the number is blocked.'],
  30005: ['provider_error', 'The recipient does not exist, or is no longer in service.'],
  30006: ['provider_error', 'The recipient is a landline, or its carrier cannot be reached.'],
  30007: ['policy_violation', 'The message was filtered out by Twilio or the carrier.'],
  30008: ['provider_error', 'The carrier could not deliver the message and gives no reason.'],
  30010: ['provider_error', 'The message costs more than its maximum price.'],
  30011: ['provider_error', 'The carrier of the recipient does not support MMS.'],
  30019: ['provider_error', 'The attachments are larger than the carrier allows.'],
  30022: ['later', 'More messages than the sender may send in the United States (A2P 10DLC).'],
  30023: ['policy_violation', 'The daily message limit of this brand in the United States is reached (A2P 10DLC).'],
  30032: ['policy_violation', 'The toll-free number is not verified. Verify it in the Twilio console.'],
  30034: [
    'policy_violation',
    'The number is not registered for the United States (A2P 10DLC). Register it in the Twilio console.',
  ],
  30036: ['expired', 'The message was not delivered within its validity period.'],
  63016: ['policy_violation', 'Outside the service window only approved templates may be sent.'],
  63018: ['later', 'Too many messages at once from this sender.'],
  63024: ['provider_error', 'The recipient is not valid.'],
  63032: ['policy_violation', 'The provider does not deliver this message to this recipient.'],
}

export const stoppedCode = '21610'

const sentenceLengthMax = 300

const isSentence = (text: string): boolean => text !== '' && text.length <= sentenceLengthMax && !/[\r\n]/.test(text)

const meaningOf = (code: string): Meaning | undefined => (Object.hasOwn(meanings, code) ? meanings[code] : undefined)

export function refusal(code: string, text: string, retry_after_ms: number | undefined): Outcome {
  const [meaning, sentence] = meaningOf(code) ?? [
    'provider_error',
    isSentence(text) ? text : `Twilio refused the message with ${code}.`,
  ]
  if (meaning === 'later')
    return {
      kind: 'throttled',
      limit_on: 'channel',
      provider_code: code,
      message: sentence,
      ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
    }
  return refusedWith({
    code: meaning === 'lost' ? 'channel_not_connected' : meaning,
    message: sentence,
    provider_code: code,
  })
}

export const refusedWith = (error: NonNullable<DeliveryReceipt['error']>): Outcome => ({
  kind: 'refused',
  ...error,
  ...(error.code === 'channel_not_connected' ? { channel_lost: true } : {}),
  ...(error.provider_code === stoppedCode ? { opted_out: 'everything' } : {}),
})

export function failure(code: string): NonNullable<DeliveryReceipt['error']> {
  const [meaning, message] = meaningOf(code) ?? ['provider_error', 'Twilio could not deliver the message.']
  return {
    code: meaning === 'lost' ? 'channel_not_connected' : meaning === 'later' ? 'provider_error' : meaning,
    message,
    provider_code: code === '' ? null : code,
  }
}

/** https://www.twilio.com/docs/messaging/guides/outbound-message-status-in-status-callbacks */
const transitions: Readonly<Record<string, DeliveryReceipt['transition']>> = {
  accepted: 'accept',
  queued: 'accept',
  scheduled: 'accept',
  sending: 'accept',
  sent: 'accept',
  delivered: 'deliver',
  read: 'open',
  undelivered: 'fail',
  failed: 'fail',
  canceled: 'fail',
}

/** null if the status changes nothing. */
export function receiptOf(provider_id: string, status: string, error_code: string): DeliveryReceipt | null {
  const word = status.toLowerCase()
  if (!Object.hasOwn(transitions, word)) return null
  const transition = transitions[word]!
  return {
    kind: 'delivery_receipt',
    provider_id,
    transition,
    ...(transition === 'fail' ? { error: failure(error_code) } : {}),
  }
}
