/** How campaigns share the rate of a channel: each gets what it wants up to an equal share, and what one leaves goes to those that want more. Pure. */

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
