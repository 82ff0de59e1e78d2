/** The events that this process has just written, as they stand in the table: whoever delivers them soon need not read them back. */
import type { EventRow } from '../contract/resources/event.ts'

export interface FreshEvents {
  /** Keeps an event that is about to be written; whether it was is for the reader to know, who asks by ids found in the database. */
  add(event: EventRow): void
  /** The event of this id, once. */
  take(id: string): EventRow | undefined
}

const eventsMax = 4_000
/** Of all objects together, in characters. */
const charactersMax = 16_000_000

/** The oldest are forgotten first. */
export function freshEvents(): FreshEvents {
  const events = new Map<string, EventRow>()
  let characters = 0
  const take = (id: string): EventRow | undefined => {
    const event = events.get(id)
    if (event === undefined) return undefined
    events.delete(id)
    characters -= event.object.length
    return event
  }
  return {
    take,
    add(event) {
      events.set(event.id, event)
      characters += event.object.length
      while (events.size > eventsMax || characters > charactersMax) take(events.keys().next().value!)
    },
  }
}
