/** The reference that the service serves itself: `/docs`, a page for each resource and operation, `/docs/errors`, `/docs/content` and `/docs/openapi.json`, all from the routes and catalogues. */
import type { FastifyInstance } from 'fastify'
import { Problem } from '../contract/problem.ts'
import type { Route } from '../platform/http/route.ts'
import { contentPage } from './content-page.ts'
import { errorsPage } from './errors-page.ts'
import type { MarkdownPages } from './markdown-pages.ts'
import { openapiDocument } from './openapi.ts'
import { operationPage } from './operation-page.ts'
import { overviewPage } from './overview-page.ts'
import { html, json, preparedOnce, sendPrepared } from './prepared.ts'
import { resourcePage } from './resource-page.ts'
import { searchIndex } from './search-index.ts'
import { operationPath, siteOf, type Site } from './site.ts'

/** Tools on other sites read the document too: it says nothing that is secret (behaviour: operating 1.2). */
const forAnyOrigin = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'ETag, X-Request-Id' } as const
const preflight = { 'access-control-allow-methods': 'GET, HEAD', 'access-control-allow-headers': '*', 'access-control-max-age': '86400' } as const

/** `documents` are found by the search beside what is made of the routes. Everything is made at the first request for it: most processes are never asked. */
export function mountDocs(server: FastifyInstance, routes: readonly Route[], base_url: string, documents: MarkdownPages): void {
  const made = preparedOnce()
  let known: Site | undefined
  const site = (): Site => (known ??= siteOf(routes, base_url))
  const serve = (path: string, type: string, make: () => string) =>
    server.get(path, { exposeHeadRoute: true }, async (request, reply) => sendPrepared(request, reply, await made(path, type, make)))
  serve('/docs', html, () => overviewPage(site()))
  serve('/docs/errors', html, errorsPage)
  serve('/docs/content', html, contentPage)
  server.get('/docs/api/:page', { exposeHeadRoute: true }, async (request, reply) => {
    const path = `/docs/api/${(request.params as { page: string }).page}`
    const make = pageAt(site(), path)
    if (make === undefined) throw new Problem('resource_missing', `There is no page ${path.slice(0, 80)}. /docs lists every operation.`)
    return sendPrepared(request, reply, await made(path, html, make))
  })
  server.get('/docs/search.json', { exposeHeadRoute: true }, async (request, reply) =>
    sendPrepared(request, reply, await made('search', json, () => searchIndex(site(), documents))),
  )
  const document = () => made('openapi', json, () => JSON.stringify(openapiDocument(routes, base_url)))
  server.get('/docs/openapi.json', { exposeHeadRoute: true }, async (request, reply) => sendPrepared(request, reply.headers(forAnyOrigin), await document()))
  server.options('/docs/openapi.json', (_request, reply) =>
    reply
      .headers({ ...forAnyOrigin, ...preflight })
      .code(204)
      .send(),
  )
  server.get('/', { exposeHeadRoute: true }, (_request, reply) => reply.redirect('/docs'))
}

/** What makes the page with this address; undefined where there is none. */
function pageAt(site: Site, path: string): (() => string) | undefined {
  for (const resource of site.resources) {
    if (resource.path === path) return () => resourcePage(site, resource)
    const route = resource.routes.find((each) => operationPath(each) === path)
    if (route !== undefined) return () => operationPage(site, resource, route)
  }
  return undefined
}
