/** Sends requests and repeats them where that cannot perform anything twice. */
import { sendable, waits } from './checks.js'
import { ConnectionError, errorOf, type PosthornError, ServerError, TimeoutError } from './errors.js'

export interface ClientOptions {
  /** `svc_live_…`, `svc_test_…`, or the key of an integration source. */
  readonly apiKey: string
  /** Where the service runs, without `/v1`: `https://posthorn.example.com`. */
  readonly baseUrl: string
  /** Per attempt, including its response. Default: 30 000. */
  readonly timeoutMs?: number | undefined
  /** Retries after the first attempt, for 429, 503 and lost connections. Default: 3. */
  readonly maxRetries?: number | undefined
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

export interface RequestOptions {
  /** Aborts the request and its retries: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly maxRetries?: number | undefined
  /** For POST; random by default. A repeated request with the same key gets the first response, for 24 hours. */
  readonly idempotencyKey?: string | undefined
}

/** A request as the operations describe it. */
export interface Request {
  readonly method: string
  /** Path segments, not yet encoded. */
  readonly path: readonly string[]
  readonly query?: object | undefined
  /** Sent as JSON, or unchanged if `contentType` is set. */
  readonly body?: unknown
  readonly contentType?: string
  /** The response is text instead of JSON. */
  readonly text?: boolean
  /** The response to a DELETE whose object is gone already. */
  readonly deleted?: unknown
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

type Init = RequestInit & { readonly headers: Record<string, string> }

const firstDelayMs = 500
const longestDelayMs = 8_000
/** If the service asks for a longer wait, the caller decides. */
const longestRetryAfterMs = 60_000
const longestTimerMs = 2 ** 31 - 1

export class Transport {
  readonly #options: ClientOptions
  readonly #authorization: string
  readonly #base: string
  readonly #fetch: typeof globalThis.fetch

  constructor(options: ClientOptions) {
    if (typeof options !== 'object' || options === null)
      throw new TypeError('the options are missing: { apiKey, baseUrl }')
    if (typeof options.apiKey !== 'string' || options.apiKey.trim() === '') throw new TypeError('apiKey is missing')
    this.#options = waits(options)
    this.#authorization = `Bearer ${sendable('apiKey', options.apiKey.trim())}`
    this.#base = baseOf(options.baseUrl)
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  }

  /**
   * The body of the response. POST requests carry an idempotency key, so that a retry gets the response of the first
   * attempt. Rejects with a `PosthornError`, the reason of the signal, or a `TypeError` if the request is invalid.
   */
  async send(request: Request, options: RequestOptions = {}): Promise<unknown> {
    const { signal } = waits(options)
    const maxRetries = options.maxRetries ?? this.#options.maxRetries ?? 3
    const url = this.#base + request.path.map(segment).join('') + queryOf(request.query)
    const init = this.#init(request, options)
    const idempotencyKey = init.headers['idempotency-key']
    let lost = false
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted()
      const result = await this.#attempt(url, init, options)
      let error: PosthornError
      let atLeastMs = 0
      if (result instanceof ConnectionError) {
        error = result
        lost ||= mayHaveArrived(result.cause)
      } else if (result.status >= 200 && result.status < 300) return bodyOf(result, request, idempotencyKey)
      else {
        const retryAfterMs = retryAfterMsOf(result.headers)
        error = errorOf(result.status, objectIn(result.text), result.headers, { retryAfterMs, idempotencyKey })
        if (lost && request.method === 'DELETE' && error.code === 'resource_missing') return request.deleted
        atLeastMs = retryAfterMs ?? 0
        if (!isWorthRepeating(error) || atLeastMs > longestRetryAfterMs) throw error
      }
      if (attempt >= maxRetries) throw error
      await delay(delayMs(attempt, atLeastMs), signal)
    }
  }

  #init(request: Request, options: RequestOptions): Init {
    const headers: Record<string, string> = { authorization: this.#authorization }
    // a followed redirect would turn a POST into a GET
    const init: Init = { method: request.method, headers, redirect: 'manual' }
    if (request.method === 'POST')
      headers['idempotency-key'] = sendable('idempotencyKey', options.idempotencyKey ?? randomKey())
    if (request.body !== undefined) {
      headers['content-type'] = request.contentType ?? 'application/json'
      init.body =
        request.contentType === undefined
          ? JSON.stringify(request.body)
          : (request.body as NonNullable<RequestInit['body']>)
    }
    return init
  }

