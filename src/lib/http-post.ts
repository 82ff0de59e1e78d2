/** Posts a prebuilt body to an address that someone else named: public sockets only, one deadline over the whole exchange, no redirects, answers dropped. */
import type { Client } from 'undici'
import { abortListeners } from './abort-listeners.ts'
import type { SteadyClock } from './clock.ts'
import { connections } from './connections.ts'
import { deadlines } from './deadlines.ts'
import { HttpExchange, type ExchangeEnd } from './http-exchange.ts'
import type { Resolve } from './name-lookup.ts'
import { addressKind, isAllowed, isLiteral } from './public-address.ts'
import { connector, notPublic } from './public-sockets.ts'
import type { PostError } from './post-error.ts'

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
  readonly clock: SteadyClock
  readonly resolve: Resolve
  /** `host:port`s that may be called whatever their address and scheme. */
  readonly allowed_hosts: readonly string[]
  /** Certificates to trust besides the system's; for tests. */
  readonly ca?: string
}

/** Bytes of an answer that are read before the connection is dropped instead. */
const answerBytesMax = 64 * 1024
/** URLs that are kept as they were read. */
const placesMax = 1000

/** A URL as it was read. */
interface Place {
  readonly url: URL
  readonly allowed: boolean
}

export function httpPoster(options: HttpPosterOptions): HttpPoster {
  const kept = connections({ guarded: connector(options, true), free: connector(options, false) })
  const closed = new AbortController()
  const expiry = deadlines(options.clock, closed.signal)
  const places = new Map<string, Place>()
  const quitters = abortListeners()

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
      // Sockets are not asked for a look-up when the host is an address already.
      if (!allowed && isLiteral(url.hostname) && addressKind(url.hostname) !== 'public')
        return { status: null, error: notPublic(url.hostname) }
      const quit = () => post.signal?.aborted ?? false
      if (quit()) return { status: null, error: givenUp }
      let exchange: HttpExchange | undefined
      const deadline = expiry.add(post.timeout_ms, () =>
        exchange?.stop('timeout', `No complete answer within ${post.timeout_ms} ms (${exchange.phase}).`),
      )
      const stay =
        post.signal === undefined
          ? undefined
          : quitters.add(post.signal, () => exchange?.stop(givenUp.code, givenUp.message))
      try {
        for (let repeated = false; ; repeated = true) {
          const connection = kept.take(url.origin, allowed, repeated)
          exchange = new HttpExchange(answerBytesMax, false)
          begin(connection.client, url, post, exchange)
          const end = await exchange.ended
          const stale =
            connection.used &&
            end.status === null &&
            end.error?.code === 'connection_reset' &&
            !deadline.over &&
            !quit()
          kept.giveBack(connection, end.error === null)
          // a kept connection that the receiver had just closed: nothing was answered. Once more on a new one, no oftener: the receiver may have read it all the same
          if (!stale) return outcomeOf(end)
        }
      } finally {
        deadline.cancel()
        stay?.()
      }
    },
    async close() {
      closed.abort()
      await kept.close()
    },
  }
}

const givenUp: PostError = {
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

/** What came of the exchange: an answer that is too long is as good as its status. */
const outcomeOf = ({ status, headers, error, cut }: ExchangeEnd): PostOutcome => ({
  status,
  error: error === null || cut ? statusError(status ?? 0, headers['location']) : error,
})

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
