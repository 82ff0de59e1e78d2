/** Whose address a request comes from, and whether a list of addresses and ranges covers it (behaviour: authentication 4). */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** True for an address that the list covers. */
export type AddressList = (address: string) => boolean

/** One entry: an address or a CIDR range, IPv4 or IPv6; undefined for anything else. */
function parseRange(entry: string): [Address, number] | undefined {
  try {
    if (entry.includes('/')) return ipaddr.parseCIDR(entry)
    const address = ipaddr.parse(entry)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  } catch {
    return undefined // the library's way of saying that it is no address
  }
}

/** True for text that an address list takes. A length with a zero before it is no number that everybody reads alike. */
export const isAddressRange = (entry: string): boolean =>
  isPlain(entry.replace(/\/(0|[1-9]\d{0,2})$/, '')) && !entry.includes('%') && parseRange(entry) !== undefined

/** ipaddr.js also reads octal (`010.0.0.1` is 8.0.0.1) and short forms such as `10.1`: what says something else than its writer meant is no address here. */
const isPlain = (address: string): boolean => isIP(address) !== 0

/** The list of these entries; entries that are no addresses cover nothing. */
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

/** An IPv4-mapped IPv6 address counts as the IPv4 address that it carries. */
function parseAddress(text: string): Address | undefined {
  try {
    return isPlain(text) ? ipaddr.process(text) : undefined
  } catch {
    return undefined // the library's way of saying that it is no address
  }
}

/** The socket's address, or where that is a trusted proxy the right-most untrusted entry of X-Forwarded-For. */
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

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string =>
  /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop
