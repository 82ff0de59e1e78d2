/** `posthorn events …`: what happens, as it happens (behaviour: command-line 10). */
import type { Command } from 'commander'
import type { Event } from '../api/resources/event.ts'
import { systemClock } from '../lib/clock.ts'
import { printable, printableJson } from '../lib/printable.ts'
import { OperatorError } from '../lib/operator-error.ts'
import { accessOf, asksService, type AccessOptions } from './access.ts'
import { positiveNumber, words } from './arguments.ts'
import { beginsAnew, eventsAfter, idleMs, isWanted, newestEvent, type FeedOptions } from './event-feed.ts'
import { eventList } from './event-list.ts'
import type { Register } from './program.ts'
import { untilStopped } from './until-stopped.ts'

interface TailOptions extends AccessOptions {
  events?: string[]
  startingAfter?: string
  count?: number
  full?: boolean
}

/** An event in a line: when, what, its id, and what it is about. */
export function eventLine({ created_at, type, id, data }: Event): string {
  const { id: object_id, status, name } = data.object as Readonly<Record<string, unknown>>
  const about = [object_id, status, name].filter((value) => typeof value === 'string').map(printable)
  return [...[created_at, type.padEnd(20), id].map(printable), ...about].join('  ')
}

export const registerEvents: Register = (program, cli) => {
  const events = program.command('events').description('follow what happens')

  asksService(events.command('tail').description('print each event as it happens, until Ctrl-C'), [
    'events tail',
    'events tail --events message.*,campaign.completed',
    'events tail --full | jq .data.object.status',
    'events tail --events message.delivered --count 1 --json',
  ])
    .option('--events <types>', 'comma-separated event types or prefixes such as message.*; default: all', words)
    .option('--starting-after <event>', 'begin behind the event with this id; default: with what happens next')
    .option('--count <count>', 'end after so many events', positiveNumber)
    .option('--full', 'each event whole, as one line of JSON')
    .action(async (options: TailOptions, command: Command) => {
      const types = eventList(options.events, command)
      const { env, out, err } = cli.terminal
      const access = await accessOf(options, env)
      const json = command.optsWithGlobals()['json'] === true
      const show = (event: Event, n: number) => {
        if (json) return out(`${n === 1 ? '[' : ','}\n${printableJson(event)}`)
        return out(`${options.full === true ? printableJson(event) : eventLine(event)}\n`)
      }
      const shown = await untilStopped((signal) =>
        tail(
          { ...access, clock: systemClock(), tell: (line) => err(`${printable(line)}\n`), signal },
          { types, after: options.startingAfter, count: options.count, show },
        ),
      )
      if (json) out(shown === 0 ? '[]\n' : '\n]\n')
    })
}

interface Tail {
  readonly types: readonly string[]
  readonly after: string | undefined
  readonly count: number | undefined
  /** Told of each event, and the how manieth it is. */
  show(event: Event, n: number): void
}

/** Resolves to the number of events that were shown, once the signal aborts or there were enough. */
async function tail(options: FeedOptions, { types, after, count, show }: Tail): Promise<number> {
  const { clock, signal, tell } = options
  let cursor = after ?? (await newestEvent(options))
  let shown = 0
  while (!signal.aborted && cursor !== null) {
    const events = await eventsAfter(options, cursor)
    if (events === 'unknown_cursor') {
      if (cursor === after) throw new OperatorError(`There is no event ${JSON.stringify(after)} to begin behind.`)
      tell(beginsAnew)
      cursor = await newestEvent(options)
      continue
    }
    for (const event of events ?? []) {
      cursor = event.id
      if (!isWanted(event.type, types)) continue
      show(event, ++shown)
      if (shown === count) return shown
    }
    if ((events?.length ?? 0) === 0) await clock.sleep(idleMs, signal)
  }
  return shown
}
