/** Sends requests, and repeats those that may be repeated: never so that something happens twice. */
import { ConnectionError, errorOf, type PosthornError, TimeoutError } from './errors.js'

export interface ClientOptions {
  /** `svc_live_…`, `svc_test_…`, or the key of an integration source. */
  readonly apiKey: string
  /** Where the service runs, without `/v1`: `https://posthorn.example.com`. */
  readonly baseUrl: string
  /** For each attempt, its answer included. Default: 30 000. */
  readonly timeoutMs?: number | undefined
  /** Repetitions after the first attempt, of answers 429 and 503 and of lost connections. Default: 3. */
  readonly maxRetries?: number | undefined
  /** In place of the global one. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

export interface RequestOptions {
  /** Aborts the request and its repetitions: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly maxRetries?: number | undefined
  /** Of a POST; made at random where absent. With the same one a repeated request gets the first one's answer, for 24 hours. */
  readonly idempotencyKey?: string | undefined
}

/** A request as operations describe it. */
export interface Request {
  readonly method: string
  readonly path: string
  readonly query?: object | undefined
  /** Sent as JSON; as it is where `contentType` says what it is. */
  readonly body?: unknown
  readonly contentType?: string
  /** The answer is text, not JSON. */
  readonly text?: boolean
  /** What a DELETE answers that finds the object gone already. */
  readonly deleted?: unknown
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

const firstDelayMs = 500
const longestDelayMs = 8_000
/** Where the service asks for more, the caller decides. */
const longestRetryAfterMs = 60_000
const longestTimerMs = 2 ** 31 - 1

export class Transport {
  readonly #options: ClientOptions
  readonly #base: string
  readonly #fetch: typeof globalThis.fetch

  constructor(options: ClientOptions) {
    if (!options.apiKey) throw new TypeError('apiKey is missing')
    this.#options = options
    this.#base = new URL(options.baseUrl).href.replace(/\/+$/, '')
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  }

  /**
   * The body of the answer. A POST carries an idempotency key, so that its repetition is answered with what the first one did.
   * Rejects with a `PosthornError`, or the reason of the signal.
   */
  async send(request: Request, options: RequestOptions = {}): Promise<unknown> {
    const { signal } = options
    const maxRetries = options.maxRetries ?? this.#options.maxRetries ?? 3
    const url = this.#base + request.path + queryOf(request.query)
    const init = this.#init(request, options)
    let lost = false
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted()
      const result = await this.#attempt(url, init, request, options)
      let error: PosthornError
      let atLeastMs = 0
      if (result instanceof ConnectionError) {
        error = result
        lost = true
      } else if (result.status >= 200 && result.status < 300) return result.body
      else if (lost && result.status === 404 && request.method === 'DELETE') return request.deleted
      else {
        const retryAfterMs = retryAfterMsOf(result.headers)
        error = errorOf(result.status, result.body, result.headers, retryAfterMs)
        atLeastMs = retryAfterMs ?? 0
        if (!isWorthRepeating(error) || atLeastMs > longestRetryAfterMs) throw error
      }
      if (attempt >= maxRetries) throw error
      await delay(delayMs(attempt, atLeastMs), signal)
    }
  }

  #init(request: Request, options: RequestOptions): RequestInit {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#options.apiKey}` }
    // as it stands there, a redirected POST would go on as a GET
    const init: RequestInit = { method: request.method, headers, redirect: 'manual' }
    if (request.method === 'POST') headers['idempotency-key'] = options.idempotencyKey ?? randomKey()
    if (request.body !== undefined) {
      headers['content-type'] = request.contentType ?? 'application/json'
      init.body = request.contentType === undefined ? JSON.stringify(request.body) : (request.body as NonNullable<RequestInit['body']>)
    }
    return init
  }

  /** One request and its whole answer, or why none came. */
  async #attempt(url: string, init: RequestInit, request: Request, { signal, timeoutMs }: RequestOptions): Promise<Answer | ConnectionError> {
    const withinMs = Math.min(timeoutMs ?? this.#options.timeoutMs ?? 30_000, longestTimerMs)
    const controller = new AbortController()
    const abort = () => controller.abort(signal!.reason)
    signal?.addEventListener('abort', abort, { once: true })
    let late = false
    const timer = setTimeout(() => {
      late = true
      controller.abort()
    }, withinMs)
    try {
      const answer = await this.#fetch(url, { ...init, signal: controller.signal })
      const text = await answer.text()
      return { status: answer.status, headers: answer.headers, body: answer.ok && request.text ? text : parsed(text, answer.ok) }
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      if (late) return new TimeoutError({ code: 'timeout', message: `No whole answer came within ${withinMs} ms.`, cause })
      return new ConnectionError({ code: 'connection_failed', message: `No whole answer came: ${reasonOf(cause)}.`, cause })
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }
}

/** Throws on half an answer; a refusal may be anything, as gateways write them. */
function parsed(text: string, ok: boolean): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (ok) throw error
    return undefined
  }
}

/** `fetch` says "fetch failed", and why in its cause. */
const reasonOf = (cause: unknown): string => {
  const { message, cause: inner } = cause as { message?: string; cause?: { message?: string } }
  return inner?.message ? inner.message : (message ?? String(cause))
}

const isWorthRepeating = ({ status, code }: PosthornError): boolean => status === 429 || status === 503 || code === 'idempotency_key_in_use'

/** The wait before the next attempt: between half and all of 0.5, 1, 2, 4, 8 s, and no less than the service asked for. */
const delayMs = (attempt: number, atLeastMs: number): number => {
  const jittered = Math.min(firstDelayMs * 2 ** attempt, longestDelayMs) * (0.5 + Math.random() / 2)
  return Math.max(jittered, atLeastMs)
}

/** In seconds or as a date, as HTTP has it. */
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

/** `crypto.randomUUID` is not there on pages without TLS. */
const randomKey = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

function queryOf(query: object = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()}`
}
