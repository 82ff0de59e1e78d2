/** Decides which URLs and IP addresses are public. */
import ipaddr from 'ipaddr.js'

/** `documentation` ranges are never routed: allowed in URLs, refused by sockets. */
export type AddressKind = 'public' | 'documentation' | 'private'

const documentationRanges = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'].map(
  (range) => ipaddr.parseCIDR(range),
)

/** From IANA's special-purpose registry (behaviour: webhooks 3.1). */
const privateV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map((range) => ipaddr.parseCIDR(range))

/** Public IPv6 is 2000::/3 without the ranges for protocols such as Teredo and 6to4. */
const globalV6 = ipaddr.parseCIDR('2000::/3')
const privateV6 = ['2001::/23', '2002::/16', '2620:4f:8000::/48', '5f00::/16'].map((range) => ipaddr.parseCIDR(range))

/** Accepts any textual form. */
export function addressKind(text: string): AddressKind {
  const plain = text.replace(/^\[|\]$/g, '').replace(/%.*$/, '')
  if (!ipaddr.isValid(plain)) return 'private'
  const address = ipaddr.parse(plain)
  if (documentationRanges.some((range) => within(address, range))) return 'documentation'
  if (address.kind() === 'ipv4') return privateV4.some((range) => within(address, range)) ? 'private' : 'public'
  if (!within(address, globalV6) || privateV6.some((range) => within(address, range))) return 'private'
  return embedsV4(address as ipaddr.IPv6) ? 'private' : 'public'
}

function within(address: ipaddr.IPv4 | ipaddr.IPv6, [range, bits]: [ipaddr.IPv4 | ipaddr.IPv6, number]): boolean {
  return address.kind() === range.kind() && (address as ipaddr.IPv6).match(range as ipaddr.IPv6, bits)
}

/** ISATAP (RFC 5214): the interface id `[02]00:5efe` before an IPv4 address. */
function embedsV4(address: ipaddr.IPv6): boolean {
  const [high, marker] = [address.parts[4]!, address.parts[5]!]
  return marker === 0x5efe && (high === 0 || high === 0x0200)
}

const localNames = /(^|\.)(localhost|local|internal)\.?$/

export type UrlRefusal = 'unparsable' | 'not_https' | 'user_info' | 'local_name' | 'private_address'

export function hostPort(url: URL): string {
  const port = url.port === '' ? (url.protocol === 'http:' ? '80' : '443') : url.port
  return `${url.hostname.replace(/\.$/, '')}:${port}`.toLowerCase()
}

export const isAllowed = (url: URL, allowed: readonly string[]): boolean => allowed.includes(hostPort(url))

/** Errors that the URL parser corrects silently. */
const silentlyCorrected = /\s|^https?:(?!\/\/[^/\\])/i

/**
 * null if allowed. The URL parser normalizes other spellings of IPv4. Documentation ranges are refused on connecting.
 */
export function urlRefusal(text: string, allowed: readonly string[]): UrlRefusal | null {
  if (!URL.canParse(text)) return 'unparsable'
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'not_https'
  if (url.username !== '' || url.password !== '') return 'user_info'
  const mended = silentlyCorrected.test(text) ? 'unparsable' : null
  if (isAllowed(url, allowed)) return mended
  if (url.protocol !== 'https:') return 'not_https'
  const host = url.hostname.toLowerCase()
  if (isLiteral(host)) return addressKind(host) === 'private' ? 'private_address' : mended
  return localNames.test(host) ? 'local_name' : mended
}

/** Also with http. */
export const isReachable = (url: string): boolean => urlRefusal(url.replace(/^http:/, 'https:'), []) === null

export const isLiteral = (host: string): boolean =>
  host.startsWith('[') || ipaddr.IPv4.isValidFourPartDecimal(host.replace(/\.$/, ''))
