/** Posts webhooks: public addresses only, one deadline, no redirects, response bodies discarded. */
import { Client, type buildConnector } from 'undici'
import type { SteadyClock } from './clock.ts'
import { deadlines } from './deadlines.ts'
import { HttpExchange, type ExchangeEnd, type PostError } from './http-exchange.ts'
import { addressKind, isAllowed, isLiteral } from './public-address.ts'
import { connector, notPublic, type Resolve } from './sockets.ts'

export interface Post {
  readonly url: string
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly body: Buffer
  /** From the DNS look-up to the end of the response body. */
  readonly timeout_ms: number
  /** Ends with the error `aborted`. */
  readonly signal?: AbortSignal
}

export interface PostOutcome {
  readonly status: number | null
  /** null after a complete 2xx response. */
  readonly error: PostError | null
}

export interface HttpPoster {
  /** Never rejects. */
  post(post: Post): Promise<PostOutcome>
  /** Exchanges in progress end with `connection_reset`. */
  close(): Promise<void>
}

export interface HttpPosterOptions {
  readonly clock: SteadyClock
  readonly resolve: Resolve
  /** May be private and use http. */
  readonly allowed_hosts: readonly string[]
  /** For tests. */
  readonly ca?: string
}

const answerBytesMax = 64 * 1024
const placesMax = 1000

interface Place {
  readonly url: URL
  readonly allowed: boolean
}

export function httpPoster(options: HttpPosterOptions): HttpPoster {
  const pool = connections({ guarded: connector(options, true), free: connector(options, false) })
  const closed = new AbortController()
  const expiry = deadlines(options.clock, closed.signal)
  const places = new Map<string, Place>()

  const placeOf = (text: string): Place => {
    let place = places.get(text)
    if (place !== undefined) return place
    const url = new URL(text)
    if (places.size >= placesMax) places.delete(places.keys().next().value!)
    places.set(text, (place = { url, allowed: isAllowed(url, options.allowed_hosts) }))
    return place
  }

  return {
    async post(post) {
      const { url, allowed } = placeOf(post.url)
      // socket guards only see look-ups
      if (!allowed && isLiteral(url.hostname) && addressKind(url.hostname) !== 'public')
        return { status: null, error: notPublic(url.hostname) }
      const quit = () => post.signal?.aborted ?? false
      if (quit()) return { status: null, error: abandoned }
      let exchange: HttpExchange | undefined
      const deadline = expiry.add(post.timeout_ms, () =>
        exchange?.stop('timeout', `No complete answer within ${post.timeout_ms} ms (${exchange.phase}).`),
      )
      const abandon = () => exchange?.stop(abandoned.code, abandoned.message)
      post.signal?.addEventListener('abort', abandon)
      try {
        for (let repeated = false; ; repeated = true) {
          const connection = pool.acquire(url.origin, allowed, repeated)
          exchange = new HttpExchange(answerBytesMax, false)
          begin(connection.client, url, post, exchange)
          const end = await exchange.ended
          const stale =
            connection.used &&
            end.status === null &&
            end.error?.code === 'connection_reset' &&
            !deadline.over &&
            !quit()
          pool.release(connection, end.error === null)
          // the receiver had closed the idle connection; only one retry, because it may have read the request
          if (!stale) return outcomeOf(end)
        }
      } finally {
        deadline.cancel()
        post.signal?.removeEventListener('abort', abandon)
      }
    },
    async close() {
      closed.abort()
      await pool.close()
    },
  }
}

const abandoned: PostError = {
  code: 'aborted',
  message: 'The exchange was given up because the service is shutting down.',
}

function begin(client: Client, url: URL, { headers, body }: Post, exchange: HttpExchange): void {
  try {
    client.dispatch({ method: 'POST', path: url.pathname + url.search, headers: headers as string[], body }, exchange)
  } catch (error) {
    exchange.fail(error)
  }
}

/** A response that is too long still counts by its status. */
const outcomeOf = ({ status, headers, error, cut }: ExchangeEnd): PostOutcome => ({
  status,
  error: error === null || cut ? statusError(status ?? 0, headers['location']) : error,
})

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

/** One connection, reopened when it is lost. */
export interface Connection {
  readonly origin: string
  readonly client: Client
  /** The receiver may have closed it since. */
  used: boolean
}

export interface Connections {
  /** `fresh` forces a new connection. `free`: exempt from the address check. */
  acquire(origin: string, free: boolean, fresh: boolean): Connection
  /** `whole`: the response was read to its end. */
  release(connection: Connection, whole: boolean): void
  close(): Promise<void>
}

const idlePerOriginMax = 128
const originsMax = 1000
const keepAliveMs = 15_000

export function connections(connect: {
  guarded: buildConnector.connector
  free: buildConnector.connector
}): Connections {
  const idle = new Map<string, Connection[]>()
  const clients = new Set<Client>()
  const discard = ({ client }: Connection) => {
    clients.delete(client)
    client.destroy().catch(() => undefined)
  }
  const idleOf = (origin: string): Connection[] => {
    let list = idle.get(origin)
    if (list !== undefined) return list
    if (idle.size >= originsMax) {
      const [oldest, forgotten] = idle.entries().next().value!
      idle.delete(oldest)
      for (const connection of forgotten) discard(connection)
    }
    idle.set(origin, (list = []))
    return list
  }
  return {
    acquire(origin, free, fresh) {
      const known = fresh ? undefined : idle.get(origin)?.pop()
      if (known !== undefined) return known
      const client = new Client(origin, {
        connect: free ? connect.free : connect.guarded,
        allowH2: false,
        pipelining: 1,
        keepAliveTimeout: keepAliveMs,
        headersTimeout: 0,
        bodyTimeout: 0,
        maxHeaderSize: 32 * 1024,
      })
      clients.add(client)
      return { origin, client, used: false }
    },
    release(connection, whole) {
      connection.used = true
      const list = whole ? idleOf(connection.origin) : undefined
      if (list === undefined || list.length >= idlePerOriginMax) discard(connection)
      else list.push(connection)
    },
    async close() {
      await Promise.all([...clients].map((client) => client.destroy()))
      clients.clear()
      idle.clear()
    },
  }
}
