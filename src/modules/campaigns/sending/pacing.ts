/** The throttle of one campaign, fair shares of a channel's rate, and deferred recipients. Pure. */

/** A late poll catches up at most this much, so that it exceeds the rate only briefly. */
const catchUpMs = 400

export class Pacer {
  #next: number

  constructor(now: number) {
    this.#next = now
  }

  due(now: number, per_second: number): number {
    // after the rate has grown, wait no longer than one message takes at the new rate
    this.#next = Math.min(Math.max(this.#next, now - catchUpMs), now + 1000 / per_second)
    if (this.#next > now) return 0
    return Math.floor(((now - this.#next) * per_second) / 1000) + 1
  }

  sent(count: number, per_second: number): void {
    this.#next += (count * 1000) / per_second
  }

  get next(): number {
    return this.#next
  }
}

/** Max-min fair shares, in the order of `wanted`. */
export function fairShares(rate: number, wanted: readonly number[]): number[] {
  const shares = wanted.map(() => 0)
  const modestFirst = [...wanted.keys()].toSorted((a, b) => wanted[a]! - wanted[b]!)
  let remaining = rate
  for (const [served, index] of modestFirst.entries()) {
    shares[index] = Math.min(wanted[index]!, remaining / (wanted.length - served))
    remaining -= shares[index]
  }
  return shares
}

export interface Demand {
  readonly channel_id: string
  readonly per_second: number
}

interface Sharing {
  readonly demand: Demand | null
}

/** Messages per second. `channel_rate` null: unlimited. */
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
/** With more of them the cause is a general one, and the campaign waits. */
const deferredMax = 100

export class DeferredRecipients {
  readonly #waiting = new Map<number, { readonly tries: number; readonly until: number }>()

  at(now: number): number[] {
    return [...this.#waiting].filter(([, { until }]) => until > now).map(([n]) => n)
  }

  get isFull(): boolean {
    return this.#waiting.size >= deferredMax
  }

  get next(): number {
    return Math.min(...[...this.#waiting.values()].map(({ until }) => until))
  }

  tried(again: readonly number[], decided: readonly number[], now: number): void {
    for (const n of decided) this.#waiting.delete(n)
    for (const n of again) {
      const tries = (this.#waiting.get(n)?.tries ?? 0) + 1
      this.#waiting.set(n, { tries, until: now + Math.min(longestWaitMs, firstWaitMs * 2 ** (tries - 1)) })
    }
  }
}
