/** Serves Markdown folders and files of this repository as pages. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { Problem } from '../api/problem.ts'
import { nearest } from '../lib/text.ts'
import { once } from '../lib/concurrency.ts'
import type { LinkTo, Rendered, Section } from './markdown.ts'
import { pageOptions } from './missing-page.ts'
import { navEntry, navSection, startLinks } from './navigation.ts'
import { page, pageHeaders } from './page.ts'
import { html, preparedOnce, sendPrepared } from './prepared.ts'

export interface MarkdownFolder {
  /** `/docs/behaviour`. */
  readonly path: string
  /** Relative to the documents folder: `reference/behaviour`. Its `README.md` is the index and names every page. */
  readonly folder: string
}

export interface MarkdownDocument {
  /** `/docs/threat-model`. */
  readonly path: string
  /** Relative to the documents folder: `reference/threat-model.md`. */
  readonly file: string
}

export interface MarkdownPages {
  readonly root: string
  readonly folders: readonly MarkdownFolder[]
  readonly documents: readonly MarkdownDocument[]
  /** Folders that are served elsewhere, by the prefix of their pages: `reference/content` is `/docs/content/`. */
  readonly elsewhere: Readonly<Record<string, string>>
}

/** Rendered at the first request. */
export function mountMarkdown(server: FastifyInstance, pages: MarkdownPages): void {
  const made = preparedOnce()
  for (const document of pages.documents)
    server.get(document.path, { exposeHeadRoute: true }, async (request, reply) =>
      sendPrepared(request, reply, await made(document.path, html, () => documentPage(pages, document))),
    )
  for (const folder of pages.folders) {
    const index = once(() => indexOf(pages, folder))
    const serve = async (request: FastifyRequest, reply: FastifyReply, name: string): Promise<FastifyReply> => {
      const found = await index()
      if (name !== 'README' && !found.names.includes(name)) throw noPage(folder, found, name)
      return sendPrepared(
        request,
        reply,
        await made(`${folder.path}/${name}`, html, () => pageOf(pages, folder, found, name)),
      )
    }
    server.get(folder.path, { exposeHeadRoute: true }, (request, reply) => serve(request, reply, 'README'))
    server.get(`${folder.path}/pictures/:name`, { exposeHeadRoute: true }, (request, reply) =>
      sendPicture(reply, join(pages.root, folder.folder, 'pictures'), (request.params as { name: string }).name),
    )
    server.get(`${folder.path}/:page`, pageOptions, (request, reply) =>
      serve(request, reply, (request.params as { page: string }).page),
    )
  }
}

const pictureName = /^[a-z0-9-]+\.webp$/

async function sendPicture(reply: FastifyReply, folder: string, name: string): Promise<FastifyReply> {
  const missing = new Problem(
    'resource_missing',
    'There is no picture at this address. The guides that show pictures are listed at /docs/guides.',
  )
  if (!pictureName.test(name)) throw missing
  const bytes = await readFile(join(folder, name)).catch(() => undefined)
  if (bytes === undefined) throw missing
  return reply
    .headers({ ...pageHeaders(), 'cache-control': 'public, max-age=3600' })
    .type('image/webp')
    .send(bytes)
}

/** Suggests the nearest page. */
function noPage({ path }: MarkdownFolder, { names }: Index, name: string): Problem {
  const meant = nearest(name.slice(0, 40), names)
  const hint = meant === undefined ? `${path} lists them all.` : `Did you mean ${path}/${meant}?`
  return new Problem('resource_missing', `There is no page ${path}/${name.slice(0, 80)}. ${hint}`)
}

interface Index {
  readonly title: string
  /** In the order of the index, without `.md`. */
  readonly names: readonly string[]
  readonly titles: ReadonlyMap<string, string>
}

const read = (pages: MarkdownPages, folder: MarkdownFolder, name: string): Promise<string> =>
  readFile(join(pages.root, folder.folder, `${name}.md`), 'utf8')
