/** One request to a provider and its whole answer: begun once, and ended once, by its answer, its failure, its deadline or its caller. */
import type { Dispatcher } from 'undici'
import { postErrorOf, type PostErrorCode } from './post-error.ts'

/**
 * `answer`: one came, whatever its status. `unsent`: the request certainly reached nobody, so that it may be repeated.
 * `unknown`: it may have arrived, but no whole answer came.
 */
export type HttpAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: Buffer }
  | { readonly kind: 'unsent' | 'unknown'; readonly code: PostErrorCode; readonly message: string }

const dropped = new Error('dropped')

export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<HttpAnswer>
  readonly #bytes_max: number
  readonly #resolve: (answer: HttpAnswer) => void
  readonly #chunks: Buffer[] = []
  #controller: Dispatcher.DispatchController | undefined
  #ended = false
  #status = 0
  #headers: Readonly<Record<string, string>> = {}
  #bytes = 0

  constructor(bytes_max: number) {
    const { promise, resolve } = Promise.withResolvers<HttpAnswer>()
    this.answer = promise
    this.#resolve = resolve
    this.#bytes_max = bytes_max
  }

  /** Ends it for a reason of ours. What was not begun by then reached nobody. */
  stop(code: 'timeout' | 'aborted', message: string): void {
    this.#end({ kind: this.#arrival, code, message }, false)
  }

  /** What failed before or after the request began. An error by itself tells nothing of that: TLS may break long after its handshake. */
  fail(error: unknown): void {
    const { code, message } = postErrorOf(error)
    this.#end({ kind: this.#arrival, code, message }, true)
  }

  /** The controller comes before the first byte is written. */
  get #arrival(): 'unsent' | 'unknown' {
    return this.#controller === undefined ? 'unsent' : 'unknown'
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#ended) controller.abort(dropped)
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    if (status < 200) return
    this.#status = status
    this.#headers = flatHeaders(headers)
    if (Number(this.#headers['content-length'] ?? 0) > this.#bytes_max) this.#tooLong()
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#bytes_max) this.#tooLong()
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    this.#end({ kind: 'answer', status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks) }, true)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error)
  }

  #tooLong(): void {
    this.#end({ kind: 'unknown', code: 'response_invalid', message: `The answer is longer than ${this.#bytes_max} bytes.` }, false)
  }

  /** `whole`: the connection has nothing more of it. */
  #end(answer: HttpAnswer, whole: boolean): void {
    if (this.#ended) return
    this.#ended = true
    this.#resolve(answer)
    if (!whole) this.#controller?.abort(dropped)
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
