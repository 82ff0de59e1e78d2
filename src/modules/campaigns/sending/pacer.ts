/** The throttle of one campaign in the process that sends it: so many a second, evenly, and without making up for what was missed longer than a moment ago. Pure. */

/** How much of what was missed may be made up for: a pass that is late must not leave the rate behind, nor the next ones hurry. */
const madeUpMs = 400

export class Pacer {
  /** When the next message is due, in milliseconds. */
  #next: number

  constructor(now: number) {
    this.#next = now
  }

  /** How many may go at `now`, at so many a second. */
  due(now: number, per_second: number): number {
    // a share that has grown holds nothing up for longer than a message takes by then
    this.#next = Math.min(Math.max(this.#next, now - madeUpMs), now + 1000 / per_second)
    if (this.#next > now) return 0
    return Math.floor(((now - this.#next) * per_second) / 1000) + 1
  }

  /** So many have gone. */
  went(count: number, per_second: number): void {
    this.#next += (count * 1000) / per_second
  }

  /** When the next message is due, in milliseconds. */
  get next(): number {
    return this.#next
  }
}
