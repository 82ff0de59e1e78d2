/** Long work on the one thread that answers everybody: done in turns of a few milliseconds, between which as long goes to everything else. */
import { pause } from './clock.ts'

/** Real time, since it is the thread that is shared and not what a clock says. */
const turnMs = 5

export class Turns {
  readonly #ended: AbortSignal | undefined
  #beganMs = performance.now()

  /** `ended` aborts when the work is not wanted any more. */
  constructor(ended?: AbortSignal) {
    this.#ended = ended
  }

  /** To be awaited between two pieces of work of less than a millisecond: resolves at once until the turn is over. Rejects with the reason of `ended`. */
  async next(): Promise<void> {
    if (performance.now() - this.#beganMs < turnMs) return
    await pause(turnMs)
    this.#ended?.throwIfAborted()
    this.#beganMs = performance.now()
  }
}
