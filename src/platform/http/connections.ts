/** The connections that clients hold: how many there may be, in all and from one address, and how each of them ends (behaviour: operating 5). */
import ipaddr from 'ipaddr.js'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '../../api/problem.ts'
import type { Log } from '../observability/log.ts'
import type { Platform } from '../platform.ts'
import { addressList, type AddressList } from './client-address.ts'
import { rawAnswer } from './envelope.ts'

export interface ConnectionTimes {
  /** For the request line and headers, from the first byte or, of the first request, from the connecting. */
  readonly headMs: number
  /** For a whole request. */
  readonly requestMs: number
  /** Between two requests. */
  readonly idleMs: number
  /** How often Node looks for requests that take longer. */
  readonly checkMs: number
  /** How long a refused connection may take to fetch its answer. */
  readonly lingerMs: number
}

export const connectionTimes: ConnectionTimes = {
  headMs: 60_000,
  requestMs: 600_000,
  idleMs: 65_000,
  checkMs: 250,
  lingerMs: 500,
}

/** An idle connection that has been used makes room for a new one only after this long: its client may be about to send. */
const restMs = 5_000
/** Refused connections that fetch their answer at once; those beyond are closed without one. */
const lingeringMax = 256
const warnEveryMs = 60_000
/** Files and sockets that are kept for the database, for requests to others and for refused connections; half of them where there are few. */
const reservedDescriptors = 1_000

/** The bound on connections of a process that may open so many files; below `wanted` it is logged. */
export function withinDescriptors(wanted: number, descriptors: number, log: Pick<Log, 'warn'>): number {
  const affordable = Math.floor(Math.max(descriptors - reservedDescriptors, descriptors / 2))
  if (affordable < wanted)
    log.warn(
      { descriptors, connections: affordable },
      'the limit of open files allows for fewer connections than POSTHORN_CONNECTION_LIMIT',
    )
  return Math.min(wanted, affordable)
}

interface Connection {
  readonly socket: Socket
  /** Those of its address; undefined for a trusted proxy, whose connections count only in all. */
  readonly neighbours: Holding | undefined
  /** Requests whose answer has not ended. */
  answering: number
  /** Hears of the end of each answer. */
  readonly answered: () => void
  /** The newest ones. */
  request: IncomingMessage | undefined
  response: ServerResponse | undefined
  restingSince: number
  /** Bytes that had been read by then: more are the beginning of a request. */
  restingAt: number
}

/** Connections that are bounded together. Sets keep the order in which they became so. */
interface Holding {
  readonly address: string
  open: number
  /** Those that have not sent the headers of a request yet. */
  readonly silent: Set<Connection>
  /** Those between two requests. */
  readonly resting: Set<Connection>
}

const holding = (address: string): Holding => ({ address, open: 0, silent: new Set(), resting: new Set() })

export class Connections {
  /** Connections that were let in so far. */
  admitted = 0
  readonly #platform: Platform
  readonly #isTrusted: AddressList
  readonly #times: ConnectionTimes
  readonly #open = new Map<Socket, Connection>()
  readonly #all = holding('')
  readonly #byAddress = new Map<string, Holding>()
  readonly #lingering = new Set<Socket>()
  readonly #onNone: (() => void)[] = []
  #closing = false
  /** Requests that wait for `release`; undefined where none has to. */
  #held: { readonly response: ServerResponse; readonly begin: () => void }[] | undefined
  #warnedAt = -Infinity

  constructor(platform: Platform, times: ConnectionTimes = connectionTimes) {
    this.#platform = platform
    this.#isTrusted = addressList(platform.settings.trusted_proxies)
    this.#times = times
  }

  /** What Node's server is made with. */
  get serverOptions() {
    const { headMs, requestMs, checkMs } = this.#times
    return { headersTimeout: headMs, requestTimeout: requestMs, connectionsCheckingInterval: checkMs }
  }

  get idleMs(): number {
    return this.#times.idleMs
  }

  /** Stands between the listener and Node's HTTP. Before the server listens. */
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
    // one that cannot be accepted would end the process without a listener; what keeps the server from listening is told to who asked for it
    server.once('listening', () =>
      server.on('error', (error) => this.#platform.log.warn({ err: error }, 'a connection could not be accepted')),
    )
  }

