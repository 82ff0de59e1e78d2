/** The event feed, followed for as long as its reader likes. */
import { EventsResource, type EventsListQuery } from './generated/resources.js'
import type { Event } from './generated/types.js'
import { delay, type RequestOptions } from './transport.js'

export interface FollowQuery extends Omit<EventsListQuery, 'order' | 'limit'> {
  /** The id of the last event that was worked on. Without it the feed begins with the oldest event kept. */
  readonly starting_after?: string
  /** How long to wait once all was read. Default: 1000. */
  readonly pollMs?: number
}

export class EventFeed extends EventsResource {
  /** Every event in order, then those to come, without an end: leave the loop, or abort the signal, whose reason it then throws. */
  async *follow({ pollMs = 1000, ...query }: FollowQuery = {}, options?: RequestOptions): AsyncGenerator<Event, void, undefined> {
    let { starting_after } = query
    for (;;) {
      const page = await this.list({ ...query, order: 'asc', limit: 100, starting_after }, options)
      for (const event of page.data) {
        yield event
        starting_after = event.id
      }
      if (!page.has_more) await delay(pollMs, options?.signal)
    }
  }
}
