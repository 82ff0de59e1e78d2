/** What a process remembers of a channel from one session to the next, while it holds them: what was half sent, or perhaps not heard. All of it is bounded. */

export interface ChannelMemory {
  /** Of messages of several parts that are not all taken yet: the id of each part that is, by the id of the message. */
  readonly taken: Map<string, Map<number, string>>
  /** Ids that hand-overs were answered with, the oldest first, each with the recipient. */
  readonly ids: Map<string, string>
  /** Packets that were stored and answered, when the answer may not have arrived, each with when by the elapsed time: they come again. */
  readonly outcome_unknown: Map<string, number>
}

export const channelMemory = (): ChannelMemory => ({ taken: new Map(), ids: new Map(), outcome_unknown: new Map() })

/** Drops the oldest of a collection beyond so many. */
export function bound(collection: Map<string, unknown>, max: number): void {
  for (const key of collection.keys()) {
    if (collection.size <= max) return
    collection.delete(key)
  }
}
