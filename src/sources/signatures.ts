/** Who may report by webhook: signatures over the raw body, as each platform makes them (behaviour: integrations 4.3). */
import type { IncomingHttpHeaders } from 'node:http'
import { hmac, hmacKey, sameText, signatureHeaderFault, type HmacKey } from '../lib/hmac.ts'

/** How old, or how far ahead, the time of a `Service-Signature` may be. */
const toleranceMs = 5 * 60_000

export type Scheme = 'shopify' | 'woocommerce' | 'custom'

/** Platforms without a receiver of their own report in ours. */
export const schemeOf = (platform: string): Scheme =>
  platform === 'shopify' || platform === 'woocommerce' ? platform : 'custom'

/** The key that a platform signs with: WooCommerce decodes HTML entities in what was typed into its form. */
export const signingKey = (scheme: Scheme, secret: string): HmacKey =>
  hmacKey(scheme === 'woocommerce' ? decodeSpecialCharacters(secret) : secret)

/** The refusal in words; null where the signature is that of the body. `now` in milliseconds. */
export function signatureFault(
  scheme: Scheme,
  key: HmacKey,
  headers: IncomingHttpHeaders,
  body: Uint8Array,
  now: number,
): string | null {
  if (scheme === 'custom') return serviceSignatureFault(key, headers, body, now)
  const name = signatureHeaders[scheme]
  const given = headerText(headers, name.toLowerCase())
  if (given === undefined) return `The header ${name} is missing. ${wanted[scheme]}`
  return sameText(given.trim(), hmac(key, 'base64', body))
    ? null
    : `The header ${name} does not fit the body. ${wanted[scheme]}`
}

/** The one value of a header; of one that came several times the first. */
export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

const signatureHeaders = {
  shopify: 'X-Shopify-Hmac-Sha256',
  woocommerce: 'X-WC-Webhook-Signature',
  custom: 'Service-Signature',
} as const

const wanted = {
  shopify: "Give the source the app's client secret as `signing_secret`: Shopify signs with that.",
  woocommerce: 'Give the webhook in WooCommerce and the source the same secret (`signing_secret`).',
} as const

/** `t=<unix seconds>,v1=<hex>` as of our own webhooks (behaviour: webhooks 4.2): any one of several `v1` may fit. */
function serviceSignatureFault(
  key: HmacKey,
  headers: IncomingHttpHeaders,
  body: Uint8Array,
  now: number,
): string | null {
  const header = headerText(headers, 'service-signature')
  if (header === undefined)
    return 'The header Service-Signature is missing. Send `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">`, made with the signing secret of the source.'
  const fault = signatureHeaderFault(key, header, body, now, toleranceMs)
  return fault === null ? null : serviceSignatureFaults[fault]
}

const serviceSignatureFaults = {
  form: 'The header Service-Signature has another form than `t=<unix seconds>,v1=<hex>`. Sign as the guide for plugins shows.',
  time: `The time in Service-Signature is more than ${toleranceMs / 60_000} minutes off. Sign each attempt anew, and set the clock of the sender.`,
  signature:
    'The header Service-Signature does not fit the body. Sign the raw bytes with the current signing secret of the source.',
} as const

const characters: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  60: '<',
  62: '>',
  38: '&',
  34: '"',
  39: "'",
  x26: '&',
  x22: '"',
  x27: "'",
}

/**
 * As `wp_specialchars_decode` with `ENT_QUOTES`, through which WooCommerce puts the secret before it signs
 * (https://developer.wordpress.org/reference/functions/wp_specialchars_decode/, `generate_signature` in WooCommerce's class-wc-webhook.php).
 */
function decodeSpecialCharacters(text: string): string {
  return text.replaceAll(
    /&(?:(lt|gt|amp|quot)|#0*(60|62|38|34|39)|#(?:x|X)0*(2[267]));/g,
    (entity, name?: string, decimal?: string, hexadecimal?: string) => {
      const known = characters[name ?? decimal ?? `x${hexadecimal}`]
      return known ?? entity
    },
  )
}
