/** Work on one and the same thing, done one after the other within this process. */
export class InOrder {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Does the work once what was asked for before it under this key has ended; resolves and rejects as the work does. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    this.#last.set(key, mine)
    try {
      return await mine
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key)
    }
  }
}
