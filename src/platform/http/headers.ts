/** Request headers: client addresses (behaviour: authentication 4), `Accept`, and repeated headers. */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

export type AddressList = (address: string) => boolean

function parseRange(entry: string): [Address, number] | undefined {
  try {
    if (entry.includes('/')) return ipaddr.parseCIDR(entry)
    const address = ipaddr.parse(entry)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  } catch {
    return undefined // not an address
  }
}

/** Prefix lengths with a leading zero are ambiguous and refused. */
export const isAddressRange = (entry: string): boolean =>
  isPlain(entry.replace(/\/(0|[1-9]\d{0,2})$/, '')) && !entry.includes('%') && parseRange(entry) !== undefined

/** Refuses the octal (`010.0.0.1` is 8.0.0.1) and short (`10.1`) forms that ipaddr.js accepts. */
const isPlain = (address: string): boolean => isIP(address) !== 0

export function addressList(entries: readonly string[]): AddressList {
  const ranges = entries.map(parseRange).filter((range) => range !== undefined)
  return (text) => {
    const address = parseAddress(text)
    return address !== undefined && ranges.some(([network, bits]) => covers(address, network, bits))
  }
}

function covers(address: Address, network: Address, bits: number): boolean {
  if (network.kind() === 'ipv6' && (network as ipaddr.IPv6).isIPv4MappedAddress() && bits >= 96) {
    return covers(address, (network as ipaddr.IPv6).toIPv4Address(), bits - 96)
  }
  return address.kind() === network.kind() && (address as ipaddr.IPv6).match(network as ipaddr.IPv6, bits)
}

function parseAddress(text: string): Address | undefined {
  try {
    return isPlain(text) ? ipaddr.process(text) : undefined
  } catch {
    return undefined // not an address
  }
}

/** Behind trusted proxies the right-most untrusted entry of X-Forwarded-For. */
export function clientAddress(request: IncomingMessage, isTrusted: AddressList): string {
  let address = request.socket.remoteAddress ?? ''
  const forwarded = request.headers['x-forwarded-for']
  if (forwarded === undefined) return address
  const hops = String(forwarded).split(',')
  while (isTrusted(address)) {
    const hop = hops.pop()
    if (hop === undefined) return address
    address = withoutPort(hop.trim())
  }
  return address
}

/** The IPv4 address, or the first 64 bits of an IPv6 address: one client owns them all. */
export function networkOf(text: string): string {
  try {
    const address = ipaddr.process(text.replace(/%.*$/, ''))
    return address.kind() === 'ipv4' ? address.toString() : (address as ipaddr.IPv6).parts.slice(0, 4).join(':')
  } catch {
    return text // not an address
  }
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string =>
  /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop

/** With at least the weight of `application/json` (RFC 9110, 12.5.1). Wildcards do not count. */
export function asksForCsv(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const csv = weightOf(accept, 'text/csv')
  return csv > 0 && csv >= weightOf(accept, 'application/json')
}

function weightOf(accept: string, type: string): number {
  for (const range of accept.split(',')) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    if (name !== type) continue
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return weight === undefined ? 1 : Number(weight.slice(2)) || 0
  }
  return 0
}

/** Node joins repeated values. `name` is in lower case. */
export function timesGiven(
  { headers, rawHeaders }: IncomingMessage,
  name: 'host' | 'authorization' | 'content-type',
): number {
  const value = headers[name]
  if (value === undefined) return 0
  if (!value.includes(',')) return 1
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]!.toLowerCase() === name) count += 1
  return count
}

export function firstValue({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.toLowerCase() === name) return rawHeaders[at + 1]
  return undefined
}
