/** The search of the console (behaviour: console 7.2). */
import { Type } from 'typebox'
import { SearchResult } from '../../../api/resources/overview.ts'
import { listOf, listQuery, onePage } from '../../../platform/http/paging.ts'
import { reply } from '../../../platform/http/route.ts'
import { consoleRoute, type ConsoleRoute } from '../console-route.ts'
import type { ConsoleServices } from '../console-services.ts'
import { searchFor } from './search.ts'

const SearchQuery = listQuery({
  q: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'An id of any kind, a phone number, an e-mail address, a reference or a request id.',
    examples: ['+15005550006'],
  }),
})

export const searchRoutes = (services: ConsoleServices): ConsoleRoute[] => [
  consoleRoute({
    operation: 'search.list',
    method: 'GET',
    path: '/console/api/search',
    access: 'account',
    moded: true,
    scope: null,
    summary: 'Search everything',
    description:
      'Finds what the id, phone number, e-mail address, reference or request id names, the contact first; only what the role may read.',
    query: SearchQuery,
    example_query: 'q=%2B15005550006',
    replies: { 200: listOf(SearchResult) },
    errors: ['parameter_missing'],
    handler: async ({ caller, query, sql, session }) => {
      const { q, ...page } = query
      return reply(200, onePage(await searchFor(services, sql, { caller, session }, q), page))
    },
  }),
]
