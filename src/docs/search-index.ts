/** The search index of the pages: operations, objects, error codes, content types and document sections. */
import { contentReference } from '../api/content/reference.ts'
import { errorCatalogue, type ErrorCode } from '../api/errors.ts'
import { eventTypes } from '../api/events.ts'
import { contentPath } from './content-page.ts'
import { errorPath } from './errors-page.ts'
import { outlines, type MarkdownPages, type Outline } from './markdown-pages.ts'
import { otherNames } from './other-names.ts'
import { operationPath, type Site } from './site.ts'

/** `names` are aliases, `words` the words of the text. */
type SearchEntry = readonly [title: string, href: string, kind: string, names: string, words: string]

/** JSON, with the words that all texts share. */
export async function searchIndex(site: Site, documents: MarkdownPages): Promise<string> {
  const found = [...startEntries, ...referenceEntries(site), ...(await outlines(documents)).flatMap(documentEntries)]
  const entries = found.map(([title, href, kind, names, words]): SearchEntry => [
    title,
    href,
    kind,
    `${names} ${otherNames[href] ?? ''}`.trim(),
    words,
  ])
  return JSON.stringify({ ignored: [...ignored], entries })
}

const startEntries: readonly SearchEntry[] = [
  ['Authentication', '/docs#authentication', 'Reference', '', ''],
  ['Error codes', '/docs/errors', 'Reference', '', ''],
  ['Message content', '/docs/content', 'Reference', 'content types', ''],
]

function referenceEntries({ resources, objects }: Site): SearchEntry[] {
  return [
    ...resources.flatMap(({ title, path, description, routes }): SearchEntry[] => [
      [title, path, 'Resource', '', wordsOf(description)],
      ...routes.map((route): SearchEntry => [
        route.summary,
        operationPath(route),
        `${route.method} ${route.path}`,
        `${route.operation} ${(route.other_paths ?? []).join(' ')}`.trim(),
        wordsOf(route.description ?? ''),
      ]),
    ]),
    ...[...objects.values()].map(({ name, href, schema }): SearchEntry => [
      name,
      href,
      'Object',
      Object.keys(schema.properties ?? {}).join(' '),
      wordsOf(schema.description ?? ''),
    ]),
    ...contentReference().map(({ type, summary }): SearchEntry => [
      type,
      contentPath(type),
      'Content type',
      '',
      wordsOf(summary),
    ]),
    ...Object.entries(errorCatalogue).map(([code, { status, title, fix }]): SearchEntry => [
      code,
      errorPath(code as ErrorCode),
      `Error ${status}`,
      '',
      wordsOf(`${title} ${fix}`),
    ]),
    ...Object.entries(eventTypes).map(([type, { when }]): SearchEntry => [
      type,
      '/docs#events',
      'Event',
      '',
      wordsOf(when),
    ]),
  ]
}

function documentEntries({ path, title, within, sections, html }: Outline): SearchEntry[] {
  const page = title === within ? title : `${within} · ${title}`
  const [opening = '', ...parts] = html.split(/(?=<h2 id=")/)
  return [
    [title, path, within, '', wordsOf(textOf(opening))],
    ...sections.map((section, at): SearchEntry => [
      section.title,
      `${path}#${section.id}`,
      page,
      '',
      wordsOf(textOf(parts[at] ?? '')),
    ]),
  ]
}

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(?:#(\d+)|(\w+));/g, (all, code?: string, name?: string) =>
      code === undefined ? (characters[name!] ?? all) : String.fromCodePoint(Number(code)),
    )

/** Too common to search for. */
const ignored = new Set(
  'a about all alone also an and any are as at be been but by can do does each else for from goes had has have how if in into is it its may more my no not of on one only or other our own so such than that the their them then there they this to too until up was we what when where which who whose why will with without would you your'.split(
    ' ',
  ),
)

/** Each word once, in lower case. */
function wordsOf(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]+(?:[.'-][\p{L}\p{N}_]+)*/gu) ?? []
  return [...new Set(words)].filter((word) => word.length > 1 && word.length <= 40 && !ignored.has(word)).join(' ')
}
