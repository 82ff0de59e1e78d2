/** Opens sockets to hosts that someone else named: public addresses alone, within a bound of time. */
import { once } from 'node:events'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { withDeadline, type Clock } from './clock.ts'
import type { Resolve } from './name-lookup.ts'
import { addressKind } from './public-address.ts'
import { AddressNotPublic, guardedLookup, unmapped } from './public-sockets.ts'

export interface Call {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  readonly signal: AbortSignal
}

/** Resolves to a connected socket; rejects with what `postErrorOf` explains. The caller owns the socket. */
export type Dial = (call: Call) => Promise<Socket>

export interface DialOptions {
  readonly clock: Clock
  readonly resolve: Resolve
  /** `host:port`s that may be called whatever their address. */
  readonly allowed_hosts: readonly string[]
  /** Certificates to trust besides the system's; for tests. */
  readonly ca?: string
}

const connectTimeoutMs = 10_000

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

/** Destroys the socket where it is given up before it stands. */
async function connected(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  try {
    await once(socket, event, { signal })
  } catch (error) {
    socket.on('error', () => undefined).destroy()
    throw signal.aborted ? Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' }) : error
  }
}
