/** The base class of the generated resources. */
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

  protected page<T>(path: Request['path'], query?: object, options?: RequestOptions): List<T> {
    return new List<T>((starting_after) =>
      this.call(
        { method: 'GET', path, query: { ...query, ...(starting_after === undefined ? {} : { starting_after }) } },
        options,
      ),
    )
  }
}
