/** The pages that are served beside the API: the reference, this repository's documents, and the console. */
import type { FastifyInstance } from 'fastify'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Route } from './platform/http/route.ts'
import { mountSinglePage } from './platform/http/single-page.ts'
import { mountConsoleDocument } from './docs/console-openapi.ts'
import { mountDerived } from './docs/derived-documents.ts'
import { mountDocs } from './docs/docs-pages.ts'
import { mountMarkdown, type MarkdownPages } from './docs/markdown-pages.ts'
import { providerPageFile } from './docs/provider-page.ts'

/** What of this repository's documents is served beside the reference. */
const documents: MarkdownPages = {
  root: join(import.meta.dirname, '../docs'),
  folders: [
    { path: '/docs/guides', folder: 'guides' },
    { path: '/docs/behaviour', folder: 'reference/behaviour' },
  ],
  documents: [
    { path: '/docs/threat-model', file: 'reference/threat-model.md' },
    { path: '/docs/providers', file: providerPageFile },
  ],
  elsewhere: { 'reference/content': '/docs/content/' },
}

/** The console as it was built (`scripts/build-console.mjs`); without it the rest works. */
const builtConsole = join(import.meta.dirname, '../console/dist')

/** Whether the console is served. */
export const hasConsole = (): boolean => existsSync(join(builtConsole, 'index.html'))

/** `base_url`: the address under which clients know the service. */
export function mountPages(
  server: FastifyInstance,
  routes: readonly Route[],
  consoleRoutes: () => readonly Route[],
  base_url: string,
): void {
  mountDocs(server, routes, base_url, documents)
  mountMarkdown(server, documents)
  mountDerived(server, routes, base_url)
  mountConsoleDocument(server, consoleRoutes, base_url)
  mountSinglePage(server, { path: '/console', folder: builtConsole, is_https: base_url.startsWith('https:') })
}
