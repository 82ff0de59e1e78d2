/** The OpenAPI document of the console's own operations, below `/console/api`: derived as that of `/v1` is. */
import type { FastifyInstance } from 'fastify'
import type { Route } from '../platform/http/route.ts'
import type { Json } from './components.ts'
import { openapiDocument } from './openapi.ts'

const intro = `What the console has beyond \`/v1\`, for people who are signed in. The operations of \`/v1\` stand once more below \`/console/api\`, as the document of \`/v1\` describes them.

A session is a cookie. Every request but a GET carries \`Service-Console: 1\`; where an operation is about an account, \`Service-Account\` names it, and \`Service-Mode\` the mode.`

export function consoleDocument(routes: readonly Route[], base_url: string): Json {
  const { webhooks: _webhooks, tags: _tags, ...document } = openapiDocument(routes, base_url, false)
  const components = document['components'] as Json
  return {
    ...document,
    info: { ...(document['info'] as Json), title: 'Posthorn console', description: intro },
    security: [{ session: [] }],
    tags: [{ name: 'Console', description: 'What people do in the console.' }],
    components: { ...components, securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'posthorn', description: 'The cookie of a session.' } } },
  }
}

/** Serves the document; made at the first request for it. */
export function mountConsoleDocument(server: FastifyInstance, routes: () => readonly Route[], base_url: string): void {
  let text: string | undefined
  server.get('/console/api/openapi.json', (_request, reply) => {
    text ??= `${JSON.stringify(consoleDocument(routes(), base_url), null, 2)}\n`
    return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(text)
  })
}
