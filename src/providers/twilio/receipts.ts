/** What the statuses of a message at Twilio say of it. */
import type { DeliveryReceipt } from '../provider.ts'
import { failure } from './codes.ts'

/** https://www.twilio.com/docs/messaging/guides/outbound-message-status-in-status-callbacks; what is not here says nothing. */
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

/** null for a status that says nothing of the message. */
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
