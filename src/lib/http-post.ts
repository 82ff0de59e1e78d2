/** Posts a prebuilt body to an address that someone else named: public sockets only, one deadline over the whole exchange, no redirects, answers dropped. */
import type { LookupFunction, Socket } from 'node:net'
import { isIP } from 'node:net'
import { buildConnector, Pool, type Dispatcher } from 'undici'
import type { Clock } from './clock.ts'
import type { Resolve } from './name-lookup.ts'
import { addressKind, isAllowed, isLiteral } from './public-address.ts'
import { postErrorOf, type PostError } from './post-error.ts'

export interface Post {
  readonly url: string
  /** Name and value in turn, sent in this spelling and order. */
  readonly headers: readonly string[]
  readonly body: Buffer
  /** From the first look-up to the end of the answer's body. */
  readonly timeout_ms: number
  /** Gives the exchange up: the outcome is then `aborted`. */
  readonly signal?: AbortSignal
}

export interface PostOutcome {
  /** The status of the answer; null when none came. Set also where the exchange failed after its headers. */
  readonly status: number | null
  /** Null after a complete 2xx answer. */
  readonly error: PostError | null
}

export interface HttpPoster {
  /** Never rejects: what went wrong is a value. */
  post(post: Post): Promise<PostOutcome>
  /** Closes every connection; what is under way ends as `connection_reset`. */
  close(): Promise<void>
}

export interface HttpPosterOptions {
  readonly clock: Clock
  readonly resolve: Resolve
  /** `host:port`s that may be called whatever their address and scheme. */
  readonly allowed_hosts: readonly string[]
  /** Certificates to trust besides the system's; for tests. */
  readonly ca?: string
}

/** Bytes of an answer that are read before the connection is dropped instead. */
const answerBytesMax = 64 * 1024
/** Connections to one origin; who posts bounds what is under way, so this is only a last fence. */
const connectionsPerOriginMax = 2048
/** Origins whose connections are kept; the longest unused goes first. */
const originsMax = 1000
const keepAliveMs = 15_000
const connectTimeoutMs = 10_000

interface Origin {
  readonly pool: Pool
  underWay: number
}

export function httpPoster(options: HttpPosterOptions): HttpPoster {
  const origins = new Map<string, Origin>()
  const connect = { guarded: connector(options, true), free: connector(options, false) }
  const originOf = (url: URL, allowed: boolean): Origin => {
    const known = origins.get(url.origin)
    if (known !== undefined) {
      origins.delete(url.origin)
      origins.set(url.origin, known)
      return known
    }
    forgetUnused(origins)
    const pool = new Pool(url.origin, {
      connect: allowed ? connect.free : connect.guarded,
      connections: connectionsPerOriginMax,
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 32 * 1024,
    })
    const made = { pool, underWay: 0 }
    origins.set(url.origin, made)
    return made
  }
  return {
    async post(post) {
      const url = new URL(post.url)
      const allowed = isAllowed(url, options.allowed_hosts)
      // Sockets are not asked for a look-up when the host is an address already.
      if (!allowed && isLiteral(url.hostname) && addressKind(url.hostname) !== 'public') return { status: null, error: notPublic(url.hostname) }
      const origin = originOf(url, allowed)
      origin.underWay += 1
      try {
        return await exchange(origin.pool, url, post, options.clock)
      } finally {
        origin.underWay -= 1
      }
    },
    async close() {
      await Promise.all([...origins.values()].map(({ pool }) => pool.destroy()))
      origins.clear()
    },
  }
}

function forgetUnused(origins: Map<string, Origin>): void {
  if (origins.size < originsMax) return
  for (const [name, origin] of origins) {
    if (origin.underWay > 0) continue
    origins.delete(name)
    void origin.pool.close()
    return
  }
}

const notPublic = (address: string): PostError => ({
  code: 'address_not_public',
  message: `The host leads to ${address}, which is not a public address; nothing was sent.`,
})

