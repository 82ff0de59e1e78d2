/** Operations of the request log (behaviour: console 4). */
import { Type } from 'typebox'
import { isId } from '../../../api/ids.ts'
import { Problem } from '../../../api/problem.ts'
import { LoggedRequest } from '../../../api/resources/logged-request.ts'
import { listOf, listQuery, pageOf, pageReply, requireCursor } from '../../../platform/http/paging.ts'
import { reply } from '../../../platform/http/route.ts'
import { consoleRoute, type ConsoleRoute } from '../route.ts'
import { findRequest, listRequests, type RequestRow } from './repository.ts'

const facts = { access: 'account', permission: 'requests', moded: true, scope: null } as const

const RequestList = listQuery({
  method: Type.Optional(Type.String({ enum: ['GET', 'POST', 'PATCH', 'DELETE'], description: 'Only this method.' })),
  code: Type.Optional(
    Type.String({ minLength: 1, maxLength: 60, description: 'Only requests refused with this error code.' }),
  ),
  refused: Type.Optional(Type.Boolean({ description: 'true: only refused requests; false: only others.' })),
})

export const requestRoutes: ConsoleRoute[] = [
  consoleRoute({
    ...facts,
    operation: 'requests.list',
    method: 'GET',
    path: '/console/api/requests',
    summary: 'List the requests',
    description:
      'Refusals and changes of the last seven days, newest first, of one mode. Reads and accepted messages are not in it. Of the refusals of a key the first 20 a second are listed singly, the others as one entry a second and code, with their `count`.',
    query: RequestList,
    replies: { 200: listOf(LoggedRequest) },
    errors: [],
    async handler({ caller, query, sql }) {
      const page = pageOf(query)
      await requireCursor(
        page.starting_after,
        'No request has the id',
        async (id) => isId('req', id) && (await findRequest(sql, caller, id)) !== null,
      )
      const { method = null, code = null, refused = null } = query
      return reply(
        200,
        pageReply((await listRequests(sql, caller, { method, code, refused }, page)).map(requestObject), page.limit),
      )
    },
  }),
  consoleRoute({
    ...facts,
    operation: 'requests.retrieve',
    method: 'GET',
    path: '/console/api/requests/{id}',
    summary: 'Look a request up',
    description: 'By its id, which is the `request_id` of an error and the header `X-Request-Id` of every answer.',
    replies: { 200: LoggedRequest },
    errors: ['resource_missing'],
    async handler({ caller, params, sql }) {
      const row = isId('req', params['id']) ? await findRequest(sql, caller, params['id']) : null
      if (row === null)
        throw new Problem(
          'resource_missing',
          'No refused request or change of the last seven days has this ID in this mode. Reads, accepted messages and refusals beyond 20 a second are not logged singly.',
        )
      return reply(200, requestObject(row))
    },
  }),
]

const requestObject = (row: RequestRow): LoggedRequest => ({
  object: 'request',
  id: row.id,
  mode: row.mode,
  method: row.method,
  path: row.path,
  operation: row.operation,
  status: row.status,
  code: row.code,
  key_id: row.key_id,
  user_id: row.user_id,
  duration_ms: row.duration_ms,
  count: row.count,
  created_at: row.created_at,
})
