/** Markdown of this repository, served as pages: whole folders, and documents that stand alone. Which ones there are and where they stand is for the caller to say. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { Problem } from '../contract/problem.ts'
import type { LinkTo, Rendered } from './markdown.ts'
import { escape, page, pageHeaders } from './page.ts'

export interface MarkdownFolder {
  /** Where it is served: `/docs/behaviour`. */
  readonly path: string
  /** From the folder of documents, with slashes: `reference/behaviour`. Its `README.md` is the index and names every page. */
  readonly folder: string
}

export interface MarkdownDocument {
  /** Where it is served: `/docs/threat-model`. */
  readonly path: string
  /** From the folder of documents, with slashes: `reference/threat-model.md`. */
  readonly file: string
}

export interface MarkdownPages {
  /** The folder of documents on the disk. */
  readonly root: string
  readonly folders: readonly MarkdownFolder[]
  /** Those that stand alone. */
  readonly documents: readonly MarkdownDocument[]
  /** Folders of documents that are served otherwise, by the start of their pages' addresses: `reference/content` is `/docs/content#`. */
  readonly elsewhere: Readonly<Record<string, string>>
}

/** Pages are read and rendered at the first request for them, for most processes are never asked. */
export function mountMarkdown(server: FastifyInstance, pages: MarkdownPages): void {
  for (const document of pages.documents) {
    const made = once(() => documentPage(pages, document))
    server.get(document.path, { exposeHeadRoute: true }, async (_request, reply) => sendPage(reply, await made()))
  }
  for (const folder of pages.folders) {
    const index = once(() => indexOf(pages, folder))
    const made = new Map<string, () => Promise<Buffer>>()
    const serve = async (reply: FastifyReply, name: string): Promise<FastifyReply> => {
      const found = await index()
      if (name !== 'README' && !found.names.includes(name))
        throw new Problem('resource_missing', `There is no page ${name.slice(0, 80)}. ${folder.path} lists them all.`)
      if (!made.has(name))
        made.set(
          name,
          once(() => pageOf(pages, folder, found, name)),
        )
      return sendPage(reply, await made.get(name)!())
    }
    server.get(folder.path, { exposeHeadRoute: true }, (_request, reply) => serve(reply, 'README'))
    server.get(`${folder.path}/:page`, { exposeHeadRoute: true }, (request, reply) => serve(reply, (request.params as { page: string }).page))
  }
}

const sendPage = (reply: FastifyReply, text: Buffer): FastifyReply => reply.headers(pageHeaders).type('text/html; charset=utf-8').send(text)

/** What is asked for at once is made once; what failed is made anew. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    }))
}

interface Index {
  readonly title: string
  /** The pages in the order in which the index names them, without `.md`. */
  readonly names: readonly string[]
  readonly titles: ReadonlyMap<string, string>
}

const read = (pages: MarkdownPages, folder: MarkdownFolder, name: string): Promise<string> => readFile(join(pages.root, folder.folder, `${name}.md`), 'utf8')
const titleOf = (markdown: string): string => /^# (.+)$/m.exec(markdown)?.[1] ?? ''

async function indexOf(pages: MarkdownPages, folder: MarkdownFolder): Promise<Index> {
  const markdown = await read(pages, folder, 'README')
  const names = [...new Set([...markdown.matchAll(/\]\(([a-z0-9-]+)\.md[)#]/g)].map(([, name]) => name!))]
  const titles = await Promise.all(names.map(async (name) => [name, titleOf(await read(pages, folder, name))] as const))
  return { title: titleOf(markdown), names, titles: new Map(titles) }
}

async function pageOf(pages: MarkdownPages, folder: MarkdownFolder, index: Index, name: string): Promise<Buffer> {
  // loaded here, for no start needs it
  const { renderMarkdown } = await import('./markdown.ts')
  const rendered = renderMarkdown(await read(pages, folder, name), linksFrom(pages, folder.folder))
  const title = name === 'README' ? rendered.title : `${rendered.title} · ${index.title}`
  return Buffer.from(page(title, navigation(folder, index, name, rendered), `<article class="prose">${rendered.html}</article>`))
}

async function documentPage(pages: MarkdownPages, { file }: MarkdownDocument): Promise<Buffer> {
  const { renderMarkdown } = await import('./markdown.ts')
  const rendered = renderMarkdown(await readFile(join(pages.root, file), 'utf8'), linksFrom(pages, posix.dirname(file)))
  const start = `<div class="short"><h2>Start</h2><ul>${entry('/docs', 'Reference')}</ul></div>`
  return Buffer.from(page(rendered.title, start + onThisPage(rendered), `<article class="prose">${rendered.html}</article>`))
}

const entry = (href: string, text: string, here = false): string => `<li><a href="${href}"${here ? ' aria-current="page"' : ''}>${escape(text)}</a></li>`

function navigation({ path }: MarkdownFolder, { title, names, titles }: Index, current: string, rendered: Rendered): string {
  const start = `<div class="short"><h2>Start</h2><ul>${entry('/docs', 'Reference')}${entry(path, title, current === 'README')}</ul></div>`
  const all = `<h2>Pages</h2><ul>${names.map((name) => entry(`${path}/${name}`, titles.get(name)!, name === current)).join('')}</ul>`
  return start + all + onThisPage(rendered)
}

function onThisPage({ sections }: Rendered): string {
  const numbered = sections.map(({ id, title }) => entry(`#${id}`, /^\d/.test(id) ? `${id}. ${title}` : title))
  return numbered.length === 0 ? '' : `<h2>On this page</h2><ul>${numbered.join('')}</ul>`
}

/** A fragment as `#3-retries`, which GitHub understands, is the section with this number. */
const anchorOf = (fragment: string): string => /^(\d+)-/.exec(fragment)?.[1] ?? fragment

/** Links between documents lead to where those are served; `from` is the folder of the one that holds them. */
function linksFrom({ folders, documents, elsewhere }: MarkdownPages, from: string): LinkTo {
  const starts = { ...Object.fromEntries(folders.map(({ path, folder }) => [folder, `${path}/`])), ...elsewhere }
  return (href) => {
    if (/^https?:\/\//.test(href)) return href
    const [file = '', fragment] = href.split('#')
    const anchor = fragment === undefined ? '' : `#${anchorOf(fragment)}`
    if (file === '') return anchor
    const target = posix.join(from, file)
    const alone = documents.find((document) => document.file === target)
    if (alone !== undefined) return alone.path + anchor
    const start = starts[posix.dirname(target)]
    if (start === undefined || !target.endsWith('.md')) return undefined
    const name = posix.basename(target, '.md')
    return name === 'README' ? start.slice(0, -1) + anchor : `${start}${name}${anchor}`
  }
}
