/** How many contacts of each campaign are looked at in one transaction: as many as take a fraction of a second, whatever its rules cost. Kept by the process that takes the snapshot. */

const first = 2000
const least = 100
const most = 20_000
/** What a chunk is to take. */
const wantedMs = 300
/** A chunk that takes longer is given up and tried again with fewer contacts; one of the fewest has all the time that any statement has. */
const givenUpAfterMs = 900

export class ChunkSizes {
  readonly #sizes = new Map<string, number>()

  of(campaign_id: string): number {
    return this.#sizes.get(campaign_id) ?? first
  }

  /** The longest that a statement of this chunk may take, in milliseconds; null: as long as any. */
  timeoutMs(campaign_id: string): number | null {
    return this.of(campaign_id) <= least ? null : givenUpAfterMs
  }

  /** A chunk took so long: the next one is larger or smaller by it, at most by half or double. */
  took(campaign_id: string, ms: number): void {
    const factor = Math.min(2, Math.max(0.5, wantedMs / Math.max(ms, 1)))
    this.#keep(campaign_id, Math.round(this.of(campaign_id) * factor))
  }

  /** A chunk was given up. */
  tooSlow(campaign_id: string): void {
    this.#keep(campaign_id, Math.floor(this.of(campaign_id) / 4))
  }

  forget(campaign_id: string): void {
    this.#sizes.delete(campaign_id)
  }

  #keep(campaign_id: string, size: number): void {
    this.#sizes.set(campaign_id, Math.min(most, Math.max(least, size)))
  }
}
