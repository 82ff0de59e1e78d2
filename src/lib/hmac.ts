/** HMAC-SHA256 signatures, and comparison in constant time. */
import { hash, timingSafeEqual } from 'node:crypto'

/** The pads of RFC 2104. */
export interface HmacKey {
  readonly inner: Uint8Array
  readonly outer: Uint8Array
}

const blockBytes = 64

export function hmacKey(key: string | Uint8Array): HmacKey {
  const bytes = Buffer.from(key)
  const block = Buffer.alloc(blockBytes)
  const fitting = bytes.length > blockBytes ? hash('sha256', bytes, 'buffer') : bytes
  fitting.copy(block)
  const pad = (mask: number) => block.map((byte) => byte ^ mask)
  return { inner: pad(0x36), outer: pad(0x5c) }
}

/** Two one-shot hashes: with `createHmac` a webhook cycle costs 1.27 times as much (docs/decisions/deleted-machinery.md). */
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

/** Two while a secret is rolled. */
const signaturesMax = 10

/** Returns what is wrong: format, time (more than `toleranceMs` from `now`), or signatures; null if one is valid. */
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
  // compare all of them: constant time
  const fits = signatures.map((signature) => sameText(signature.toLowerCase(), expected))
  return fits.includes(true) ? null : 'signature'
}
