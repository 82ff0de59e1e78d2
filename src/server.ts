/** The HTTP server of a process: the routes of all modules, the console, and the documents under /docs. */
import type { FastifyInstance } from 'fastify'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { BuiltModule } from './module.ts'
import type { FindKey } from './platform/http/auth.ts'
import { bodyBudget } from './platform/http/body-budget.ts'
import type { Connections } from './platform/http/connections.ts'
import { inFlight } from './platform/http/idempotency.ts'
import { mountOperatorPages } from './platform/http/health-pages.ts'
import type { RateLimiter } from './platform/http/rate-limit.ts'
import type { RecorderOf } from './platform/http/audit-hook.ts'
import type { NoteAnswer } from './platform/http/request-log.ts'
import type { Route } from './platform/http/route.ts'
import { makeServer } from './platform/http/server.ts'
import { mountSinglePage } from './platform/http/single-page.ts'
import { mountConsoleDocument } from './docs/console-openapi.ts'
import { mountDerived } from './docs/derived-documents.ts'
import { mountDocs } from './docs/docs-pages.ts'
import { mountMarkdown, type MarkdownPages } from './docs/markdown-pages.ts'
import { providerPageFile } from './docs/provider-page.ts'
import type { Platform } from './platform/platform.ts'

const documents: MarkdownPages = {
  root: join(import.meta.dirname, '../docs'),
  folders: [
    { path: '/docs/guides', folder: 'guides' },
    { path: '/docs/behaviour', folder: 'reference/behaviour' },
  ],
  documents: [
    { path: '/docs/threat-model', file: 'reference/threat-model.md' },
    { path: '/docs/providers', file: providerPageFile },
    { path: '/docs/settings', file: 'reference/settings.md' },
    { path: '/docs/commands', file: 'reference/commands.md' },
  ],
  elsewhere: { 'reference/content': '/docs/content/' },
}

/** Built by `scripts/build-console.mjs`; may be missing. */
const builtConsole = join(import.meta.dirname, '../console/dist')

export const hasConsole = (): boolean => existsSync(join(builtConsole, 'index.html'))

export interface HttpParts {
  readonly platform: Platform
  readonly modules: readonly BuiltModule[]
  readonly connections: Connections
  readonly limiter: RateLimiter
  /** False for a process that only runs workers: health and metrics alone. */
  readonly servesApi: boolean
  readonly isStopping: () => boolean
}

export function httpServer({
  platform,
  modules,
  connections,
  limiter,
  servesApi,
  isStopping,
}: HttpParts): FastifyInstance {
  const bodies = bodyBudget()
  const routes = servesApi ? routesOf(modules) : []
  const server = makeServer({
    platform,
    findKey: keyFinder(modules),
    limiter,
    routes,
    guards: modules.flatMap((module) => module.guards?.(limiter, routes) ?? []),
    flights: inFlight(),
    bodies,
    connections,
    note: noteOf(modules),
    recorderOf: recorderOf(modules),
  })
  if (servesApi) {
    mountPages(server, routes, consoleRoutesOf(modules), platform.settings.base_url)
    for (const module of modules) module.mount?.(server, bodies)
  }
  mountOperatorPages(server, platform, isStopping)
  return server
}

export const routesOf = (modules: readonly BuiltModule[]): Route[] => modules.flatMap(({ routes }) => routes ?? [])

export const consoleRoutesOf = (modules: readonly BuiltModule[]): Route[] =>
  modules.flatMap(({ consoleRoutes }) => consoleRoutes ?? [])

/** The first module that does not answer null at once owns the key. */
function keyFinder(modules: readonly BuiltModule[]): FindKey {
  const finders = modules.flatMap(({ findKey }) => findKey ?? [])
  return (text) => {
    for (const find of finders) {
      const found = find(text)
      if (found !== null) return found
    }
    return null
  }
}

function noteOf(modules: readonly BuiltModule[]): NoteAnswer {
  const notes = modules.flatMap(({ noteAnswer }) => noteAnswer ?? [])
  return (request, reply) => {
    for (const note of notes) note(request, reply)
  }
}

const recorderOf =
  (modules: readonly BuiltModule[]): RecorderOf =>
  (route) => {
    for (const module of modules) {
      const recorder = module.recorderOf?.(route)
      if (recorder !== undefined) return recorder
    }
    return undefined
  }

/** `base_url`: the public address of the service. */
function mountPages(
  server: FastifyInstance,
  routes: readonly Route[],
  consoleRoutes: readonly Route[],
  base_url: string,
): void {
  mountDocs(server, routes, base_url, documents)
  mountMarkdown(server, documents)
  mountDerived(server, routes, base_url)
  mountConsoleDocument(server, () => consoleRoutes, base_url)
  mountSinglePage(server, { path: '/console', folder: builtConsole, is_https: base_url.startsWith('https:') })
}
