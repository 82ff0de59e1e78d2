/** Keyed signatures over texts: HMAC-SHA256, and a comparison in constant time. */
import { createHmac, timingSafeEqual } from 'node:crypto'

export type HmacKey = string | Uint8Array

/** The HMAC-SHA256 of the parts, one after the other. */
export function hmac(
  key: HmacKey,
  encoding: 'hex' | 'base64' | 'base64url',
  ...parts: readonly (string | Uint8Array)[]
): string {
  const whole = createHmac('sha256', key)
  for (const part of parts) whole.update(part)
  return whole.digest(encoding)
}

export const hmacHex = (key: HmacKey, ...parts: readonly (string | Uint8Array)[]): string => hmac(key, 'hex', ...parts)

/** Compares two texts in constant time. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** `t=<unix seconds>,v1=<hex>` with one `v1` per key: the HMAC of `<t>.<body>` (behaviour: webhooks 4.2). */
export function signatureHeader(keys: readonly HmacKey[], unixSeconds: number, body: string | Uint8Array): string {
  return `t=${unixSeconds}${keys.map((key) => `,v1=${hmacHex(key, `${unixSeconds}.`, body)}`).join('')}`
}

/** Signatures that one header may hold; two while a secret is rolled. */
const signaturesMax = 10

/**
 * Checks a header in the form of `signatureHeader`, which is also Stripe's. Returns what is wrong: its form, its time (more than `toleranceMs` from `now`,
 * in milliseconds), or its signatures; null where one of them signs the body.
 */
export function signatureHeaderFault(
  key: HmacKey,
  header: string,
  body: Uint8Array,
  now: number,
  toleranceMs: number,
): 'form' | 'time' | 'signature' | null {
  const parts = header.split(',').map((part) => part.trim())
  const t = parts.find((part) => part.startsWith('t='))?.slice(2) ?? ''
  const signatures = parts.filter((part) => part.startsWith('v1=')).map((part) => part.slice(3))
  if (!/^\d{1,12}$/.test(t) || signatures.length === 0 || signatures.length > signaturesMax) return 'form'
  if (Math.abs(now - Number(t) * 1000) > toleranceMs) return 'time'
  const expected = hmacHex(key, `${t}.`, body)
  // compares all of them: constant time
  const fits = signatures.map((signature) => sameText(signature.toLowerCase(), expected))
  return fits.includes(true) ? null : 'signature'
}
