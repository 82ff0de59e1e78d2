/** The event feed, followed for as long as its reader likes. */
import { atLeast } from './checks.js'
import { ConnectionError, PosthornError } from './errors.js'
import { EventsResource, type EventsListQuery } from './generated/resources.js'
import type { Event } from './generated/types.js'
import type { Page } from './list.js'
import { delay, delayMs, type RequestOptions } from './transport.js'

export interface FollowQuery extends Omit<EventsListQuery, 'order' | 'limit'> {
  /** The id of the last event that was worked on. Without it the feed begins with the oldest event kept. */
  readonly starting_after?: string | undefined
  /** How long to wait once all was read. Default: 1000. */
  readonly pollMs?: number | undefined
}

export class EventFeed extends EventsResource {
  /**
   * Every event in order, then those to come, without an end: leave the loop, or abort the signal, whose reason it then throws. An outage does not end it:
   * where no answer comes, and on 429 and 5xx, it asks again with growing waits. Throws other refusals.
   */
  async *follow(
    { pollMs = 1000, ...query }: FollowQuery = {},
    options?: RequestOptions,
  ): AsyncGenerator<Event, void, undefined> {
    atLeast('pollMs', pollMs, 0)
    let { starting_after } = query
    for (let failures = 0; ;) {
      let page: Page<Event>
      try {
        page = await this.list({ ...query, order: 'asc', limit: 100, starting_after }, options)
        failures = 0
      } catch (error) {
        if (!passes(error)) throw error
        await delay(delayMs(failures++, (error.retryAfterSeconds ?? 0) * 1000), options?.signal)
        continue
      }
      for (const event of page.data) {
        yield event
        starting_after = event.id
      }
      if (!page.has_more) await delay(pollMs, options?.signal)
    }
  }
}

/** Whether it is an outage that may be over later. */
const passes = (error: unknown): error is PosthornError =>
  error instanceof ConnectionError ||
  (error instanceof PosthornError && (error.status === 429 || (error.status ?? 0) >= 500))
