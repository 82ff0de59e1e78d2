/** The throttle of one campaign in the process that sends it: so many a second, evenly, and without making up for what was missed longer than a moment ago. Pure. */

/** How much of what was missed may be made up for: a pass that is late must not leave the rate behind, nor the next ones hurry. */
const catchUpMs = 400

export class Pacer {
  /** When the next message is due, in milliseconds. */
  #next: number

  constructor(now: number) {
    this.#next = now
  }

  /** How many may go at `now`, at so many a second. */
  due(now: number, per_second: number): number {
    // a share that has grown holds nothing up for longer than a message takes by then
    this.#next = Math.min(Math.max(this.#next, now - catchUpMs), now + 1000 / per_second)
    if (this.#next > now) return 0
    return Math.floor(((now - this.#next) * per_second) / 1000) + 1
  }

  /** So many have gone. */
  sent(count: number, per_second: number): void {
    this.#next += (count * 1000) / per_second
  }

  /** When the next message is due, in milliseconds. */
  get next(): number {
    return this.#next
  }
}

/** The share of each, in the order of what they want; never more than that, and all together never more than `rate`. */
export function fairShares(rate: number, wanted: readonly number[]): number[] {
  const shares = wanted.map(() => 0)
  const modestFirst = [...wanted.keys()].toSorted((a, b) => wanted[a]! - wanted[b]!)
  let left = rate
  for (const [taken, index] of modestFirst.entries()) {
    shares[index] = Math.min(wanted[index]!, left / (wanted.length - taken))
    left -= shares[index]
  }
  return shares
}

/** What a campaign would send on its channel. */
export interface Demand {
  readonly channel_id: string
  readonly per_second: number
}

/** null: nothing at the moment. */
interface Sharing {
  readonly demand: Demand | null
}

/** What a campaign may send a second: its throttle and, of its channel's rate, a fair share among those held that send on it. `channel_rate` null: the channel has none. */
export function shareOf(active: Iterable<Sharing>, campaign: Sharing, channel_rate: number | null): number {
  const { channel_id, per_second } = campaign.demand!
  if (channel_rate === null) return per_second
  const sharing = [...active].filter(({ demand }) => demand?.channel_id === channel_id)
  const shares = fairShares(
    channel_rate,
    sharing.map(({ demand }) => demand!.per_second),
  )
  return shares[sharing.indexOf(campaign)] ?? Math.min(per_second, channel_rate)
}

const firstWaitMs = 1000
const longestWaitMs = 60_000
/** More of them are a fault of everybody's: then the campaign waits. */
const deferredMax = 100

export class DeferredRecipients {
  readonly #waiting = new Map<number, { readonly tries: number; readonly until: number }>()

  /** Numbers of those that are not to be tried at `now`. */
  at(now: number): number[] {
    return [...this.#waiting].filter(([, { until }]) => until > now).map(([n]) => n)
  }

  get isFull(): boolean {
    return this.#waiting.size >= deferredMax
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
