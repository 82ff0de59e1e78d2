/** Posts a prebuilt body to an address that someone else named: public sockets only, one deadline over the whole exchange, no redirects, answers dropped. */
import type { Client, Dispatcher } from 'undici'
import { abortListeners } from './abort-listeners.ts'
import type { Clock } from './clock.ts'
import { connections } from './connections.ts'
import { deadlines } from './deadlines.ts'
import type { Resolve } from './name-lookup.ts'
import { addressKind, isAllowed, isLiteral } from './public-address.ts'
import { connector, notPublic } from './public-sockets.ts'
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
/** URLs that are kept as they were read. */
const placesMax = 1000

/** A URL as it was read. */
interface Place {
  readonly url: URL
  readonly allowed: boolean
}

/** Who may be stopped: by the deadline, or by giving up. */
interface Exchange {
  stop(error: PostError): void
  /** What it is waiting for, in words. */
  phase: string
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
      if (!allowed && isLiteral(url.hostname) && addressKind(url.hostname) !== 'public') return { status: null, error: notPublic(url.hostname) }
      const quit = () => post.signal?.aborted ?? false
      if (quit()) return { status: null, error: givenUp }
      const exchange: Exchange = { stop: () => undefined, phase: 'connecting' }
      const deadline = expiry.add(post.timeout_ms, () =>
        exchange.stop({ code: 'timeout', message: `No complete answer within ${post.timeout_ms} ms (${exchange.phase}).` }),
      )
      const stay = post.signal === undefined ? undefined : quitters.add(post.signal, () => exchange.stop(givenUp))
      try {
        for (;;) {
          const connection = kept.take(url.origin, allowed)
          const { outcome, whole } = await once(connection.client, url, post, exchange)
          const stale = connection.used && outcome.status === null && outcome.error?.code === 'connection_reset' && !deadline.over && !quit()
          kept.giveBack(connection, whole)
          // a kept connection that the receiver had just closed: nothing was answered, and the next one may be sound
          if (!stale) return outcome
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

const givenUp: PostError = { code: 'aborted', message: 'The exchange was given up because the service is shutting down.' }

/** One request on one connection. `exchange.stop` ends it at once, also while it still waits to be connected. `whole`: the connection is good for another. */
function once(client: Client, url: URL, post: Post, exchange: Exchange): Promise<{ outcome: PostOutcome; whole: boolean }> {
  return new Promise((resolve) => {
    let status: number | null = null
    let bytes = 0
    let ended = false
    let controller: Dispatcher.DispatchController | undefined
    let location: string | string[] | undefined
    const finish = (error: PostError | null, whole: boolean) => {
      if (ended) return
      ended = true
      resolve({ outcome: { status, error }, whole })
      if (!whole) controller?.abort(dropped)
    }
    exchange.phase = 'connecting'
    // a literal assigned to a property would be old at once, and what it holds on to with it (docs/decisions/bounded-heap.md)
    const stop = (error: PostError) => finish(error, false)
    exchange.stop = stop
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started
        exchange.phase = 'waiting for the answer'
        if (ended) started.abort(dropped)
      },
      onResponseStart(_controller, code, headers) {
        if (code < 200) return
        status = code
        exchange.phase = 'reading the answer'
        location = headers['location']
        if (Number(headers['content-length'] ?? 0) > answerBytesMax) finish(statusError(code, location), false)
      },
      onResponseData(_controller, chunk) {
        bytes += chunk.length
        if (bytes > answerBytesMax && status !== null) finish(statusError(status, location), false)
      },
      onResponseEnd: () => finish(statusError(status ?? 0, location), true),
      onResponseError: (_controller, error) => finish(postErrorOf(error), false),
    }
    try {
      client.dispatch({ method: 'POST', path: url.pathname + url.search, headers: post.headers as string[], body: post.body }, handler)
    } catch (error) {
      finish(postErrorOf(error), false)
    }
  })
}

const dropped = new Error('dropped')

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
