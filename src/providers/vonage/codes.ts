/** What the codes of Vonage mean: one line each. */
import type { MessageErrorCode } from '../../api/resources/message.ts'
import type { Outcome, DeliveryReceipt } from '../provider.ts'

/** `lost`: nothing more can be sent with these credentials. `later`: Vonage takes it in a while. `down`: it was not taken, and may be repeated. */
type Meaning = readonly [code: MessageErrorCode | 'lost' | 'later' | 'down', sentence: string]

/** `status` of a message in the answer to a hand-over (https://developer.vonage.com/en/api-errors/sms). */
const statuses: Readonly<Record<string, Meaning>> = {
  1: ['later', 'More messages than the Vonage account may send at once.'],
  2: ['provider_error', 'Vonage misses a parameter in the request.'],
  3: [
    'provider_error',
    'Vonage finds a parameter of the request invalid. Look at the recipient and at the sender of the channel.',
  ],
  4: [
    'lost',
    'Vonage does not take the API key and secret. Look them up under API Settings in the Vonage dashboard, and PATCH the channel with them.',
  ],
  5: ['down', 'Vonage had an internal error.'],
  6: ['provider_error', 'Vonage cannot route messages to this recipient. Correct the number before sending again.'],
  7: ['recipient_blocked', 'Vonage has barred this recipient. Do not send to it again.'],
  8: ['lost', 'The Vonage account is suspended. Ask the support of Vonage for the reason, then reconnect the channel.'],
  9: [
    'provider_error',
    'The credit of the Vonage account is used up. Top it up in the Vonage dashboard, then send again.',
  ],
  10: ['later', 'More connections than the Vonage account may open at once.'],
  11: ['lost', 'The Vonage account may not use the SMS API. Ask the support of Vonage, then reconnect the channel.'],
  12: ['provider_error', 'The text is longer than Vonage takes. Shorten it.'],
  14: [
    'lost',
    'Vonage asks for signed requests, which this channel does not send. Allow requests with the API secret under API Settings in the Vonage dashboard.',
  ],
  15: [
    'upstream_rejected',
    'The sender of the channel may not be used for this recipient. Take a number of your Vonage account.',
  ],
  16: ['provider_error', 'Vonage finds the validity of the message invalid.'],
  22: ['provider_error', 'Vonage does not know the network of this recipient.'],
  23: [
    'provider_error',
    'Vonage cannot call the address for receipts. Set POSTHORN_BASE_URL to one that it can reach.',
  ],
  29: [
    'policy_violation',
    'A trial account of Vonage sends to test numbers alone. Add the recipient in the Vonage dashboard, or pay into the account.',
  ],
  32: ['lost', 'Vonage got a signature and a secret at once. PATCH the channel with its credentials.'],
  33: ['provider_error', 'The number of the recipient is not in service any more.'],
}

/** `err-code` of a delivery receipt (https://developer.vonage.com/en/messaging/sms/guides/delivery-receipts). */
const receiptErrors: Readonly<Record<string, readonly [MessageErrorCode, string]>> = {
  1: ['provider_error', 'The carrier did not deliver the message, and does not say why.'],
  2: ['provider_error', "The recipient's phone is out of reach for now."],
  3: ['provider_error', 'The number of the recipient is not in service any more.'],
  4: ['recipient_blocked', 'The recipient has barred messages of this kind.'],
  5: ['provider_error', 'The number of the recipient was taken to another network, and the message did not find it.'],
  6: ['policy_violation', 'The message was taken for spam by the carrier.'],
  7: ['provider_error', "The recipient's phone was busy."],
  8: ['provider_error', 'The network of the recipient failed.'],
  9: ['recipient_blocked', 'The recipient has opted out with Vonage, or the number may not be sent to.'],
  10: ['provider_error', 'The carrier finds the message invalid.'],
  11: ['provider_error', 'No carrier of Vonage reaches this recipient.'],
  12: ['provider_error', 'The recipient cannot be reached.'],
  13: ['policy_violation', 'The recipient is too young for messages of this kind.'],
  14: ['recipient_blocked', 'The carrier has barred the number of the recipient.'],
  15: ['provider_error', 'The recipient has no credit left to get the message.'],
  16: ['provider_error', 'The Vonage account has sent as many messages as it may.'],
  39: ['upstream_rejected', 'The sender of the channel may not be used in the country of the recipient.'],
  50: ['policy_violation', 'The sender is not registered as the country of the recipient asks for.'],
  51: ['policy_violation', 'The sender is not registered as the country of the recipient asks for.'],
  52: ['policy_violation', 'The text is not registered as the country of the recipient asks for.'],
  53: ['policy_violation', 'The consent is not registered as the country of the recipient asks for.'],
  54: ['policy_violation', 'The message breaks the rules of the country of the recipient.'],
  99: ['provider_error', 'The carrier had an error.'],
}

/** `status` of a delivery receipt; what is not named here says nothing. */
export const transitions: Readonly<Record<string, DeliveryReceipt['transition']>> = {
  accepted: 'accept',
  buffered: 'accept',
  delivered: 'deliver',
  expired: 'fail',
  failed: 'fail',
  rejected: 'fail',
}

/** How long to wait is told in the text alone: "Throughput Rate Exceeded - please wait [ 250 ] and retry". */
const waitMs = (said: string): number | undefined => {
  const told = /please wait \[\s*(\d{1,6})\s*\]/i.exec(said)?.[1]
  return told === undefined ? undefined : Number(told)
}

/** What a refusal by Vonage makes of a hand-over. `said` is the text beside the status. */
export function refusal(status: string, said: string): Outcome {
  const [meaning, sentence] = Object.hasOwn(statuses, status)
    ? statuses[status]!
    : (['provider_error', `Vonage refused the message with status ${status}.`] as const)
  const provider_code = status
  if (meaning === 'later') {
    const retry_after_ms = waitMs(said)
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

/** What a receipt says of a failure. */
export function failure(status: string, err_code: string): NonNullable<DeliveryReceipt['error']> {
  const known = Object.hasOwn(receiptErrors, err_code) ? receiptErrors[err_code]! : undefined
  const [code, message] = known ?? (['provider_error', 'Vonage could not deliver the message.'] as const)
  return {
    code: known === undefined && status === 'expired' ? 'expired' : code,
    message,
    provider_code: `${status}:${err_code === '' ? '0' : err_code}`,
  }
}