const titleOf = (markdown: string): string => /^# (.+)$/m.exec(markdown)?.[1] ?? ''

async function indexOf(pages: MarkdownPages, folder: MarkdownFolder): Promise<Index> {
  const markdown = await read(pages, folder, 'README')
  const names = [...new Set([...markdown.matchAll(/\]\(([a-z0-9-]+)\.md[)#]/g)].map(([, name]) => name!))]
  const titles = await Promise.all(names.map(async (name) => [name, titleOf(await read(pages, folder, name))] as const))
  return { title: titleOf(markdown), names, titles: new Map(titles) }
}

/** For the search. */
export interface Outline {
  readonly path: string
  readonly title: string
  /** The title of its folder's index, or its own. */
  readonly within: string
  readonly sections: readonly Section[]
  readonly html: string
}

export async function outlines(pages: MarkdownPages): Promise<Outline[]> {
  const { renderMarkdown } = await import('./markdown.ts')
  const nowhere = (): undefined => undefined
  const inFolders = pages.folders.map(async (folder) => {
    const { title: within, names } = await indexOf(pages, folder)
    return Promise.all(
      ['README', ...names].map(async (name) => {
        const { title, sections, html: rendered } = renderMarkdown(await read(pages, folder, name), nowhere)
        return {
          path: name === 'README' ? folder.path : `${folder.path}/${name}`,
          title,
          within,
          sections,
          html: rendered,
        }
      }),
    )
  })
  const alone = pages.documents.map(async ({ path, file }) => {
    const { title, sections, html: rendered } = renderMarkdown(await readFile(join(pages.root, file), 'utf8'), nowhere)
    return [{ path, title, within: title, sections, html: rendered }]
  })
  return (await Promise.all([...inFolders, ...alone])).flat()
}

async function pageOf(pages: MarkdownPages, folder: MarkdownFolder, index: Index, name: string): Promise<string> {
  // loaded on demand
  const { renderMarkdown } = await import('./markdown.ts')
  const rendered = renderMarkdown(await read(pages, folder, name), linksFrom(pages, folder.folder))
  const title = name === 'README' ? rendered.title : `${rendered.title} · ${index.title}`
  return page(title, navigation(folder, index, name, rendered), `<article class="prose">${rendered.html}</article>`)
}

async function documentPage(pages: MarkdownPages, { path, file }: MarkdownDocument): Promise<string> {
  const { renderMarkdown } = await import('./markdown.ts')
  const rendered = renderMarkdown(await readFile(join(pages.root, file), 'utf8'), linksFrom(pages, posix.dirname(file)))
  return page(
    rendered.title,
    startLinks(path) + onThisPage(rendered),
    `<article class="prose">${rendered.html}</article>`,
  )
}

function navigation(
  { path }: MarkdownFolder,
  { title, names, titles }: Index,
  current: string,
  rendered: Rendered,
): string {
  const all = names.map((name) => navEntry(`${path}/${name}`, titles.get(name)!, name === current))
  return startLinks(current === 'README' ? path : '') + onThisPage(rendered) + navSection(title, all)
}

function onThisPage({ sections }: Rendered): string {
  return navSection(
    'On this page',
    sections.map(({ id, title }) => navEntry(`#${id}`, /^\d/.test(id) ? `${id}. ${title}` : title)),
  )
}

/** GitHub understands `#3-retries`; our anchor is the number. */
const anchorOf = (fragment: string): string => /^(\d+)-/.exec(fragment)?.[1] ?? fragment

/** `from` is the folder of the document that contains the link. */
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
    const pictured = folders.find(({ folder }) => posix.dirname(target) === `${folder}/pictures`)
    if (pictured !== undefined) return `${pictured.path}/pictures/${posix.basename(target)}`
    const start = starts[posix.dirname(target)]
    if (start === undefined || !target.endsWith('.md')) return undefined
    const name = posix.basename(target, '.md')
    return name === 'README' ? start.slice(0, -1) + anchor : `${start}${name}${anchor}`
  }
}
