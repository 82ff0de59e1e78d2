/** Status and error codes of Vonage. */
import type { MessageErrorCode } from '../../api/resources/message.ts'
import type { Outcome, DeliveryReceipt } from '../provider.ts'

/** `lost`: the credentials can no longer send. `later`: throttled. `down`: not accepted, may be repeated. */
type Meaning = readonly [code: MessageErrorCode | 'lost' | 'later' | 'down', sentence: string]

/** `status` of a send answer (https://developer.vonage.com/en/api-errors/sms). */
const statuses: Readonly<Record<string, Meaning>> = {
  1: ['later', 'The Vonage account sends too many messages at once.'],
  2: ['provider_error', 'A parameter is missing in the request to Vonage.'],
  3: [
    'provider_error',
    'Vonage rejected a parameter of the request. Check the recipient and the sender of the channel.',
  ],
  4: [
    'lost',
    'Vonage rejected the API key and secret. Copy them from API Settings in the Vonage dashboard and update the channel with them.',
  ],
  5: ['down', 'Vonage had an internal error.'],
  6: ['provider_error', 'Vonage cannot route messages to this recipient. Correct the number before sending again.'],
  7: ['recipient_blocked', 'Vonage has blocked this recipient. Do not send to it again.'],
  8: ['lost', 'The Vonage account is suspended. Ask Vonage support for the reason, then reconnect the channel.'],
  9: ['provider_error', 'The Vonage account has no credit left. Top it up in the Vonage dashboard, then send again.'],
  10: ['later', 'The Vonage account opens too many connections at once.'],
  11: ['lost', 'The Vonage account may not use the SMS API. Ask Vonage support, then reconnect the channel.'],
  12: ['provider_error', 'The text is longer than Vonage allows. Shorten it.'],
  14: [
    'lost',
    'The Vonage account requires signed requests, which this channel does not send. Allow requests with the API secret under API Settings in the Vonage dashboard.',
  ],
  15: [
    'upstream_rejected',
    'The sender of the channel may not be used for this recipient. Use a number of your Vonage account.',
  ],
  16: ['provider_error', 'Vonage rejected the validity period of the message.'],
  22: ['provider_error', 'Vonage does not know the network of this recipient.'],
  23: [
    'provider_error',
    'Vonage cannot call the address for delivery receipts. Set POSTHORN_BASE_URL to an address that it can reach.',
  ],
  29: [
    'policy_violation',
    'A trial account of Vonage sends to test numbers only. Add the recipient in the Vonage dashboard, or top up the account.',
  ],
  32: ['lost', 'Vonage got both a signature and a secret. Update the channel with its credentials.'],
  33: ['provider_error', 'The number of the recipient is not in service any more.'],
}

/** `err-code` of a delivery receipt (https://developer.vonage.com/en/messaging/sms/guides/delivery-receipts). */
const receiptErrors: Readonly<Record<string, readonly [MessageErrorCode, string]>> = {
  1: ['provider_error', 'The carrier did not deliver the message and gives no reason.'],
  2: ['provider_error', "The recipient's phone is currently unreachable."],
  3: ['provider_error', 'The number of the recipient is not in service any more.'],
  4: ['recipient_blocked', 'The recipient has blocked messages of this kind.'],
  5: ['provider_error', "The recipient's number was ported to another network, and the message could not be routed."],
  6: ['policy_violation', 'The carrier classified the message as spam.'],
  7: ['provider_error', "The recipient's phone was busy."],
  8: ['provider_error', 'The network of the recipient failed.'],
  9: ['recipient_blocked', 'The recipient has opted out with Vonage, or the number may not be sent to.'],
  10: ['provider_error', 'The carrier rejected the message as invalid.'],
  11: ['provider_error', 'No carrier of Vonage reaches this recipient.'],
  12: ['provider_error', 'The recipient cannot be reached.'],
  13: ['policy_violation', 'The message is age-restricted, and the recipient does not meet the age limit.'],
  14: ['recipient_blocked', 'The carrier has blocked the number of the recipient.'],
  15: ['provider_error', 'The recipient has no credit left to receive the message.'],
  16: ['provider_error', 'The Vonage account has reached its message limit.'],
  39: ['upstream_rejected', 'The sender of the channel may not be used in the country of the recipient.'],
  50: ['policy_violation', 'The sender is not registered as the country of the recipient requires.'],
  51: ['policy_violation', 'The sender is not registered as the country of the recipient requires.'],
  52: ['policy_violation', 'The text is not registered as the country of the recipient requires.'],
  53: ['policy_violation', 'The consent is not registered as the country of the recipient requires.'],
  54: ['policy_violation', 'The message breaks the rules of the country of the recipient.'],
  99: ['provider_error', 'The carrier had an error.'],
}

export const transitions: Readonly<Record<string, DeliveryReceipt['transition']>> = {
  accepted: 'accept',
  buffered: 'accept',
  delivered: 'deliver',
  expired: 'fail',
  failed: 'fail',
  rejected: 'fail',
}

/** "Throughput Rate Exceeded - please wait [ 250 ] and retry". */
const waitMs = (text: string): number | undefined => {
  const ms = /please wait \[\s*(\d{1,6})\s*\]/i.exec(text)?.[1]
  return ms === undefined ? undefined : Number(ms)
}

export function refusal(status: string, text: string): Outcome {
  const [meaning, sentence] = Object.hasOwn(statuses, status)
    ? statuses[status]!
    : (['provider_error', `Vonage refused the message with status ${status}.`] as const)
  const provider_code = status
  if (meaning === 'later') {
    const retry_after_ms = waitMs(text)
    return {
      kind: 'throttled',
      limit_on: 'channel',
      provider_code,
      message: sentence,
      ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
    }
  }
  if (meaning === 'down') return { kind: 'unavailable', provider_code, message: sentence }
  if (meaning === 'lost')
    return { kind: 'refused', code: 'channel_not_connected', provider_code, message: sentence, channel_lost: true }
  return { kind: 'refused', code: meaning, provider_code, message: sentence }
}

export function failure(status: string, err_code: string): NonNullable<DeliveryReceipt['error']> {
  const known = Object.hasOwn(receiptErrors, err_code) ? receiptErrors[err_code]! : undefined
  const [code, message] = known ?? (['provider_error', 'Vonage could not deliver the message.'] as const)
  return {
    code: known === undefined && status === 'expired' ? 'expired' : code,
    message,
    provider_code: `${status}:${err_code === '' ? '0' : err_code}`,
  }
}