/** One deadline over at most two tries: a kept connection that the receiver had just closed is worth a second one at once. */
async function exchange(pool: Pool, url: URL, post: Post, clock: Clock): Promise<PostOutcome> {
  const end = new AbortController()
  const stop: { stop?: (error: PostError) => void; phase: string } = { phase: 'connecting' }
  let expired = false
  const deadline = clock.sleep(post.timeout_ms, end.signal).then(() => {
    if (end.signal.aborted) return
    expired = true
    stop.stop?.({ code: 'timeout', message: `No complete answer within ${post.timeout_ms} ms (${stop.phase}).` })
  })
  const giveUp = () => stop.stop?.({ code: 'aborted', message: 'The exchange was given up because the service is shutting down.' })
  post.signal?.addEventListener('abort', giveUp)
  try {
    const reused = pool.stats.connected > 0
    const outcome = await once(pool, url, post, stop)
    if (outcome.error?.code !== 'connection_reset' || outcome.status !== null || !reused || expired || post.signal?.aborted === true) return outcome
    return await once(pool, url, post, stop)
  } finally {
    post.signal?.removeEventListener('abort', giveUp)
    end.abort()
    void deadline
  }
}

/** One request on one connection. `stop.stop` ends it at once, also while it still waits for its connection. */
function once(pool: Pool, url: URL, post: Post, stop: { stop?: (error: PostError) => void; phase: string }): Promise<PostOutcome> {
  return new Promise((resolve) => {
    let status: number | null = null
    let bytes = 0
    let ended = false
    let controller: Dispatcher.DispatchController | undefined
    let location: string | string[] | undefined
    const finish = (error: PostError | null, drop: boolean) => {
      if (ended) return
      ended = true
      resolve({ status, error })
      if (drop) controller?.abort(new Error('dropped'))
    }
    stop.phase = 'connecting'
    stop.stop = (error) => finish(error, true)
    if (post.signal?.aborted === true) return finish({ code: 'aborted', message: 'The exchange was given up because the service is shutting down.' }, false)
    pool.dispatch(
      { method: 'POST', path: url.pathname + url.search, headers: post.headers as string[], body: post.body },
      {
        onRequestStart(started) {
          controller = started
          stop.phase = 'waiting for the answer'
          if (ended) started.abort(new Error('dropped'))
        },
        onResponseStart(_controller, code, headers) {
          if (code < 200) return
          status = code
          stop.phase = 'reading the answer'
          location = headers['location']
          if (Number(headers['content-length'] ?? 0) > answerBytesMax) finish(statusError(code, location), true)
        },
        onResponseData(_controller, chunk) {
          bytes += chunk.length
          if (bytes > answerBytesMax && status !== null) finish(statusError(status, location), true)
        },
        onResponseEnd() {
          finish(statusError(status ?? 0, location), false)
        },
        onResponseError: (_controller, error) => finish(postErrorOf(error), false),
      },
    )
  })
}

/** What an answer means: 2xx is success, a redirect is named with where it leads, all else by its number. */
function statusError(status: number, location: string | string[] | undefined): PostError | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400 && status !== 304) {
    const to = typeof location === 'string' ? ` to ${JSON.stringify(location.slice(0, 200))}` : ''
    return {
      code: 'redirect',
      message: `The receiver answered ${status}, a redirect${to}; redirects are not followed. Set the endpoint's url to the final address.`,
    }
  }
  return { code: `status_${status}`, message: `The receiver answered with status ${status}; any 2xx is success.` }
}

/** Connects, and hands a socket over only when it leads to where it may: names by their looked-up addresses, then the socket's own peer. */
function connector({ resolve, ca }: HttpPosterOptions, guarded: boolean): buildConnector.connector {
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
const unmapped = (address: string): string => (address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address)

/** Refused by the public-address rule: the host led to this address. */
class AddressNotPublic extends Error {
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
