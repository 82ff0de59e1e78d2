/** What the search of the pages looks through: operations, objects, error codes, content types, and the sections of every document. Made once, and fetched by a page when somebody searches. */
import { contentReference } from '../contract/content/reference.ts'
import { errorCatalogue, type ErrorCode } from '../contract/errors.ts'
import { eventTypes } from '../contract/events.ts'
import { contentPath } from './content-page.ts'
import { errorPath } from './errors-page.ts'
import { outlines, type MarkdownPages } from './markdown-pages.ts'
import { operationPath, type Site } from './site.ts'

/** A title, its address, what kind of thing it is, and further words by which it is found. */
type SearchEntry = readonly [title: string, href: string, kind: string, words: string]

/** Everything that can be found, as JSON. */
export async function searchIndex(site: Site, documents: MarkdownPages): Promise<string> {
  const found = (await outlines(documents)).flatMap(({ path, title, within, sections }): SearchEntry[] => [
    [title, path, within, ''],
    ...sections.map((section): SearchEntry => [section.title, `${path}#${section.id}`, title, '']),
  ])
  return JSON.stringify([...referenceEntries(site), ...found])
}

function referenceEntries({ resources, objects }: Site): SearchEntry[] {
  return [
    ...resources.flatMap(({ title, path, description, routes }): SearchEntry[] => [
      [title, path, 'Resource', description],
      ...routes.map((route): SearchEntry => [route.summary, operationPath(route), `${route.method} ${route.path}`, route.operation]),
    ]),
    ...[...objects.values()].map(({ name, href, schema }): SearchEntry => [name, href, 'Object', Object.keys(schema.properties ?? {}).join(' ')]),
    ...contentReference().map(({ type, summary }): SearchEntry => [type, contentPath(type), 'Content type', summary]),
    ...Object.entries(errorCatalogue).map(([code, { status, title }]): SearchEntry => [code, errorPath(code as ErrorCode), `Error ${status}`, title]),
    ...Object.entries(eventTypes).map(([type, { when }]): SearchEntry => [type, '/docs#events', 'Event', when]),
  ]
}
