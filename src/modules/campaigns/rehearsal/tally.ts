/** What a rehearsal counts. */
import type { ZoneCount } from './expected-times.ts'

export class Tally {
  recipients = 0
  skipped = 0
  /** Who have a message already, which has been charged. */
  submitted = 0
  /** Of each one that is still to get a message, the index of its time zone, in order; null where they were counted together. */
  order: number[] | null = null
  readonly #reasons = new Map<string, number>()
  readonly #zones = new Map<string, { readonly index: number; count: number }>()

  /** `reason` null: they are sent to. */
  add(reason: string | null, timezone: string, submitted: boolean, count: number): void {
    this.recipients += count
    if (reason !== null) {
      this.skipped += count
      this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + count)
    } else if (submitted) this.submitted += count
    else this.#zone(timezone).count += count
  }

  /** The next one, in the order of the audience. */
  addOne(reason: string | null, timezone: string, submitted: boolean): void {
    this.add(reason, timezone, submitted, 1)
    this.order ??= []
    if (reason === null && !submitted) this.order.push(this.#zone(timezone).index)
  }

  /** Who have no message yet. */
  get unpaid(): number {
    return this.recipients - this.submitted
  }

  /** Who would get one that is to be paid. */
  get unpaidToSend(): number {
    return this.unpaid - this.skipped
  }

  reasons(): Record<string, number> {
    return Object.fromEntries([...this.#reasons].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  zones(): ZoneCount[] {
    return [...this.#zones].map(([timezone, { count }]) => ({ timezone, count }))
  }

  #zone(timezone: string): { readonly index: number; count: number } {
    let zone = this.#zones.get(timezone)
    if (zone === undefined) this.#zones.set(timezone, (zone = { index: this.#zones.size, count: 0 }))
    return zone
  }
}
