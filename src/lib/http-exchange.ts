/**
 * One HTTP exchange of provider calls and webhooks, ended once by its response, a failure, a deadline or the caller.
 */
import type { Dispatcher } from 'undici'
import { fencedOff, type Fence } from './fence.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

export interface ExchangeEnd {
  /** null if none arrived. Also set when the exchange failed after the headers. */
  readonly status: number | null
  readonly headers: Headers
  readonly body: Buffer
  /** null after a complete response with any status. */
  readonly error: PostError | null
  readonly cut: boolean
  /** False: the request certainly reached nobody. */
  readonly begun: boolean
}

const dropped = new Error('dropped')
const nothing = Buffer.alloc(0)

export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly ended: Promise<ExchangeEnd>
  readonly #bytes_max: number
  readonly #resolve: (end: ExchangeEnd) => void
  readonly #chunks: Buffer[] | null
  readonly #fence: Fence | undefined
  #controller: Dispatcher.DispatchController | undefined
  #ended = false
  #status: number | null = null
  #headers: Headers = {}
  #bytes = 0

  /** Without `keeps_body` the response body is discarded. Nothing is written if the fence no longer holds. */
  constructor(bytes_max: number, keeps_body: boolean, fence?: Fence) {
    const { promise, resolve } = Promise.withResolvers<ExchangeEnd>()
    this.ended = promise
    this.#resolve = resolve
    this.#bytes_max = bytes_max
    this.#chunks = keeps_body ? [] : null
    this.#fence = fence
  }

  get phase(): string {
    if (this.#controller === undefined) return 'connecting'
    return this.#status === null ? 'waiting for the answer' : 'reading the answer'
  }

  stop(code: PostErrorCode, message: string): void {
    this.#end({ code, message })
    this.#controller?.abort(dropped)
  }

  /** The error alone does not show whether the request began: TLS may break long after its handshake. */
  fail(error: unknown): void {
    this.#end(postErrorOf(error))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (!this.#ended && this.#fence?.() === false) this.#end({ code: 'aborted', message: fencedOff })
    if (this.#ended) controller.abort(dropped)
    else this.#controller = controller
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    if (Number(headers['content-length'] ?? 0) > this.#bytes_max) this.#tooLong()
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#bytes_max) this.#tooLong()
    else this.#chunks?.push(chunk)
  }

  onResponseEnd(): void {
    this.#end(null)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error)
  }

  #tooLong(): void {
    this.#end({ code: 'response_invalid', message: `The answer is longer than ${this.#bytes_max} bytes.` }, true)
    this.#controller?.abort(dropped)
  }

  #end(error: PostError | null, cut = false): void {
    if (this.#ended) return
    this.#ended = true
    const body = this.#chunks === null || error !== null ? nothing : Buffer.concat(this.#chunks)
    this.#resolve({
      status: this.#status,
      headers: this.#headers,
      body,
      error,
      cut,
      begun: this.#controller !== undefined,
    })
  }
}

export function flatHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) flat[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return flat
}

export type PostErrorCode =
  | 'dns_failed'
  | 'tls_failed'
  | 'connection_refused'
  | 'connection_reset'
  | 'host_unreachable'
  | 'timeout'
  | 'redirect'
  | 'response_invalid'
  | 'address_not_public'
  | 'aborted'
  | `status_${number}`

export interface PostError {
  readonly code: PostErrorCode
  readonly message: string
}

const tlsCodes =
  /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH)/
const dnsCodes = /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL|EREFUSED|EBADNAME|ENONAME)/

export function postErrorOf(error: unknown): PostError {
  const cause = error instanceof AggregateError && error.errors.length > 0 ? (error.errors[0] as unknown) : error
  if (hasPostError(cause)) return cause.postError
  const text = cause instanceof Error ? cause.message : String(cause)
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
  if (isLookup(cause) || dnsCodes.test(code))
    return { code: 'dns_failed', message: `The host name could not be resolved (${code || text}).` }
  if (tlsCodes.test(code) || text.includes('before secure TLS connection'))
    return { code: 'tls_failed', message: `The TLS handshake failed: ${text.slice(0, 300)} (${code}).` }
  // undici's error for an unexpected 100 Continue
  if (text === 'bad response')
    return {
      code: 'response_invalid',
      message: 'The receiver answered 100 Continue, which nothing asked for, instead of a final status.',
    }
  if (code === 'ECONNREFUSED')
    return { code: 'connection_refused', message: 'Nothing accepts connections at this host and port.' }
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT')
    return { code: 'timeout', message: 'The connection could not be opened in time.' }
  if (/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN|ENETDOWN)$/.test(code))
    return { code: 'host_unreachable', message: `No route leads to the host (${code}).` }
  if (
    /^(HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_|UND_ERR_NOT_SUPPORTED|ERR_ASSERTION)/.test(code) ||
    text.includes('bad upgrade') ||
    (cause instanceof Error && cause.name === 'HTTPParserError')
  ) {
    return {
      code: 'response_invalid',
      message: `The answer is not valid HTTP (${text.split('\n', 1)[0]!.slice(0, 200)}).`,
    }
  }
  if (/^(ECONNRESET|EPIPE|UND_ERR_SOCKET|ECONNABORTED)$/.test(code))
    return { code: 'connection_reset', message: 'The receiver closed the connection before its answer was complete.' }
  return {
    code: 'connection_reset',
    message: `The exchange broke off: ${text.slice(0, 300)}${code === '' ? '' : ` (${code})`}.`,
  }
}

const hasPostError = (error: unknown): error is { postError: PostError } =>
  typeof error === 'object' && error !== null && 'postError' in error
const isLookup = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'lookup' in error && error.lookup === true
