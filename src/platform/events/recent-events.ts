/** Events that this process wrote a moment ago, for its own readers. */
import type { EventRow } from './outbox.ts'

export interface RecentEvents {
  /**
   * Before the event is written, and only if its type is in use. `take` may return it although its transaction failed.
   */
  add(event: EventRow): void
  /**
   * Removes and returns an event. From then on events of this type are stored, until a thousand in a row were evicted.
   */
  take(id: string, type: string): EventRow | undefined
}

const eventsMax = 4_000
const charactersMax = 16_000_000
/** Evictions in a row after which a type is no longer in use. */
const unusedMax = 1_000

export function recentEvents(): RecentEvents {
  const events = new Map<string, EventRow>()
  /** By type, since the last `take`. */
  const unused = new Map<string, number>()
  let characters = 0
  const remove = (event: EventRow): void => {
    events.delete(event.id)
    characters -= event.object.length
  }
  const evict = (event: EventRow): void => {
    remove(event)
    const count = (unused.get(event.type) ?? 0) + 1
    if (count < unusedMax) return void unused.set(event.type, count)
    unused.delete(event.type)
    for (const other of events.values()) if (other.type === event.type) remove(other)
  }
  return {
    take(id, type) {
      unused.set(type, 0)
      const event = events.get(id)
      if (event !== undefined) remove(event)
      return event
    },
    add(event) {
      if (!unused.has(event.type)) return
      events.set(event.id, event)
      characters += event.object.length
      while (events.size > eventsMax || characters > charactersMax) evict(events.values().next().value!)
    },
  }
}
