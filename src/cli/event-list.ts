/** The event types that a command is to follow. */
import type { Command } from 'commander'
import { eventFilters } from '../contract/events.ts'

/** All of them where none are given. What does not fit is wrong usage, as an argument is that is refused while it is read. */
export function eventList(events: readonly string[] | undefined, command: Command): readonly string[] {
  if (events === undefined) return []
  const unknown = events.find((event) => event !== '*' && !eventFilters.includes(event))
  if (unknown !== undefined || events.length === 0)
    command.error(`error: ${unknown ?? 'an empty list'} is no event type. Give types such as message.delivered, or a prefix such as message.*.`)
  return events
}
