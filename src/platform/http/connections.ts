/** Limits client connections in total and per address, and closes idle and slow ones (behaviour: operating 5). */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '../../api/problem.ts'
import type { Log } from '../observability/log.ts'
import type { Platform } from '../platform.ts'
import { addressList, networkOf, type AddressList } from './headers.ts'
import { rawAnswer } from './responses.ts'

export interface ConnectionTimes {
  readonly headMs: number
  readonly requestMs: number
  readonly idleMs: number
  readonly checkMs: number
  readonly lingerMs: number
}

export const connectionTimes: ConnectionTimes = {
  headMs: 60_000,
  requestMs: 600_000,
  idleMs: 65_000,
  checkMs: 250,
  lingerMs: 500,
}

/** A client that was idle for less may be about to send. */
const minIdleMs = 5_000
const lingeringMax = 256
const warnEveryMs = 60_000
/** At most half of the descriptors. */
const reservedDescriptors = 1_000

export function withinDescriptors(wanted: number, descriptors: number, log: Pick<Log, 'warn'>): number {
  const affordable = Math.floor(Math.max(descriptors - reservedDescriptors, descriptors / 2))
  if (affordable < wanted)
    log.warn(
      { descriptors, connections: affordable },
      'the open-file limit allows fewer connections than POSTHORN_CONNECTION_LIMIT',
    )
  return Math.min(wanted, affordable)
}

interface Connection {
  readonly socket: Socket
  readonly neighbours: Group | undefined
  answering: number
  readonly answered: () => void
  request: IncomingMessage | undefined
  response: ServerResponse | undefined
  idleSince: number
  /** More bytes mean that a request has begun. */
  idleAtBytes: number
}

/** Sets are in order of insertion. */
interface Group {
  readonly address: string
  open: number
  readonly silent: Set<Connection>
  readonly idle: Set<Connection>
}

const groupOf = (address: string): Group => ({ address, open: 0, silent: new Set(), idle: new Set() })

export class Connections {
  admitted = 0
  readonly #platform: Platform
  readonly #isTrusted: AddressList
  readonly #times: ConnectionTimes
  readonly #open = new Map<Socket, Connection>()
  readonly #all = groupOf('')
  readonly #byAddress = new Map<string, Group>()
  readonly #lingering = new Set<Socket>()
  readonly #onAllClosed: (() => void)[] = []
  #closing = false
  /** Undefined while requests are not held. */
  #held: { readonly response: ServerResponse; readonly begin: () => void }[] | undefined
  #warnedAt = -Infinity

  constructor(platform: Platform, times: ConnectionTimes = connectionTimes) {
    this.#platform = platform
    this.#isTrusted = addressList(platform.settings.trusted_proxies)
    this.#times = times
  }

  get serverOptions() {
    const { headMs, requestMs, checkMs } = this.#times
    return { headersTimeout: headMs, requestTimeout: requestMs, connectionsCheckingInterval: checkMs }
  }

  get idleMs(): number {
    return this.#times.idleMs
  }

