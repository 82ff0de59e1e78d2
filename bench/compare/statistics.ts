/** Statistics of paired rounds: the median ratio with a distribution-free interval. */
import { median } from '../figures.ts'

export interface Pair<T> {
  readonly before: T
  readonly after: T
}

export interface Interval {
  readonly median: number
  readonly low: number
  readonly high: number
  /** Probability that the interval contains the true median. */
  readonly confidence: number
}

const confidenceWanted = 0.95

export type Side = keyof Pair<unknown>

/** The side that starts the nth time, from 0. */
export const firstAt = (n: number, first: Side): Side => ((n % 2 === 0) === (first === 'before') ? 'before' : 'after')

export async function both<T>(first: Side, sides: Pair<() => Promise<T>>): Promise<Pair<T>> {
  if (first === 'before') {
    const before = await sides.before()
    return { before, after: await sides.after() }
  }
  const after = await sides.after()
  return { before: await sides.before(), after }
}

/** In the order A B B A A B …, which cancels drift. A is the side `first`. */
export async function alternating<T>(
  pairs: number,
  first: Side,
  sides: Pair<() => Promise<T>>,
  onPair: (pair: Pair<T>, n: number) => void = () => undefined,
): Promise<Pair<T>[]> {
  const results: Pair<T>[] = []
  for (let n = 0; n < pairs; n++) {
    results.push(await both(firstAt(n, first), sides))
    onPair(results.at(-1)!, n)
  }
  return results
}

export const ratios = <T>(pairs: readonly Pair<T>[], of: (round: T) => number): number[] =>
  pairs.map(({ before, after }) => of(after) / of(before))

/**
 * The narrowest pair of order statistics with this probability (binomial, one half). Fewer than six values reach no 95
 * %: the whole range.
 */
export function medianInterval(values: readonly number[], wanted = confidenceWanted): Interval {
  const sorted = values.toSorted((one, other) => one - other)
  const n = sorted.length
  if (n === 0) return { median: Number.NaN, low: Number.NaN, high: Number.NaN, confidence: 0 }
  let skipped = 0
  let below = 0.5 ** n
  let term = below
  for (let k = 1; 2 * k < n; k++) {
    term *= (n - k + 1) / k
    if (1 - 2 * (below + term) < wanted) break
    below += term
    skipped = k
  }
  return { median: median(sorted), low: sorted[skipped]!, high: sorted[n - 1 - skipped]!, confidence: 1 - 2 * below }
}

/** Turns costs into performance. */
export const inverse = ({ median: middle, low, high, confidence }: Interval): Interval => ({
  median: 1 / middle,
  low: 1 / high,
  high: 1 / low,
  confidence,
})

export interface Verdict {
  readonly least: number
  readonly met: boolean
  /** False if the interval contains the gate or has less than 95 %. */
  readonly certain: boolean
}

export function judge(performance: Interval, least: number): Verdict {
  const met = performance.median >= least
  const oneSided = met ? performance.low >= least : performance.high < least
  return { least, met, certain: oneSided && performance.confidence >= confidenceWanted }
}
