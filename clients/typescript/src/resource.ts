/** What the generated resources call. */
import { List } from './list.js'
import type { Request, RequestOptions, Transport } from './transport.js'

export class Resource {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  protected call<T>(request: Request, options?: RequestOptions): Promise<T> {
    return this.#transport.send(request, options) as Promise<T>
  }

  protected page<T>(path: string, query?: object, options?: RequestOptions): List<T> {
    return new List<T>((starting_after) =>
      this.call({ method: 'GET', path, query: { ...query, ...(starting_after === undefined ? {} : { starting_after }) } }, options),
    )
  }
}

/** An id within a path. Throws on one that would lead to another path. */
export function segment(id: string): string {
  if (typeof id !== 'string' || /^\.{0,2}$/.test(id)) throw new TypeError(`This is not an id: ${JSON.stringify(id)}`)
  return encodeURIComponent(id)
}
