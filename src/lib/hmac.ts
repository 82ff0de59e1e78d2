/** Keyed signatures over texts: HMAC-SHA256, and a comparison in constant time. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/**
 * A key made ready for many signatures (RFC 2104: the hash of the outer pad and of the hash of the inner pad and the text). Put together from one-shot
 * hashes, a signature takes half of the time of `createHmac`, which makes and drops an object of OpenSSL's for each.
 */
export interface HmacKey {
  /** The key as it was given, for texts too long to be put together. */
  readonly key: Buffer
  readonly inner: Buffer
  /** The outer pad, with room for the inner hash behind it. */
  readonly outer: Buffer
}

const blockBytes = 64
const hashBytes = 32
const scratch = Buffer.allocUnsafe(64 * 1024)

export function hmacKey(given: string | Uint8Array): HmacKey {
  const key = Buffer.from(given)
  const block = Buffer.alloc(blockBytes)
  if (key.length > blockBytes) hash('sha256', key, 'buffer').copy(block)
  else key.copy(block)
  return {
    key,
    inner: block.map((byte) => byte ^ 0x36) as Buffer,
    outer: Buffer.concat([block.map((byte) => byte ^ 0x5c), Buffer.alloc(hashBytes)]),
  }
}

/** The HMAC-SHA256 of the parts one after the other; in parts so that a prebuilt body need not be copied by the caller. */
export function hmac(
  { key, inner, outer }: HmacKey,
  encoding: 'hex' | 'base64' | 'base64url',
  ...parts: readonly (string | Uint8Array)[]
): string {
  let size = inner.copy(scratch)
  for (const part of parts) {
    // no text takes more than three bytes for a unit
    if (size + part.length * 3 > scratch.length) return atLength(key, encoding, parts)
    if (typeof part === 'string') size += scratch.write(part, size)
    else {
      scratch.set(part, size)
      size += part.length
    }
  }
  outer.write(hash('sha256', scratch.subarray(0, size), 'binary'), blockBytes, 'latin1')
  return hash('sha256', outer, encoding)
}

function atLength(
  key: Buffer,
  encoding: 'hex' | 'base64' | 'base64url',
  parts: readonly (string | Uint8Array)[],
): string {
  const whole = createHmac('sha256', key)
  for (const part of parts) whole.update(part)
  return whole.digest(encoding)
}

/** The hex HMAC-SHA256 of the parts. */
export const hmacHex = (key: string | HmacKey, ...parts: readonly (string | Uint8Array)[]): string =>
  hmac(typeof key === 'string' ? hmacKey(key) : key, 'hex', ...parts)

/** Compares without telling by its duration where two texts differ. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** `t=<unix seconds>,v1=<hex>` with one `v1` per key: the HMAC of `<t>.<body>` (behaviour: webhooks 4.2). */
export function signatureHeader(
  keys: readonly (string | HmacKey)[],
  unixSeconds: number,
  body: string | Uint8Array,
): string {
  return `t=${unixSeconds}${keys.map((key) => `,v1=${hmacHex(key, `${unixSeconds}.`, body)}`).join('')}`
}

/** Signatures that one header may hold; a roll of a secret makes two. */
const signaturesMax = 10

/**
 * What is wrong with a header of the form that `signatureHeader` writes, as Stripe does too: its form, its time (more than `toleranceMs` off `now`, in milliseconds), or
 * each of its signatures. Null where one of them is that of the body.
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
  const right = hmacHex(key, `${t}.`, body)
  // every one is compared, so that the time taken tells nothing
  const fits = signatures.map((signature) => sameText(signature.toLowerCase(), right))
  return fits.includes(true) ? null : 'signature'
}
