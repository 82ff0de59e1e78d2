/** Statistics of paired rounds: the median of their ratios, and an interval around it that assumes nothing of how they are spread. */
import { median } from '../figures.ts'

/** What two sides did in the same moment, one right after the other. */
export interface Pair<T> {
  readonly before: T
  readonly after: T
}

export interface Interval {
  readonly median: number
  readonly low: number
  readonly high: number
  /** With which probability the interval holds the true median: at least what was wanted, if there are values enough for it. */
  readonly confidence: number
}

const confidenceWanted = 0.95

export type Side = keyof Pair<unknown>

/** The side whose turn it is to be first, the nth time from 0, where `first` is the first at 0. */
export const firstAt = (n: number, first: Side): Side => ((n % 2 === 0) === (first === 'before') ? 'before' : 'after')

/** Runs one side and then the other. */
export async function both<T>(first: Side, sides: Pair<() => Promise<T>>): Promise<Pair<T>> {
  if (first === 'before') {
    const before = await sides.before()
    return { before, after: await sides.after() }
  }
  const after = await sides.after()
  return { before: await sides.before(), after }
}

/** Runs both sides so many times, in the order A B B A A B …: neither is always the first, and what drifts hits both. A is the side `first`. */
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

/** After over before, for each pair. */
export const ratios = <T>(pairs: readonly Pair<T>[], of: (round: T) => number): number[] =>
  pairs.map(({ before, after }) => of(after) / of(before))

/**
 * The median and the narrowest pair of order statistics that holds the true one with this probability. How many of `n` values lie below the true median is
 * binomial with one half, whatever they are; fewer than six values reach no 95 %, and the interval is then from the least to the greatest.
 */
export function medianInterval(values: readonly number[], wanted = confidenceWanted): Interval {
  const sorted = values.toSorted((one, other) => one - other)
  const n = sorted.length
  if (n === 0) return { median: Number.NaN, low: Number.NaN, high: Number.NaN, confidence: 0 }
  // `below`: the probability that at most `skipped` values lie on one side of the true median
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

/** One over an interval: of costs, how much is done for the same. */
export const inverse = ({ median: middle, low, high, confidence }: Interval): Interval => ({
  median: 1 / middle,
  low: 1 / high,
  high: 1 / low,
  confidence,
})

export interface Verdict {
  readonly least: number
  /** Of the median. */
  readonly met: boolean
  /** False where the interval reaches across the gate, or is none of 95 %: more pairs would tell. */
  readonly certain: boolean
}

/** On which side of a gate a performance is. */
export function judge(performance: Interval, least: number): Verdict {
  const met = performance.median >= least
  const oneSided = met ? performance.low >= least : performance.high < least
  return { least, met, certain: oneSided && performance.confidence >= confidenceWanted }
}
