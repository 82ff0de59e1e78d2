/** Sockets that lead to public addresses alone: names are judged by the addresses that they are looked up to, and sockets by their own peer. */
import type { LookupFunction, Socket } from 'node:net'
import { isIP } from 'node:net'
import { buildConnector } from 'undici'
import type { Resolve } from './name-lookup.ts'
import { addressKind } from './public-address.ts'
import type { PostError } from './post-error.ts'

export interface SocketOptions {
  readonly resolve: Resolve
  /** Certificates to trust besides the system's; for tests. */
  readonly ca?: string
}

const connectTimeoutMs = 10_000

export const notPublic = (address: string): PostError => ({
  code: 'address_not_public',
  message: `The host leads to ${address}, which is not a public address; nothing was sent.`,
})

/** Connects, and hands a socket over only when it leads to where it may: names by their looked-up addresses, then the socket's own peer. */
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

/** A dual-stack socket names an IPv4 peer in its mapped form. */
export const unmapped = (address: string): string =>
  address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address

/** Refused by the public-address rule: the host led to this address. */
export class AddressNotPublic extends Error {
  readonly postError: PostError
  constructor(address: string) {
    super(`${address} is not a public address`)
    this.postError = notPublic(address)
  }
}

export function guardedLookup(resolve: Resolve): LookupFunction {
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
