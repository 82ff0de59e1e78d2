/** Adapts the number of contacts per transaction, so that each takes a fraction of a second. */

const first = 2000
const least = 100
const most = 20_000
const wantedMs = 300
/** Slower chunks are aborted and retried with fewer contacts. The smallest chunk has no limit. */
const abortAfterMs = 900

export class ChunkSizes {
  readonly #sizes = new Map<string, number>()

  of(campaign_id: string): number {
    return this.#sizes.get(campaign_id) ?? first
  }

  /** Statement timeout; null: the default. */
  timeoutMs(campaign_id: string): number | null {
    return this.of(campaign_id) <= least ? null : abortAfterMs
  }

  record(campaign_id: string, ms: number): void {
    const factor = Math.min(2, Math.max(0.5, wantedMs / Math.max(ms, 1)))
    this.#keep(campaign_id, Math.round(this.of(campaign_id) * factor))
  }

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
