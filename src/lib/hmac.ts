/** Keyed signatures over texts: HMAC-SHA256 in hex and a comparison in constant time. */
import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'

/** A key, as text or made ready by `hmacKey`. */
export type HmacKey = string | KeyObject

/** A key that signs often: from its text one would be made anew for every signature, at several times the cost. */
export const hmacKey = (text: string): KeyObject => createSecretKey(text, 'utf8')

/** The hex HMAC-SHA256 of the parts one after the other; in parts so that a prebuilt body is never copied. */
export function hmacHex(key: HmacKey, ...parts: readonly (string | Uint8Array)[]): string {
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest('hex')
}

/** The base64 HMAC-SHA256 of the parts, as Shopify and WooCommerce write it. */
export function hmacBase64(key: HmacKey, ...parts: readonly (string | Uint8Array)[]): string {
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest('base64')
}

/** Compares without telling by its duration where two texts differ. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** `t=<unix seconds>,v1=<hex>` with one `v1` per key: the HMAC of `<t>.<body>` (interface: Delivery of webhook events). */
export function signatureHeader(keys: readonly HmacKey[], unixSeconds: number, body: string | Uint8Array): string {
  return `t=${unixSeconds}${keys.map((key) => `,v1=${hmacHex(key, `${unixSeconds}.`, body)}`).join('')}`
}
