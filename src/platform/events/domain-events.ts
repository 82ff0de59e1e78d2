/** Domain events: handlers of other modules run in the publishing transaction, set-wise and without network calls. */
import type { DomainEventPayloads, DomainEventType } from '../../api/domain-events.ts'
import type { Db } from '../database/sql.ts'

export type DomainEventHandler<T extends DomainEventType> = (
  sql: Db,
  events: readonly DomainEventPayloads[T][],
) => Promise<void>

export interface DomainEvents {
  /** In the order of subscription. Throws after `freeze`. */
  on<T extends DomainEventType>(type: T, handler: DomainEventHandler<T>): void
  publish<T extends DomainEventType>(sql: Db, type: T, events: readonly DomainEventPayloads[T][]): Promise<void>
  freeze(): void
}

export function domainEvents(): DomainEvents {
  const handlers = new Map<DomainEventType, DomainEventHandler<DomainEventType>[]>()
  let frozen = false
  return {
    on(type, handler) {
      if (frozen) throw new Error(`the handler of ${type} was added after the registry was frozen`)
      handlers.set(type, [...(handlers.get(type) ?? []), handler as unknown as DomainEventHandler<DomainEventType>])
    },
    async publish(sql, type, events) {
      if (events.length === 0) return
      for (const handler of handlers.get(type) ?? []) await handler(sql, events)
    },
    freeze() {
      frozen = true
    },
  }
}
