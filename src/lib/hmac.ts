/** Keyed signatures over texts: HMAC-SHA256, and a comparison in constant time. */
import { hash, timingSafeEqual } from 'node:crypto'

/** A key that is ready to sign: the pads of RFC 2104. */
export interface HmacKey {
  readonly inner: Buffer
  readonly outer: Buffer
}

const blockBytes = 64

export function hmacKey(key: string | Uint8Array): HmacKey {
  const bytes = Buffer.from(key)
  const block = Buffer.alloc(blockBytes)
  const fitting = bytes.length > blockBytes ? hash('sha256', bytes, 'buffer') : bytes
  fitting.copy(block)
  const pad = (with_byte: number) => Buffer.from(block.map((byte) => byte ^ with_byte))
  return { inner: pad(0x36), outer: pad(0x5c) }
}

/**
 * The HMAC-SHA256 of the parts, one after the other. Made of two one-shot hashes: `createHmac` makes objects of OpenSSL for each signature, which cost a
 * webhook cycle 8 % of Node's time (docs/decisions/deleted-machinery.md).
 */
export function hmac(
  key: HmacKey | string,
  encoding: 'hex' | 'base64' | 'base64url',
  ...parts: readonly (string | Uint8Array)[]
): string {
  const { inner, outer } = typeof key === 'string' ? hmacKey(key) : key
  const bytes = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))
  const hashed = hash('sha256', Buffer.concat([inner, ...bytes]), 'buffer')
  return hash('sha256', Buffer.concat([outer, hashed]), encoding)
}

export const hmacHex = (key: HmacKey | string, ...parts: readonly (string | Uint8Array)[]): string =>
  hmac(key, 'hex', ...parts)

/** Compares two texts in constant time. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** `t=<unix seconds>,v1=<hex>` with one `v1` per key: the HMAC of `<t>.<body>` (behaviour: webhooks 4.2). */
export function signatureHeader(
  keys: readonly (HmacKey | string)[],
  unixSeconds: number,
  body: string | Uint8Array,
): string {
  return `t=${unixSeconds}${keys.map((key) => `,v1=${hmacHex(key, `${unixSeconds}.`, body)}`).join('')}`
}

/** Signatures that one header may hold; two while a secret is rolled. */
const signaturesMax = 10

/**
 * Checks a header in the form of `signatureHeader`, which is also Stripe's. Returns what is wrong: its form, its time (more than `toleranceMs` from `now`,
 * in milliseconds), or its signatures; null where one of them signs the body.
 */
export function signatureHeaderFault(
  key: HmacKey | string,
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
