/**
 * The headers of a webhook (behaviour: webhooks 4.1), signed as `Service-Signature` and as Standard Webhooks
 * (https://www.standardwebhooks.com).
 */
import { hmac, hmacKey, signatureHeader, type HmacKey } from './hmac.ts'

export interface SigningKey {
  /** Of the whole text of the secret. */
  readonly service: HmacKey
  /** Of the bytes that the base64 after `whsec_` encodes. */
  readonly standard: HmacKey
}

/** `secret`: `whsec_` and base64. */
export const signingKey = (secret: string): SigningKey => ({
  service: hmacKey(secret),
  standard: hmacKey(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')),
})

/** Names and values in turn. */
export function eventHeaders(
  keys: readonly SigningKey[],
  event: { readonly id: string; readonly type: string },
  body: Buffer,
  now: number,
): string[] {
  const seconds = Math.floor(now / 1000)
  return [
    'Service-Signature',
    signatureHeader(
      keys.map(({ service }) => service),
      seconds,
      body,
    ),
    'Service-Event-Id',
    event.id,
    'Service-Event-Type',
    event.type,
    'webhook-id',
    event.id,
    'webhook-timestamp',
    String(seconds),
    'webhook-signature',
    keys.map(({ standard }) => `v1,${hmac(standard, 'base64', `${event.id}.${seconds}.`, body)}`).join(' '),
    'User-Agent',
    'Service-Webhooks/1.0',
    'Content-Type',
    'application/json',
  ]
}
