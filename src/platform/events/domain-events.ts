/** Facts and the reactions to them: set-wise, in the publisher's transaction, without network calls. `app.ts` subscribes, then freezes. */
import type { FactPayloads, FactType } from '../../api/domain-events.ts'
import type { Db } from '../database/sql.ts'

export type Reaction<T extends FactType> = (sql: Db, facts: readonly FactPayloads[T][]) => Promise<void>

export interface Reactions {
  /** Adds a reaction; refused after `freeze`. Reactions to one fact run in the order of subscription. */
  on<T extends FactType>(type: T, reaction: Reaction<T>): void
  /** Tells the facts to every reaction, one after the other, inside the transaction `sql`. */
  publish<T extends FactType>(sql: Db, type: T, facts: readonly FactPayloads[T][]): Promise<void>
  freeze(): void
}

export function reactions(): Reactions {
  const subscribed = new Map<FactType, Reaction<FactType>[]>()
  let frozen = false
  return {
    on(type, reaction) {
      if (frozen) throw new Error(`the reaction to ${type} was subscribed after the service began to listen`)
      subscribed.set(type, [...(subscribed.get(type) ?? []), reaction as unknown as Reaction<FactType>])
    },
    async publish(sql, type, facts) {
      if (facts.length === 0) return
      for (const reaction of subscribed.get(type) ?? []) await reaction(sql, facts)
    },
    freeze() {
      frozen = true
    },
  }
}
