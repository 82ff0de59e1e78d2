/** Waiting until nothing is under way. */
import type { Clock } from '../../../lib/clock.ts'

export class Quiet {
  readonly #clock: Clock
  readonly #isQuiet: () => boolean
  #waiting: (() => void)[] = []

  /** `isQuiet` is asked by `check`, which whoever ends something calls. */
  constructor(clock: Clock, isQuiet: () => boolean) {
    this.#clock = clock
    this.#isQuiet = isQuiet
  }

  check(): void {
    if (!this.#isQuiet()) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  /** Resolves once it is quiet. */
  async wait(): Promise<void> {
    if (this.#isQuiet()) return
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Resolves once it is quiet, at the latest after so many milliseconds. A waiter of its own each time: under load it is never quiet. */
  async waitAtMost(ms: number): Promise<void> {
    if (this.#isQuiet()) return
    const over = new AbortController()
    let resolve = (): void => undefined
    const quiet = new Promise<void>((done) => this.#waiting.push((resolve = done)))
    await Promise.race([quiet, this.#clock.sleep(ms, over.signal)])
    over.abort()
    this.#waiting = this.#waiting.filter((waiter) => waiter !== resolve)
  }
}
