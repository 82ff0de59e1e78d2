/** Recipients of a campaign for whom nothing could be decided just now: they are tried again, more and more rarely, while the others go on. Pure. */

const firstWaitMs = 1000
const longestWaitMs = 60_000
/** More of them are a fault of everybody's: then the campaign waits. */
const setAsideMax = 100

export class SetAside {
  readonly #waiting = new Map<number, { readonly tries: number; readonly until: number }>()

  /** Numbers of those that are not to be tried at `now`. */
  at(now: number): number[] {
    return [...this.#waiting].filter(([, { until }]) => until > now).map(([n]) => n)
  }

  get isFull(): boolean {
    return this.#waiting.size >= setAsideMax
  }

  /** When the first of them is tried again, in milliseconds; Infinity: there is none. */
  get next(): number {
    return Math.min(...[...this.#waiting.values()].map(({ until }) => until))
  }

  /** What came of a pass: those that are to be tried again, and those for whom it was decided. */
  tried(again: readonly number[], decided: readonly number[], now: number): void {
    for (const n of decided) this.#waiting.delete(n)
    for (const n of again) {
      const tries = (this.#waiting.get(n)?.tries ?? 0) + 1
      this.#waiting.set(n, { tries, until: now + Math.min(longestWaitMs, firstWaitMs * 2 ** (tries - 1)) })
    }
  }
}
