/** The headers under which an event is posted, wherever it is posted from (behaviour: webhooks 4.1). */
import { signatureHeader, type HmacKey } from './hmac.ts'

/** Names and values in turn, signed with every key at `now` (milliseconds). */
export const eventHeaders = (
  keys: readonly (string | HmacKey)[],
  event: { readonly id: string; readonly type: string },
  body: Buffer,
  now: number,
): string[] => [
  'Service-Signature',
  signatureHeader(keys, Math.floor(now / 1000), body),
  'Service-Event-Id',
  event.id,
  'Service-Event-Type',
  event.type,
  'User-Agent',
  'Service-Webhooks/1.0',
  'Content-Type',
  'application/json',
]
