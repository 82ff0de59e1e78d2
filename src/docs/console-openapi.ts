/** The OpenAPI document of the console's API below `/console/api`. */
import type { FastifyInstance } from 'fastify'
import { errorEntry, type ProblemCode } from '../api/problem.ts'
import { codesAtGuard, type ConsoleRoute } from '../modules/console/service.ts'
import type { Route } from '../platform/http/route.ts'
import type { Json } from './components.ts'
import { byStatus, codesOfShape, keyCodes, openapiDocument, type Entrance } from './openapi.ts'

const intro = `Operations that the console has beyond \`/v1\`, for signed-in people. The operations of \`/v1\` are also available below \`/console/api\`, as the document of \`/v1\` describes them.

A session is a cookie. Every request but a GET carries \`Service-Console: 1\`; operations of an account take its id in \`Service-Account\` and the mode in \`Service-Mode\`.`

/** Sessions have no account for Idempotency-Keys. */
const bySession: Entrance = {
  codesOf(route) {
    const { refuses = [] } = route as ConsoleRoute
    const own = [...codesOfShape(route), ...refuses, ...(bySession.takesKey(route) ? keyCodes : [])]
    return byStatus(
      new Set<ProblemCode>([
        ...own,
        ...codesAtGuard(route as ConsoleRoute),
        'internal_error',
        'upstream_unavailable',
        'parameter_invalid',
      ]),
    )
  },
  // a wrong password of a signed-in user is 400, because the session stays valid
  statusOf: (route, code) =>
    code === 'invalid_credentials' && (route as ConsoleRoute).access === 'session' ? 400 : errorEntry(code).status,
  takesKey: (route) => route.method === 'POST' && (route as ConsoleRoute).access === 'account',
}

export function consoleDocument(routes: readonly Route[], base_url: string): Json {
  const { webhooks: _webhooks, tags: _tags, ...document } = openapiDocument(routes, base_url, false, bySession)
  const components = document['components'] as Json
  return {
    ...document,
    info: { ...(document['info'] as Json), title: 'Posthorn console', description: intro },
    security: [{ session: [] }],
    tags: [{ name: 'Console', description: 'Operations of the console.' }],
    components: {
      ...components,
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: 'posthorn', description: 'The cookie of a session.' },
      },
    },
  }
}

/** Built at the first request. */
export function mountConsoleDocument(server: FastifyInstance, routes: () => readonly Route[], base_url: string): void {
  let text: string | undefined
  server.get('/console/api/openapi.json', (_request, reply) => {
    text ??= `${JSON.stringify(consoleDocument(routes(), base_url), null, 2)}\n`
    return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(text)
  })
}
