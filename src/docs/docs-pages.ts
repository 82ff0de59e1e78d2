/**
 * The API reference that the service serves: `/docs`, pages for resources, operations, errors and content types, and
 * `/docs/openapi.json`.
 */
import type { FastifyInstance } from 'fastify'
import { contentTypes } from '../api/content/registry.ts'
import { Problem } from '../api/problem.ts'
import { nearest } from '../lib/text.ts'
import type { Route } from '../platform/http/route.ts'
import { contentPage, contentPath, contentTypePage } from './content-page.ts'
import { errorCodePage, errorCodes, errorPath, errorsPage } from './errors-page.ts'
import type { MarkdownPages } from './markdown-pages.ts'
import { pageOptions } from './missing-page.ts'
import { startPaths } from './navigation.ts'
import { openapiDocument } from './openapi.ts'
import { operationPage } from './operation-page.ts'
import { overviewPage } from './overview-page.ts'
import { html, json, preparedOnce, sendPrepared } from './prepared.ts'
import { resourcePage } from './resource-page.ts'
import { searchIndex } from './search-index.ts'
import { operationPath, siteOf, type Site } from './site.ts'

/** Not secret, and tools on other sites read it (behaviour: operating 1.2). */
const forAnyOrigin = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, X-Request-Id',
} as const
const preflight = {
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
} as const

/** `documents` are included in the search. Pages are built at the first request. */
export function mountDocs(
  server: FastifyInstance,
  routes: readonly Route[],
  base_url: string,
  documents: MarkdownPages,
): void {
  const made = preparedOnce()
  let known: Site | undefined
  const site = (): Site => (known ??= siteOf(routes, base_url))
  let below: Pages | undefined
  const pages = (): Pages => (below ??= pagesOf(site()))
  const serve = (path: string, type: string, make: () => string) =>
    server.get(path, { exposeHeadRoute: true }, async (request, reply) =>
      sendPrepared(request, reply, await made(path, type, make)),
    )
  serve('/docs', html, () => overviewPage(site()))
  serve('/docs/errors', html, errorsPage)
  serve('/docs/content', html, contentPage)
  const has_page = (path: string): boolean => pages().has(path)
  server.get('/docs/*', { ...pageOptions, config: { has_page } }, async (request, reply) => {
    const path = `/docs/${(request.params as { '*': string })['*']}`
    const make = pages().get(path)
    if (make === undefined) throw noPage(pages(), path)
    return sendPrepared(request, reply, await made(path, html, make))
  })
  server.get('/docs/search.json', { exposeHeadRoute: true }, async (request, reply) =>
    sendPrepared(request, reply, await made('search', json, () => searchIndex(site(), documents))),
  )
  const document = () => made('openapi', json, () => JSON.stringify(openapiDocument(routes, base_url)))
  server.get('/docs/openapi.json', { exposeHeadRoute: true }, async (request, reply) =>
    sendPrepared(request, reply.headers(forAnyOrigin), await document()),
  )
  server.options('/docs/openapi.json', (_request, reply) =>
    reply
      .headers({ ...forAnyOrigin, ...preflight })
      .code(204)
      .send(),
  )
  server.get('/', { exposeHeadRoute: true }, (_request, reply) => reply.redirect('/docs'))
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Suggests the nearest page. */
function noPage(pages: Pages, path: string): Problem {
  const all = [...pages.keys(), ...startPaths]
  const meant = nearest(nameOf(path).slice(0, 40), all.map(nameOf))
  const hint =
    meant === undefined
      ? '/docs lists every operation.'
      : `Did you mean ${all.find((each) => nameOf(each) === meant)!}?`
  return new Problem('resource_missing', `There is no page ${path.slice(0, 80)}. ${hint}`)
}

/** By address. */
type Pages = ReadonlyMap<string, () => string>

/** Operations come first, so that suggestions prefer them. */
function pagesOf(site: Site): Pages {
  const operations = site.resources.flatMap((resource) =>
    resource.routes.map((route) => [operationPath(route), () => operationPage(site, resource, route)] as const),
  )
  return new Map([
    ...operations,
    ...site.resources.map((resource) => [resource.path, () => resourcePage(site, resource)] as const),
    ...Object.keys(contentTypes).map((type) => [contentPath(type), () => contentTypePage(type)] as const),
    ...errorCodes.map((code) => [errorPath(code), () => errorCodePage(site, code)] as const),
  ])
}
