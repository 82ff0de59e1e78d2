/** Connects to tenants' hosts at public addresses only: checks the resolved addresses, then the peer of the socket. */
import { lookup as systemLookup, Resolver } from 'node:dns'
import { once } from 'node:events'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { buildConnector } from 'undici'
import { withDeadline, type Clock } from './clock.ts'
import { limitConcurrency } from './concurrency.ts'
import type { PostError } from './http-exchange.ts'
import { addressKind } from './public-address.ts'

export interface SocketOptions {
  readonly resolve: Resolve
  /** For tests. */
  readonly ca?: string
}

const connectTimeoutMs = 10_000

export const notPublic = (address: string): PostError => ({
  code: 'address_not_public',
  message: `The host leads to ${address}, which is not a public address; nothing was sent.`,
})

export function connector({ resolve, ca }: SocketOptions, guarded: boolean): buildConnector.connector {
  const base = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    maxCachedSessions: 500,
    ...(ca === undefined ? {} : { ca }),
    ...(guarded ? { lookup: guardedLookup(resolve) } : {}),
  } as buildConnector.BuildOptions)
  if (!guarded) return base
  return (options, callback) =>
    base(options, (...result) => {
      const [error, socket] = result
      if (error !== null) return callback(error, null)
      const peer = (socket as Socket).remoteAddress ?? ''
      if (addressKind(unmapped(peer)) === 'public') return callback(null, socket!)
      socket!.destroy()
      callback(new AddressNotPublic(peer), null)
    })
}

/** A dual-stack socket reports an IPv4 peer in mapped form. */
export const unmapped = (address: string): string =>
  address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address

export class AddressNotPublic extends Error {
  readonly postError: PostError
  constructor(address: string) {
    super(`${address} is not a public address`)
    this.postError = notPublic(address)
  }
}

function guardedLookup(resolve: Resolve): LookupFunction {
  return (hostname, _options, callback) => {
    resolve(hostname).then(
      (found) => {
        const usable = found.filter(({ address }) => addressKind(address) === 'public')
        if (usable.length === 0) callback(new AddressNotPublic(found[0]?.address ?? hostname), [])
        else if (_options.all === true) callback(null, [...usable])
        else callback(null, usable[0]!.address, usable[0]!.family)
      },
      (error: NodeJS.ErrnoException) => callback(Object.assign(error, { lookup: true }), []),
    )
  }
}

export interface Call {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  readonly signal: AbortSignal
}

/** Rejects with an error for `postErrorOf`. */
export type Dial = (call: Call) => Promise<Socket>

export interface DialOptions {
  readonly clock: Clock
  readonly resolve: Resolve
  /** May be private. */
  readonly allowed_hosts: readonly string[]
  readonly ca?: string
}

export function dialer({ clock, resolve, allowed_hosts, ca }: DialOptions): Dial {
  return async ({ host, port, tls, signal }) => {
    const free = allowed_hosts.includes(`${host.toLowerCase()}:${port}`)
    if (!free && isIP(host) !== 0 && addressKind(host) !== 'public') throw new AddressNotPublic(host)
    const options = { host, port, ...(free ? {} : { lookup: guardedLookup(resolve) }) }
    const socket = tls
      ? connectTls({
          ...options,
          ...(isIP(host) === 0 ? { servername: host } : {}),
          ...(ca === undefined ? {} : { ca }),
        })
      : connectTcp(options)
    await withDeadline(clock, connectTimeoutMs, (deadline) =>
      connected(socket, tls ? 'secureConnect' : 'connect', AbortSignal.any([deadline, signal])),
    )
    const peer = socket.remoteAddress ?? ''
    if (free || addressKind(unmapped(peer)) === 'public') return socket
    socket.destroy()
    throw new AddressNotPublic(peer)
  }
}

async function connected(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  try {
    await once(socket, event, { signal })
  } catch (error) {
    socket.on('error', () => undefined).destroy()
    throw signal.aborted ? Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' }) : error
  }
}

export interface NetworkAddress {
  readonly address: string
  readonly family: number
}

/** Rejects with an error that has a `code`. */
export type Resolve = (hostname: string) => Promise<readonly NetworkAddress[]>

/** getaddrinfo blocks a thread of a small pool while it waits. */
const systemLookupsMax = 2

/** Uses DNS, which blocks no threads, then getaddrinfo. Each name server is asked twice, for `timeout_ms`. */
export function nameResolver(timeout_ms = 2000): Resolve {
  const resolver = new Resolver({ timeout: timeout_ms, tries: 2 })
  const system = limitConcurrency(systemLookupsMax)
  return async (hostname) => {
    const [v4, v6] = await Promise.all([ask(resolver, hostname, 4), ask(resolver, hostname, 6)])
    const found = [...v4.addresses, ...v6.addresses]
    if (found.length > 0) return found
    // only an unknown name may be in the hosts file
    if (v4.code === 'ETIMEOUT' || v6.code === 'ETIMEOUT')
      throw Object.assign(new Error(`the name servers did not answer for ${hostname}`), { code: 'ETIMEOUT' })
    return system(() => systemAddresses(hostname))
  }
}

function ask(
  resolver: Resolver,
  hostname: string,
  family: 4 | 6,
): Promise<{ addresses: NetworkAddress[]; code?: string }> {
  return new Promise((resolve) => {
    const done = (error: NodeJS.ErrnoException | null, addresses: string[] | undefined) =>
      resolve(
        error === null
          ? { addresses: (addresses ?? []).map((address) => ({ address, family })) }
          : { addresses: [], code: error.code ?? 'ENOTFOUND' },
      )
    if (family === 4) resolver.resolve4(hostname, done)
    else resolver.resolve6(hostname, done)
  })
}

function systemAddresses(hostname: string): Promise<NetworkAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)))
  })
}
