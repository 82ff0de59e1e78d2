/** The event types that a command is to follow. */
import type { Command } from 'commander'
import { eventFilters } from '../api/events.ts'
import { nearest } from '../lib/nearest.ts'

/** All of them where none are given. What does not fit is wrong usage, as an argument is that is refused while it is read. */
export function eventList(events: readonly string[] | undefined, command: Command): readonly string[] {
  if (events === undefined) return []
  if (events.length === 0)
    command.error('error: an empty list is no event type. Leave the option out to have all of them.')
  const unknown = events.find((event) => event !== '*' && !eventFilters.includes(event))
  if (unknown !== undefined) {
    const meant = nearest(unknown.slice(0, 64), eventFilters)
    const hint =
      meant === undefined
        ? 'Give types such as message.delivered, or a prefix such as message.*.'
        : `Did you mean ${meant}?`
    command.error(`error: ${unknown} is no event type. ${hint} There are ${eventFilters.join(', ')}.`)
  }
  return events
}
