/** The event feed as commands follow it: asked again until it answers, and told when it does not. */
import { request } from 'undici'
import type { ErrorBody } from '../api/resources/api-error.ts'
import type { Event } from '../api/resources/event.ts'
import type { Clock } from '../lib/clock.ts'
import { OperatorError } from '../lib/operator-error.ts'

export interface FeedOptions {
  readonly base_url: string
  readonly key: string
  readonly clock: Clock
  /** Told what happens, a line at a time. */
  readonly tell: (line: string) => void
  readonly signal: AbortSignal
}

const pageSize = 100
/** How long to wait where nothing new was there. */
export const idleMs = 500
export const backoffMs = { first: 1_000, max: 30_000 }

/** The next events behind this one, in their order, from the start of the feed for ''. undefined when the signal aborted before. Rejects with an OperatorError when the service refuses. */
export async function eventsAfter(
  options: FeedOptions,
  cursor: string,
): Promise<readonly Event[] | 'unknown_cursor' | undefined> {
  return await ask(
    options,
    `/v1/events?order=asc&limit=${pageSize}${cursor === '' ? '' : `&starting_after=${encodeURIComponent(cursor)}`}`,
  )
}

/** The id of the newest event, or nothing when there is none; null when the signal aborted before the service answered. */
export async function newestEvent(options: FeedOptions): Promise<string | null> {
  const events = await ask(options, '/v1/events?limit=1')
  return events === undefined || events === 'unknown_cursor' ? null : (events[0]?.id ?? '')
}

/** What to say where the place in the feed is gone. */
export const beginsAnew =
  'The service no longer knows the place in the feed, as after a reset of its database: beginning with what happens next.'

/** Whether an event of this type is among these types and prefixes; none at all mean every one. */
export const isWanted = (type: string, events: readonly string[]): boolean =>
  events.length === 0 ||
  events.some(
    (entry) => entry === '*' || entry === type || (entry.endsWith('.*') && type.startsWith(entry.slice(0, -1))),
  )

/** Asks the service until it answers; undefined when the signal aborted before. */
async function ask(options: FeedOptions, path: string): Promise<readonly Event[] | 'unknown_cursor' | undefined> {
  const { clock, signal, tell } = options
  for (let wait = backoffMs.first; !signal.aborted; wait = Math.min(wait * 2, backoffMs.max)) {
    const answer = await get(options, path)
    // what was asked was given up
    if (answer.status === 0 && signal.aborted) return undefined
    if (answer.status === 200) return (answer.body as { data: Event[] }).data
    const { error } = (answer.body ?? {}) as { error?: ErrorBody }
    if (answer.status === 400 && error?.param === 'starting_after') return 'unknown_cursor'
    if (answer.status >= 400 && answer.status < 500 && answer.status !== 429)
      throw new OperatorError(
        `The service refuses to show its events (${answer.status}): ${error?.message ?? 'no reason given'}`,
      )
    if (answer.status !== 429)
      tell(
        `The service at ${options.base_url} ${answer.status === 0 ? 'cannot be reached' : `answered ${answer.status}`}. Again in ${wait / 1000} s.`,
      )
    await clock.sleep(answer.status === 429 ? 1_000 : wait, signal)
  }
  return undefined
}

/** Status 0: no answer. */
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
    return { status: 0, body: undefined } // refused, reset or ended: asked again
  }
}