  /** One request with its complete response. Ends on timeout and abort, even if `fetch` ignores the signal. */
  async #attempt(url: string, init: Init, { signal, timeoutMs }: RequestOptions): Promise<Answer | ConnectionError> {
    const withinMs = Math.min(timeoutMs ?? this.#options.timeoutMs ?? 30_000, longestTimerMs)
    const controller = new AbortController()
    const abort = () => controller.abort(signal!.reason)
    signal?.addEventListener('abort', abort, { once: true })
    const idempotencyKey = init.headers['idempotency-key']
    let late = false
    const timer = setTimeout(() => {
      late = true
      controller.abort()
    }, withinMs)
    try {
      return await Promise.race([this.#ask(url, { ...init, signal: controller.signal }), aborted(controller.signal)])
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      if (late)
        return new TimeoutError({
          code: 'timeout',
          message: `No whole answer came within ${withinMs} ms.`,
          cause,
          idempotencyKey,
        })
      return new ConnectionError({
        code: 'connection_failed',
        message: `No whole answer came: ${reasonOf(cause)}.`,
        cause,
        idempotencyKey,
      })
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }

  async #ask(url: string, init: RequestInit): Promise<Answer> {
    const answer = await this.#fetch(url, init)
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
}

/** Rejects with the signal's reason when it is aborted. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))

/** Throws a `ServerError` for responses that did not come from the service, such as the page of a proxy. */
function bodyOf({ status, headers, text }: Answer, request: Request, idempotencyKey: string | undefined): unknown {
  if (request.text) return text
  const body = objectIn(text)
  if (body !== undefined) return body
  throw new ServerError({
    message: `The answer was ${status} without JSON of the service: is this its address?`,
    code: `http_${status}`,
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    idempotencyKey,
  })
}

/** Undefined for invalid JSON. */
function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** `fetch` reports only "fetch failed"; the reason is in its cause. */
const reasonOf = (cause: unknown): string => {
  const { message, cause: inner } = (cause ?? {}) as { message?: string; cause?: { message?: string } }
  return inner?.message ? inner.message : (message ?? String(cause))
}

const isWorthRepeating = ({ status, code }: PosthornError): boolean =>
  status === 429 || status === 503 || code === 'idempotency_key_in_use'

const neverSent: readonly unknown[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
]

/** False if the runtime reports that no connection was made. */
function mayHaveArrived(failure: unknown): boolean {
  const { code, cause } = (failure ?? {}) as { code?: unknown; cause?: { code?: unknown } }
  return !neverSent.includes(cause?.code ?? code)
}

/** The delay before the next attempt: half to all of 0.5, 1, 2, 4, 8 s, but at least what the service asked for. */
export const delayMs = (attempt: number, atLeastMs: number): number => {
  const jittered = Math.min(firstDelayMs * 2 ** attempt, longestDelayMs) * (0.5 + Math.random() / 2)
  return Math.max(jittered, atLeastMs)
}

/** Seconds or an HTTP date. */
function retryAfterMsOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0)
}

/** Resolves after this many milliseconds; rejects with the reason of the signal once it is aborted. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error)
      return
    }
    const abort = () => {
      clearTimeout(timer)
      reject(signal!.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** `crypto.randomUUID` is missing on pages without TLS. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

function queryOf(query: object = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()}`
}

/** Throws if the URL is invalid, or has parts that would be dropped. */
function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (
    parsed === undefined ||
    !/^https?:$/.test(parsed.protocol) ||
    parsed.username + parsed.search + parsed.hash !== ''
  )
    throw new TypeError('baseUrl must be an address such as https://posthorn.example.com')
  return parsed.href.replace(/\/+$/, '')
}

/** Throws for segments that would change the path, and for lone surrogates. */
function segment(text: string): string {
  if (typeof text !== 'string' || /^\.{0,2}$|\p{Surrogate}/u.test(text))
    throw new TypeError(`This is not an id: ${JSON.stringify(text)}`)
  return `/${encodeURIComponent(text)}`
}
