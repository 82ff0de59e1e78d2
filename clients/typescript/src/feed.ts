/** Follows the event feed. */
import { atLeast } from './checks.js'
import { ConnectionError, PosthornError } from './errors.js'
import { EventsResource, type EventsListQuery } from './generated/resources.js'
import type { Event } from './generated/types.js'
import type { Page } from './list.js'
import { delay, delayMs, type RequestOptions } from './transport.js'

export interface FollowQuery extends Omit<EventsListQuery, 'order' | 'limit'> {
  /** The ID of the last processed event. Without it, the feed starts with the oldest stored event. */
  readonly starting_after?: string | undefined
  /** How long to wait after reading all events. Default: 1000. */
  readonly pollMs?: number | undefined
}

export class EventFeed extends EventsResource {
  /**
   * Yields all events in order and then waits for new ones, without end. Leave the loop or abort the signal to stop;
   * an abort throws its reason. Without a response, and on 429 and 5xx, it retries with growing delays. Throws on
   * other errors.
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

/** Whether retrying may help. */
const passes = (error: unknown): error is PosthornError =>
  error instanceof ConnectionError ||
  (error instanceof PosthornError && (error.status === 429 || (error.status ?? 0) >= 500))