  /** What Node could not read, or no longer waits for: `answer` writes the refusal and ends the connection, which is released in any case. */
  onClientError(error: NodeJS.ErrnoException, socket: Socket, answer: () => void): void {
    if (this.#lingering.has(socket)) return
    const connection = this.#open.get(socket)
    const timedOut = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
    const inBody = connection?.request?.complete === false
    if (timedOut) this.#platform.metrics.connections_closed.inc({ reason: inBody ? 'body_timeout' : 'headers_timeout' })
    const answering = connection?.answering ?? 0
    const begun = (inBody || answering > 0) && connection?.response?.headersSent === true
    // what follows an answer that has begun would be taken for a part of it, and what comes before others for the answer to something else
    if (begun || answering > 1) socket.destroy()
    else answer()
    if (timedOut) socket.destroySoon()
    this.#linger(socket)
  }

  /** From now on each answer is the last one of its connection. */
  close(): void {
    this.#closing = true
    for (const { response } of this.#open.values())
      if (response?.headersSent === false) response.setHeader('connection', 'close')
  }

  /** Requests that arrive from now on are begun at `release`: until then those who sent them wait, and do not come again. */
  hold(): void {
    this.#held ??= []
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    // of one whose client has gone nothing is begun
    for (const { response, begin } of held) if (!response.closed) begin()
  }

  /** Begins a request whose turn has come: at once, or at `release` where requests are held. */
  begin(response: ServerResponse, begin: () => void): void {
    if (this.#held === undefined) begin()
    else this.#held.push({ response, begin })
  }

  /** Resolves once none is open. */
  none(): Promise<void> {
    return this.#open.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onNone.push(resolve))
  }

  /** Closes those on which nothing is under way. */
  closeIdle(): void {
    for (const { socket, restingAt } of [...this.#all.silent, ...this.#all.resting])
      if (socket.bytesRead === restingAt) socket.destroy()
  }

  closeAll(): void {
    for (const socket of [...this.#open.keys(), ...this.#lingering]) socket.destroy()
  }

  #admit(socket: Socket): boolean {
    const { settings, clock, metrics } = this.#platform
    const from = socket.remoteAddress
    if (from === undefined) {
      socket.destroy() // it is gone already
      return false
    }
    const neighbours = this.#isTrusted(from) ? undefined : this.#neighbours(addressKey(from))
    if (
      neighbours !== undefined &&
      neighbours.open >= settings.address_connection_limit &&
      !this.#makeRoom(neighbours)
    ) {
      return this.#refuse(socket, 'address', tooManyOfAddress(settings.address_connection_limit))
    }
    if (this.#all.open >= settings.connection_limit && !this.#makeRoom(this.#all))
      return this.#refuse(socket, 'all', tooMany())
    const connection: Connection = {
      socket,
      neighbours,
      answering: 0,
      answered: () => this.#answered(connection),
      request: undefined,
      response: undefined,
      restingSince: clock.elapsed(),
      restingAt: 0,
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

  #neighbours(address: string): Holding {
    return this.#byAddress.get(address) ?? holding(address)
  }

  #arrived(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#open.get(request.socket)
    if (connection === undefined) return
    if (connection.answering++ === 0) {
      beginIn(this.#all, connection)
      if (connection.neighbours !== undefined) beginIn(connection.neighbours, connection)
    }
    if (this.#closing) {
      // of requests that were sent without waiting the last one closes the connection
      if (connection.response?.headersSent === false) connection.response.removeHeader('connection')
      response.setHeader('connection', 'close')
    }
    connection.request = request
    connection.response = response
    response.on('close', connection.answered)
  }

  #answered(connection: Connection): void {
    if (--connection.answering > 0 || !this.#open.has(connection.socket)) return
    connection.restingSince = this.#platform.clock.elapsed()
    connection.restingAt = connection.socket.bytesRead
    this.#all.resting.add(connection)
    connection.neighbours?.resting.add(connection)
  }

  /** Closes the connection that is needed least: the one that has been silent for longest, or else the one that has been unused for longest. */
  #makeRoom(group: Holding): boolean {
    const [silent] = group.silent
    const [resting] = group.resting
    const rested =
      resting !== undefined && this.#platform.clock.elapsed() - resting.restingSince >= restMs ? resting : undefined
    const least = silent ?? rested
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
      group.resting.delete(connection)
    }
    if (connection.neighbours?.open === 0) this.#byAddress.delete(connection.neighbours.address)
    this.#platform.metrics.connections_open.set(this.#open.size)
    if (this.#open.size === 0) for (const resolve of this.#onNone.splice(0)) resolve()
  }

  #refuse(socket: Socket, reason: 'all' | 'address', problem: Problem): false {
    const { metrics, clock, log, ids, settings } = this.#platform
    metrics.connections_refused.inc({ reason })
    if (clock.elapsed() - this.#warnedAt >= warnEveryMs) {
      this.#warnedAt = clock.elapsed()
      log.warn({ reason, open: this.#open.size }, 'connections are refused: as many are open as may be')
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

  /** What was written is given a moment to arrive: closing with bytes unread would take it back. */
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

/** A connection of the group neither is silent any more nor rests. */
function beginIn(group: Holding, connection: Connection): void {
  if (!group.silent.delete(connection)) group.resting.delete(connection)
}

const groupsOf = ({ neighbours }: Connection, all: Holding): readonly Holding[] =>
  neighbours === undefined ? [all] : [all, neighbours]

/** Who counts as one: an IPv4 address, mapped or not, and the 64 bits of IPv6 that one customer is given. */
function addressKey(text: string): string {
  try {
    const address = ipaddr.process(text.replace(/%.*$/, ''))
    return address.kind() === 'ipv4' ? address.toString() : (address as ipaddr.IPv6).parts.slice(0, 4).join(':')
  } catch {
    return text // the library's way of saying that it is no address
  }
}

/** Goes out as it is written here: no server stands between. */
const asWritten = { headers: { 'Retry-After': '1' } }

const tooMany = (): Problem =>
  new Problem(
    'upstream_unavailable',
    'The service has as many connections open as it may. Try again in a moment, and use connections again.',
    asWritten,
  )

const tooManyOfAddress = (limit: number): Problem =>
  new Problem(
    'rate_limit_exceeded',
    `Your address has ${limit} connections open, and may have no more. Use those that are open, or close some.`,
    asWritten,
  )
