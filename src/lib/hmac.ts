/** Keyed signatures over texts: HMAC-SHA256 in hex and a comparison in constant time. */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The hex HMAC-SHA256 of the parts one after the other; in parts so that a prebuilt body is never copied. */
export function hmacHex(key: string, ...parts: readonly (string | Uint8Array)[]): string {
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest('hex')
}

/** The base64 HMAC-SHA256 of the parts, as Shopify and WooCommerce write it. */
export function hmacBase64(key: string, ...parts: readonly (string | Uint8Array)[]): string {
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
export function signatureHeader(keys: readonly string[], unixSeconds: number, body: string | Uint8Array): string {
  return `t=${unixSeconds}${keys.map((key) => `,v1=${hmacHex(key, `${unixSeconds}.`, body)}`).join('')}`
}
