/** Verifies webhooks. Uses WebCrypto only, so that it runs wherever `fetch` does. */
import type { Event } from './generated/types.js'

/** `Headers`, or an object with names in any case. */
export type ReceivedHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  /** The largest difference between the signature's time and now, in either direction. Default: 300. */
  readonly toleranceSeconds?: number | undefined
}

interface Claim {
  /** The signed part before the body. */
  readonly prefix: string
  readonly seconds: string
  readonly signatures: readonly (Uint8Array<ArrayBuffer> | null)[]
}

const encoder = new TextEncoder()

/**
 * The event, or null if the body was not signed with the secret or was signed too long ago. `rawBody` is the unparsed
 * body. Accepts `Service-Signature` and the headers of Standard Webhooks. `secret` may be an array during a rotation.
 * Compares in constant time and never throws for received data; throws a `TypeError` for a missing secret or one with
 * surrounding white space, for invalid options, and without WebCrypto. Looks at the first eight signatures only; the
 * service sends one, or two during a rotation.
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: ReceivedHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<Event | null> {
  if (typeof options !== 'object' || options === null) throw new TypeError('The options must be an object')
  const { toleranceSeconds = 300 } = options
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (
    !Array.isArray(secrets) ||
    secrets.length === 0 ||
    !secrets.every((each) => typeof each === 'string' && each !== '')
  )
    throw new TypeError('The secret is missing')
  if (secrets.some((each: string) => each !== each.trim())) throw new TypeError('The secret has white space around it')
  if (globalThis.crypto?.subtle === undefined)
    throw new TypeError('There is no WebCrypto: browsers have it on pages with TLS alone')
  try {
    const body = typeof rawBody === 'string' ? encoder.encode(rawBody) : new Uint8Array(rawBody)
    for (const each of secrets) {
      const genuine =
        (await matches(serviceClaim(headers), encoder.encode(each), body, toleranceSeconds)) ||
        (await matches(standardClaim(headers), bytesOfBase64(each.replace(/^whsec_/, '')), body, toleranceSeconds))
      if (genuine) return eventOf(body)
    }
  } catch {
    // not a webhook
  }
  return null
}

/** `t=<unix seconds>,v1=<hex>,…` */
function serviceClaim(headers: ReceivedHeaders): Claim | null {
  const fields = (headerOf(headers, 'service-signature') ?? '').split(',').map((field) => field.trim().split('='))
  const seconds = fields.find(([name]) => name === 't')?.[1]
  if (seconds === undefined) return null
  return {
    prefix: `${seconds}.`,
    seconds,
    signatures: fields.filter(([name]) => name === 'v1').map(([, hex]) => bytesOfHex(hex ?? '')),
  }
}

/** `v1,<base64> v1,<base64> …` */
function standardClaim(headers: ReceivedHeaders): Claim | null {
  const id = headerOf(headers, 'webhook-id')
  const seconds = headerOf(headers, 'webhook-timestamp')
  if (id === undefined || seconds === undefined) return null
  const signatures = (headerOf(headers, 'webhook-signature') ?? '').split(' ').filter((each) => each.startsWith('v1,'))
  return { prefix: `${id}.${seconds}.`, seconds, signatures: signatures.map((each) => bytesOfBase64(each.slice(3))) }
}

async function matches(
  claim: Claim | null,
  secret: Uint8Array<ArrayBuffer> | null,
  body: Uint8Array,
  toleranceSeconds: number,
): Promise<boolean> {
  if (claim === null || secret === null || secret.length === 0) return false
  if (!/^\d{1,12}$/.test(claim.seconds) || !(Math.abs(Date.now() / 1000 - Number(claim.seconds)) <= toleranceSeconds))
    return false
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  const prefix = encoder.encode(claim.prefix)
  const signed = new Uint8Array(prefix.length + body.length)
  signed.set(prefix)
  signed.set(body, prefix.length)
  // a limit, so that thousands of signatures cannot waste CPU time
  for (const signature of claim.signatures.slice(0, 8))
    if (signature !== null && (await crypto.subtle.verify('HMAC', key, signature, signed))) return true
  return false
}

function eventOf(body: Uint8Array): Event | null {
  const event = JSON.parse(new TextDecoder().decode(body)) as Event | null
  return typeof event === 'object' && event !== null && typeof event.type === 'string' ? event : null
}

function headerOf(headers: ReceivedHeaders, name: string): string | undefined {
  if (typeof (headers as Headers).get === 'function') return (headers as Headers).get(name) ?? undefined
  const value = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1] as
    | string
    | readonly string[]
    | undefined
  return typeof value === 'string' ? value : value?.[0]
}

function bytesOfHex(hex: string): Uint8Array<ArrayBuffer> | null {
  return /^([\da-f]{2})+$/i.test(hex) ? Uint8Array.from(hex.match(/../g)!, (pair) => Number.parseInt(pair, 16)) : null
}

function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch {
    return null
  }
}
