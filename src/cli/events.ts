/** `posthorn events …` (behaviour: command-line 10). */
import type { Command } from 'commander'
import type { Event } from '../api/resources/event.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import { printable, printableJson } from '../lib/text.ts'
import { OperatorError } from '../lib/operator-error.ts'
import { accessOf, asksService, type AccessOptions } from './access.ts'
import { positiveNumber, words, eventList } from './arguments.ts'
import type { Register } from './program.ts'
import { untilStopped } from './terminal.ts'
import { request } from 'undici'
import type { ErrorBody } from '../api/resources/api-error.ts'

interface TailOptions extends AccessOptions {
  events?: string[]
  startingAfter?: string
  count?: number
  full?: boolean
}

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
    .option('--starting-after <event>', 'start after the event with this id; default: with the next event')
    .option('--count <count>', 'stop after this many events', positiveNumber)
    .option('--full', 'print each event as one line of JSON')
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
          { ...access, clock: systemClock(), print: (line) => err(`${printable(line)}\n`), signal },
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
  show(event: Event, n: number): void
}

/** Resolves to the number of events shown. */
async function tail(options: FeedOptions, { types, after, count, show }: Tail): Promise<number> {
  const { clock, signal, print } = options
  let cursor = after ?? (await newestEvent(options))
  let shown = 0
  while (!signal.aborted && cursor !== null) {
    const events = await eventsAfter(options, cursor)
    if (events === 'unknown_cursor') {
      if (cursor === after)
        throw new OperatorError(`No event has the id ${JSON.stringify(after)}. Choose another --starting-after.`)
      print(unknownCursorText)
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

export interface FeedOptions {
  readonly base_url: string
  readonly key: string
  readonly clock: Clock
  readonly print: (line: string) => void
  readonly signal: AbortSignal
}

const pageSize = 100
export const idleMs = 500
export const backoffMs = { first: 1_000, max: 30_000 }

/**
 * Starts at the beginning for ''. undefined when the signal aborted. Rejects with an OperatorError when the service
 * refuses.
 */
export async function eventsAfter(
  options: FeedOptions,
  cursor: string,
): Promise<readonly Event[] | 'unknown_cursor' | undefined> {
  return await fetchEvents(
    options,
    `/v1/events?order=asc&limit=${pageSize}${cursor === '' ? '' : `&starting_after=${encodeURIComponent(cursor)}`}`,
  )
}

/** Empty if there is no event; null when the signal aborted. */
export async function newestEvent(options: FeedOptions): Promise<string | null> {
  const events = await fetchEvents(options, '/v1/events?limit=1')
  return events === undefined || events === 'unknown_cursor' ? null : (events[0]?.id ?? '')
}

export const unknownCursorText =
  'The service does not know the last event any more, possibly because its database was reset. Continuing with the next event.'

/** No types match every event. */
export const isWanted = (type: string, events: readonly string[]): boolean =>
  events.length === 0 ||
  events.some(
    (entry) => entry === '*' || entry === type || (entry.endsWith('.*') && type.startsWith(entry.slice(0, -1))),
  )

/** Retries until the service answers. */
async function fetchEvents(
  options: FeedOptions,
  path: string,
): Promise<readonly Event[] | 'unknown_cursor' | undefined> {
  const { clock, signal, print } = options
  for (let wait = backoffMs.first; !signal.aborted; wait = Math.min(wait * 2, backoffMs.max)) {
    const answer = await get(options, path)
    // the request was aborted
    if (answer.status === 0 && signal.aborted) return undefined
    if (answer.status === 200) return (answer.body as { data: Event[] }).data
    const { error } = (answer.body ?? {}) as { error?: ErrorBody }
    if (answer.status === 400 && error?.param === 'starting_after') return 'unknown_cursor'
    if (answer.status >= 400 && answer.status < 500 && answer.status !== 429)
      throw new OperatorError(
        `The service refuses to show its events (${answer.status}): ${error?.message ?? 'no reason given'}`,
      )
    if (answer.status !== 429)
      print(
        `The service at ${options.base_url} ${answer.status === 0 ? 'cannot be reached' : `answered ${answer.status}`}. Retrying in ${wait / 1000} s.`,
      )
    await clock.sleep(answer.status === 429 ? 1_000 : wait, signal)
  }
  return undefined
}

/** Status 0: no response. */
async function get({ base_url, key, signal }: FeedOptions, path: string): Promise<{ status: number; body: unknown }> {
  try {
    const answer = await request(`${base_url}${path}`, {
      headers: { authorization: `Bearer ${key}` },
      headersTimeout: 30_000,
      bodyTimeout: 30_000,
      signal,
    })
    const text = await answer.body.text()
    return { status: answer.statusCode, body: text.startsWith('{') ? (JSON.parse(text) as unknown) : undefined }
  } catch {
    return { status: 0, body: undefined } // retried
  }
}
