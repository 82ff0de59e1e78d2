/** HTTP routes of events (behaviour: webhooks 7). */
import { Type } from 'typebox'
import { eventFilters } from '../../../api/events.ts'
import { Event } from '../../../api/resources/event.ts'
import { DateTimeQuery } from '../../../api/date-time-query.ts'
import { listOf, listQuery, pageOf, pageReply } from '../../../platform/http/paging.ts'
import { reply, route, type Route } from '../../../platform/http/route.ts'
import type { FeedService } from './service.ts'

const FeedFilter = listQuery({
  type: Type.Optional(
    Type.String({
      enum: eventFilters,
      description: 'An event type, or a known prefix such as `message.*`.',
      examples: ['message.delivered'],
    }),
  ),
  object_id: Type.Optional(Type.String({ description: 'Events of the object with this id.' })),
  created_after: Type.Optional(DateTimeQuery),
  created_before: Type.Optional(DateTimeQuery),
  order: Type.Optional(
    Type.Unsafe<'asc' | 'desc'>({
      type: 'string',
      enum: ['asc', 'desc'],
      default: 'desc',
      description: '`asc` follows the feed: keep the last `id` as `starting_after` of the next request.',
    }),
  ),
})

export const feedRoutes = (feed: FeedService): Route[] => [
  route({
    operation: 'events.list',
    method: 'GET',
    path: '/v1/events',
    scope: 'events:read',
    tag: 'Events',
    summary: 'List events',
    description:
      'The events that webhooks deliver, for polling and for catching up; each item is the body delivered. With `order=asc` no event ever appears before a cursor that was already returned. ' +
      'Events are kept 30 days; a cursor older than that means the start of the feed.',
    query: FeedFilter,
    replies: { 200: listOf(Event) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const page = pageOf(query)
      return reply(200, pageReply(await feed.list(sql, caller, query, page), page.limit))
    },
  }),
  route({
    operation: 'events.retrieve',
    method: 'GET',
    path: '/v1/events/{id}',
    scope: 'events:read',
    tag: 'Events',
    summary: 'Retrieve an event',
    description:
      'As it was delivered: `data.object` is the resource as it was then, not as it is now. Events are kept for 30 days.',
    replies: { 200: Event },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await feed.get(sql, caller, params['id']!)),
  }),
]
