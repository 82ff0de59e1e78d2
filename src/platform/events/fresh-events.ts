/** The events that this process has just written, as they stand in the table: whoever delivers them soon need not read them back. */
import type { EventRow } from './outbox.ts'

export interface FreshEvents {
  /** Keeps an event that is about to be written, where events of its type are asked for; whether it was written is for the reader to know, who asks by ids found in the database. */
  add(event: EventRow): void
  /** The event of this id, once. From then on events of its type are kept. */
  take(id: string, type: string): EventRow | undefined
}

const eventsMax = 4_000
/** Of all objects together, in characters. */
const charactersMax = 16_000_000
/** So many of a type in a row were forgotten unasked: nobody is told of it any more. */
const unaskedMax = 1_000

/** The oldest are forgotten first. What nobody asks for is not kept at all: it would live just long enough to be costly to collect. */
export function freshEvents(): FreshEvents {
  const events = new Map<string, EventRow>()
  /** Of the types that are asked for, how many were forgotten unasked since. */
  const unasked = new Map<string, number>()
  let characters = 0
  const remove = (event: EventRow): void => {
    events.delete(event.id)
    characters -= event.object.length
  }
  const forget = (event: EventRow): void => {
    remove(event)
    const count = (unasked.get(event.type) ?? 0) + 1
    if (count < unaskedMax) return void unasked.set(event.type, count)
    unasked.delete(event.type)
    for (const other of events.values()) if (other.type === event.type) remove(other)
  }
  return {
    take(id, type) {
      unasked.set(type, 0)
      const event = events.get(id)
      if (event !== undefined) remove(event)
      return event
    },
    add(event) {
      if (!unasked.has(event.type)) return
      events.set(event.id, event)
      characters += event.object.length
      while (events.size > eventsMax || characters > charactersMax) forget(events.values().next().value!)
    },
  }
}
