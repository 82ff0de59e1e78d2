/** One HTTP request and its whole answer: begun once, and ended once, by its answer, its failure, its deadline or its caller. Calls of providers and webhooks alike are made of it. */
import type { Dispatcher } from 'undici'
import { fencedOff, type Fence } from './fence.ts'
import { postErrorOf, type PostError, type PostErrorCode } from './post-error.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

export interface ExchangeEnd {
  /** The status of the answer; null when none came. Set also where the exchange failed after its headers. */
  readonly status: number | null
  readonly headers: Headers
  /** Empty where the body is not kept. */
  readonly body: Buffer
  /** Null after a complete answer, whatever its status. */
  readonly error: PostError | null
  /** The answer was longer than it may be, and was not read to its end. */
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

  /** `bytes_max`: of the answer's body; `keeps_body` false: it is read, and dropped. Where a fence does not hold when the first byte is to be written, none is. */
  constructor(bytes_max: number, keeps_body: boolean, fence?: Fence) {
    const { promise, resolve } = Promise.withResolvers<ExchangeEnd>()
    this.ended = promise
    this.#resolve = resolve
    this.#bytes_max = bytes_max
    this.#chunks = keeps_body ? [] : null
    this.#fence = fence
  }

  /** What it is waiting for, in words. */
  get phase(): string {
    if (this.#controller === undefined) return 'connecting'
    return this.#status === null ? 'waiting for the answer' : 'reading the answer'
  }

  /** Ends it at once for a reason of ours, also while it still waits to be connected. */
  stop(code: PostErrorCode, message: string): void {
    this.#end({ code, message })
    this.#controller?.abort(dropped)
  }

  /** What failed before or after the request began. An error by itself tells nothing of that: TLS may break long after its handshake. */
  fail(error: unknown): void {
    this.#end(postErrorOf(error))
  }

  /** The controller comes before the first byte is written. */
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
