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
export function shareOf(held: Iterable<Sharing>, campaign: Sharing, channel_rate: number | null): number {
  const { channel_id, per_second } = campaign.demand!
  if (channel_rate === null) return per_second
  const sharing = [...held].filter(({ demand }) => demand?.channel_id === channel_id)
  const shares = fairShares(
    channel_rate,
    sharing.map(({ demand }) => demand!.per_second),
  )
  return shares[sharing.indexOf(campaign)] ?? Math.min(per_second, channel_rate)
}
