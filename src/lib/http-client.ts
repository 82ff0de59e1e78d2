/**
 * Calls provider APIs: public addresses only, persistent connections, bounded responses, one deadline, no redirects.
 */
import type { Readable } from 'node:stream'
import { Agent, type Dispatcher } from 'undici'
import type { Clock, SteadyClock } from './clock.ts'
import { deadlines } from './deadlines.ts'
import { fenceNow } from './fence.ts'
import { flatHeaders, HttpExchange, type ExchangeEnd, type PostErrorCode } from './http-exchange.ts'
import { addressKind, hostPort, isAllowed, isLiteral } from './public-address.ts'
import { AddressNotPublic, connector, notPublic, type SocketOptions } from './sockets.ts'
import { traceHeaders } from './trace-context.ts'

/** Retrying is useless. The message contains no secrets. */
export class PermanentError extends Error {}

/** `unsent`: the request certainly reached nobody and may be repeated. `unknown`: it may have arrived. */
export type HttpAnswer =
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: Buffer
    }
  | { readonly kind: 'unsent' | 'unknown'; readonly code: PostErrorCode; readonly message: string }

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** A stream needs a `content-length` header. */
  readonly body?: string | Uint8Array | Readable
  /** For the whole exchange. Default 20 s, for downloads 120 s. */
  readonly timeout_ms?: number
  /** A longer response is `unknown`. Default 1 MB. */
  readonly answer_bytes_max?: number
  readonly signal?: AbortSignal
  /** The server delays its response until there is news: uses separate connections. */
  readonly long_poll?: boolean
}

export interface HttpClient {
  /** Never rejects. `unsent` if the fence of the caller (`fence.ts`) no longer holds. */
  call(call: HttpCall): Promise<HttpAnswer>
  /**
   * Rejects with a PermanentError for a refused address, 404, 410 (MissingFile) and too long bodies; otherwise with an
   * Error.
   */
  download(
    call: HttpCall & { readonly answer_bytes_max: number },
  ): Promise<{ readonly content_type: string; readonly chunks: AsyncIterable<Uint8Array> }>
  close(): Promise<void>
}

export interface HttpClientOptions extends SocketOptions {
  readonly clock: SteadyClock
  /** May be private and use http. */
  readonly allowed_hosts: readonly string[]
}

const defaultTimeoutMs = 20_000
const defaultDownloadMs = 120_000
const defaultAnswerBytes = 1024 * 1024
/** Per origin. A request that waits for a connection until its deadline is `unsent`. */
const connectionsMax = 128
const keepAliveMs = 15_000
const userAgent = 'Posthorn'
const abandonedText = 'The exchange was abandoned.'

export function httpClient(options: HttpClientOptions): HttpClient {
  const agent = (guarded: boolean, connections: number | null) =>
    new Agent({
      connect: connector(options, guarded),
      allowH2: false,
      pipelining: 1,
      connections,
      keepAliveTimeout: keepAliveMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 32 * 1024,
    })
  const brief = { guarded: agent(true, connectionsMax), free: agent(false, connectionsMax) }
  const long = { guarded: agent(true, null), free: agent(false, null) }
  const allowed = (url: URL): boolean => isAllowed(url, options.allowed_hosts)
  const closed = new AbortController()
  const expiry = deadlines(options.clock, closed.signal)
  return {
    async call(call) {
      const url = URL.parse(call.url)
      const refused = url === null ? 'The address is no URL.' : refusedAddress(url, allowed(url))
      if (url === null || refused !== undefined)
        return { kind: 'unsent', code: 'address_not_public', message: refused! }
      if (call.signal?.aborted === true) return { kind: 'unsent', code: 'aborted', message: abandonedText }
      const timeout_ms = call.timeout_ms ?? defaultTimeoutMs
      const exchange = new HttpExchange(call.answer_bytes_max ?? defaultAnswerBytes, true, fenceNow())
      const deadline = expiry.add(timeout_ms, () =>
        exchange.stop('timeout', `No complete answer within ${timeout_ms} ms.`),
      )
      const abandon = () => exchange.stop('aborted', abandonedText)
      call.signal?.addEventListener('abort', abandon)
      try {
        const agents = call.long_poll === true ? long : brief
        ;(allowed(url) ? agents.free : agents.guarded).dispatch(requestOptions(url, call), exchange)
      } catch (error) {
        exchange.fail(error)
      }
      const end = await exchange.ended
      deadline.cancel()
      call.signal?.removeEventListener('abort', abandon)
      return answerOf(end)
    },
    async download(call) {
      const url = URL.parse(call.url)
      const refused = url === null ? 'The address is no URL.' : refusedAddress(url, allowed(url))
      if (url === null || refused !== undefined) throw new PermanentError(refused)
      return await openDownload(options.clock, allowed(url) ? brief.free : brief.guarded, url, call)
    },
    async close() {
      closed.abort()
      await Promise.all([brief, long].flatMap(({ guarded, free }) => [guarded.destroy(), free.destroy()]))
    },
  }
}

const answerOf = ({ status, headers, body, error, begun }: ExchangeEnd): HttpAnswer =>
  error === null
    ? { kind: 'answer', status: status ?? 0, headers: flatHeaders(headers), body }
    : { kind: begun ? 'unknown' : 'unsent', ...error }

/** Literal addresses need no look-up. */
function refusedAddress(url: URL, allowed: boolean): string | undefined {
  if (allowed) return undefined
  if (url.protocol !== 'https:') return `${hostPort(url)} is not called without https.`
  if (isLiteral(url.hostname) && addressKind(url.hostname) !== 'public') return notPublic(url.hostname).message
  return undefined
}

const requestOptions = (url: URL, call: HttpCall): Dispatcher.DispatchOptions => ({
  origin: url.origin,
  path: url.pathname + url.search,
  method: call.method,
  headers: { 'user-agent': userAgent, ...traceHeaders(), ...call.headers },
  body: call.body ?? null,
})

/** 404 or 410. */
export class MissingFile extends PermanentError {}

async function openDownload(
  clock: Clock,
  agent: Agent,
  url: URL,
  call: HttpCall & { readonly answer_bytes_max: number },
) {
  const ended = new AbortController()
  const signal = call.signal === undefined ? ended.signal : AbortSignal.any([ended.signal, call.signal])
  void clock
    .sleep(call.timeout_ms ?? defaultDownloadMs, ended.signal)
    .then(() => ended.abort(new Error('The download took too long.')))
  const answer = await agent
    .request({ ...requestOptions(url, call), signal } as Dispatcher.RequestOptions)
    .catch((error: unknown) => {
      // the timer would keep the process alive
      ended.abort()
      throw error instanceof AddressNotPublic
        ? new PermanentError(`${hostPort(url)} does not lead to a public address.`)
        : error
    })
  if (answer.statusCode < 200 || answer.statusCode > 299) {
    ended.abort(new Error('not wanted'))
    const message = `The answer was ${answer.statusCode} where a file was asked for.`
    throw answer.statusCode === 404 || answer.statusCode === 410 ? new MissingFile(message) : new Error(message)
  }
  return {
    content_type: flatHeaders(answer.headers)['content-type'] ?? 'application/octet-stream',
    chunks: chunksOf(answer.body, call.answer_bytes_max, ended),
  }
}

async function* chunksOf(
  body: AsyncIterable<Uint8Array>,
  bytes_max: number,
  ended: AbortController,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > bytes_max) throw new PermanentError(`The file is longer than ${bytes_max} bytes.`)
      yield chunk
    }
  } finally {
    ended.abort()
  }
}
