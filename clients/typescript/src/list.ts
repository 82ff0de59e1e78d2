/** A list: a promise of its first page and an iterable over all that it holds, at once. */

export interface Page<T> {
  readonly object: 'list'
  readonly data: T[]
  readonly has_more: boolean
  /** The `starting_after` of the next page. */
  readonly next_cursor: string | null
}

/** Asks for nothing before it is awaited or iterated over. */
export class List<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  readonly #read: (starting_after?: string) => Promise<Page<T>>
  #first: Promise<Page<T>> | undefined

  constructor(read: (starting_after?: string) => Promise<Page<T>>) {
    this.#read = read
  }

  /** The page. */
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

  /** A failure is not kept: whoever awaits the list again asks again. */
  #page(): Promise<Page<T>> {
    return (this.#first ??= this.#read().catch((error: unknown) => {
      this.#first = undefined
      throw error
    }))
  }

  /** Every object from the page on, page for page as they are needed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let page = await this.#page()
    for (;;) {
      yield* page.data
      if (!page.has_more || page.next_cursor === null) return
      page = await this.#read(page.next_cursor)
    }
  }
}
