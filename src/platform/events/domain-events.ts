/**
 * Domain events: how a module lets the modules after it act in its own transaction. Events are published as arrays, handlers work set-wise
 * and make no network calls. `app.ts` subscribes the handlers, then freezes the registry.
 */
import type { DomainEventPayloads, DomainEventType } from '../../api/domain-events.ts'
import type { Db } from '../database/sql.ts'

export type DomainEventHandler<T extends DomainEventType> = (
  sql: Db,
  events: readonly DomainEventPayloads[T][],
) => Promise<void>

export interface DomainEvents {
  /** Adds a handler; throws after `freeze`. The handlers of an event run in the order of subscription. */
  on<T extends DomainEventType>(type: T, handler: DomainEventHandler<T>): void
  /** Passes the events to each handler in turn, inside the transaction `sql`. */
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
