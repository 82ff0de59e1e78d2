/** A list: both a promise of its first page and an iterable over all its objects. */

export interface Page<T> {
  readonly object: 'list'
  readonly data: T[]
  readonly has_more: boolean
  /** The `starting_after` of the next page. */
  readonly next_cursor: string | null
}

/** Sends no request until it is awaited or iterated over. */
export class List<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  readonly #read: (starting_after?: string) => Promise<Page<T>>
  #first: Promise<Page<T>> | undefined

  constructor(read: (starting_after?: string) => Promise<Page<T>>) {
    this.#read = read
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a list is a promise on purpose
  then<A = Page<T>, B = never>(
    done?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    failed?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#page().then(done, failed)
  }

  catch<B = never>(failed?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<Page<T> | B> {
    return this.then(null, failed)
  }

  finally(done?: (() => void) | null): Promise<Page<T>> {
    return this.then((page) => page).finally(done)
  }

  /** Failures are not cached: awaiting the list again sends a new request. */
  #page(): Promise<Page<T>> {
    return (this.#first ??= this.#read().catch((error: unknown) => {
      this.#first = undefined
      throw error
    }))
  }

  /** Every object from this page on; further pages are requested as needed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let page = await this.#page()
    for (;;) {
      yield* page.data
      if (!page.has_more || page.next_cursor === null) return
      page = await this.#read(page.next_cursor)
    }
  }
}