  /** Before the server listens. */
  attach(server: Server): void {
    const serve = server.listeners('connection')
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => {
      if (this.#admit(socket)) for (const listener of serve) listener.call(server, socket)
    })
    server.prependListener('request', (request, response) => this.#arrived(request, response))
    server.on('timeout', (socket) => {
      this.#platform.metrics.connections_closed.inc({ reason: 'idle' })
      socket.destroy()
    })
    // without a listener an error of accept() would end the process; errors of listen() go to its caller
    server.once('listening', () =>
      server.on('error', (error) => this.#platform.log.warn({ err: error }, 'a connection could not be accepted')),
    )
  }

  /** `answer` writes the error and ends the connection. */
  onClientError(error: NodeJS.ErrnoException, socket: Socket, answer: () => void): void {
    if (this.#lingering.has(socket)) return
    const connection = this.#open.get(socket)
    const timedOut = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
    const inBody = connection?.request?.complete === false
    if (timedOut) this.#platform.metrics.connections_closed.inc({ reason: inBody ? 'body_timeout' : 'headers_timeout' })
    const answering = connection?.answering ?? 0
    const begun = (inBody || answering > 0) && connection?.response?.headersSent === true
    // a response after one that has begun, or before others, would be mistaken for another one
    if (begun || answering > 1) socket.destroy()
    else answer()
    if (timedOut) socket.destroySoon()
    this.#linger(socket)
  }

  /** Each response then closes its connection. */
  close(): void {
    this.#closing = true
    for (const { response } of this.#open.values())
      if (response?.headersSent === false) response.setHeader('connection', 'close')
  }

  /** Until `release`, so that clients need not reconnect. */
  hold(): void {
    this.#held ??= []
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const { response, begin } of held) if (!response.closed) begin()
  }

  begin(response: ServerResponse, begin: () => void): void {
    if (this.#held === undefined) begin()
    else this.#held.push({ response, begin })
  }

  whenAllClosed(): Promise<void> {
    return this.#open.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onAllClosed.push(resolve))
  }

  closeIdle(): void {
    for (const { socket, idleAtBytes } of [...this.#all.silent, ...this.#all.idle])
      if (socket.bytesRead === idleAtBytes) socket.destroy()
  }

  closeAll(): void {
    for (const socket of [...this.#open.keys(), ...this.#lingering]) socket.destroy()
  }

  #admit(socket: Socket): boolean {
    const { settings, clock, metrics } = this.#platform
    const from = socket.remoteAddress
    if (from === undefined) {
      socket.destroy() // already disconnected
      return false
    }
    const neighbours = this.#isTrusted(from) ? undefined : this.#neighbours(networkOf(from))
    if (neighbours !== undefined && neighbours.open >= settings.address_connection_limit && !this.#evict(neighbours)) {
      return this.#refuse(socket, 'address', tooManyOfAddress(settings.address_connection_limit))
    }
    if (this.#all.open >= settings.connection_limit && !this.#evict(this.#all))
      return this.#refuse(socket, 'all', tooMany())
    const connection: Connection = {
      socket,
      neighbours,
      answering: 0,
      answered: () => this.#answered(connection),
      request: undefined,
      response: undefined,
      idleSince: clock.elapsed(),
      idleAtBytes: 0,
    }
    this.admitted++
    this.#open.set(socket, connection)
    for (const group of groupsOf(connection, this.#all)) {
      group.open++
      group.silent.add(connection)
    }
    if (neighbours !== undefined) this.#byAddress.set(neighbours.address, neighbours)
    metrics.connections_open.set(this.#open.size)
    socket.once('close', () => this.#forget(connection))
    return true
  }

  #neighbours(address: string): Group {
    return this.#byAddress.get(address) ?? groupOf(address)
  }

  #arrived(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#open.get(request.socket)
    if (connection === undefined) return
    if (connection.answering++ === 0) {
      beginIn(this.#all, connection)
      if (connection.neighbours !== undefined) beginIn(connection.neighbours, connection)
    }
    if (this.#closing) {
      // of pipelined requests the last one closes the connection
      if (connection.response?.headersSent === false) connection.response.removeHeader('connection')
      response.setHeader('connection', 'close')
    }
    connection.request = request
    connection.response = response
    response.on('close', connection.answered)
  }

  #answered(connection: Connection): void {
    if (--connection.answering > 0 || !this.#open.has(connection.socket)) return
    connection.idleSince = this.#platform.clock.elapsed()
    connection.idleAtBytes = connection.socket.bytesRead
    this.#all.idle.add(connection)
    connection.neighbours?.idle.add(connection)
  }

  /** The one silent longest, otherwise the one idle longest. */
  #evict(group: Group): boolean {
    const [silent] = group.silent
    const [idlest] = group.idle
    const idle =
      idlest !== undefined && this.#platform.clock.elapsed() - idlest.idleSince >= minIdleMs ? idlest : undefined
    const least = silent ?? idle
    if (least === undefined) return false
    this.#platform.metrics.connections_closed.inc({ reason: 'displaced' })
    least.socket.destroy()
    this.#forget(least)
    return true
  }

  #forget(connection: Connection): void {
    if (!this.#open.delete(connection.socket)) return
    for (const group of groupsOf(connection, this.#all)) {
      group.open--
      group.silent.delete(connection)
      group.idle.delete(connection)
    }
    if (connection.neighbours?.open === 0) this.#byAddress.delete(connection.neighbours.address)
    this.#platform.metrics.connections_open.set(this.#open.size)
    if (this.#open.size === 0) for (const resolve of this.#onAllClosed.splice(0)) resolve()
  }

  #refuse(socket: Socket, reason: 'all' | 'address', problem: Problem): false {
    const { metrics, clock, log, ids, settings } = this.#platform
    metrics.connections_refused.inc({ reason })
    if (clock.elapsed() - this.#warnedAt >= warnEveryMs) {
      this.#warnedAt = clock.elapsed()
      log.warn({ reason, open: this.#open.size }, 'connections are refused because the limit is reached')
    }
    if (this.#lingering.size >= lingeringMax) socket.destroy()
    else {
      const request_id = ids('req')
      log.info({ request_id, status: problem.status, code: problem.code }, 'a connection was refused')
      socket.end(rawAnswer(problem, request_id, settings.base_url))
      this.#linger(socket)
    }
    return false
  }

  /** Closing a socket with unread bytes would reset it before the response arrives. */
  #linger(socket: Socket): void {
    if (socket.destroyed) return
    const gone = new AbortController()
    this.#lingering.add(socket)
    socket.on('error', () => undefined).resume()
    socket.once('close', () => {
      this.#lingering.delete(socket)
      gone.abort()
    })
    void this.#platform.clock.sleep(this.#times.lingerMs, gone.signal).then(() => socket.destroy())
  }
}

function beginIn(group: Group, connection: Connection): void {
  if (!group.silent.delete(connection)) group.idle.delete(connection)
}

const groupsOf = ({ neighbours }: Connection, all: Group): readonly Group[] =>
  neighbours === undefined ? [all] : [all, neighbours]

const retryInASecond = { headers: { 'Retry-After': '1' } }

const tooMany = (): Problem =>
  new Problem(
    'upstream_unavailable',
    'The service has reached its connection limit. Try again in a moment, and reuse connections.',
    retryInASecond,
  )

const tooManyOfAddress = (limit: number): Problem =>
  new Problem(
    'rate_limit_exceeded',
    `Your address has ${limit} open connections, which is the limit. Reuse them, or close some.`,
    retryInASecond,
  )
