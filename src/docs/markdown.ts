/** Renders Markdown as safe HTML, with anchors for numbered headings and paragraphs, and links to served pages. */
import { Marked, Renderer, type Tokens } from 'marked'
import { escape } from './page.ts'

/** Undefined where nothing is served: the text stays, without a link. */
export type LinkTo = (href: string) => string | undefined

export interface Section {
  /** The number of `## 3. Retries`, otherwise words joined by dashes. */
  readonly id: string
  readonly title: string
}

export interface Rendered {
  readonly title: string
  readonly sections: readonly Section[]
  readonly html: string
}

const numberedHeading = /^(\d+)\. (.+)$/
const paragraphNumber = /^\d+\.\d+$/

/** Escapes HTML and drops comments. Shows served images, in the light and dark variant; others become text. */
export function renderMarkdown(markdown: string, linkTo: LinkTo): Rendered {
  const sections: Section[] = []
  const marked = new Marked({ gfm: true, renderer: rendererOf(linkTo, sections) })
  const html = marked.parse(markdown, { async: false })
  return { title: /^# (.+)$/m.exec(markdown)?.[1] ?? '', sections, html }
}

function rendererOf(linkTo: LinkTo, sections: Section[]): Renderer {
  const renderer = new Renderer()
  renderer.html = ({ text }) => escape(text.replaceAll(/<!--[^]*?-->\n*/g, ''))
  renderer.image = ({ href, text }) => {
    const to = linkTo(href)
    return to === undefined ? escape(text) : pictureOf(to, text)
  }
  renderer.heading = function ({ tokens, depth, text }: Tokens.Heading) {
    const inner = this.parser.parseInline(tokens)
    if (depth === 1) return `<h1>${inner}</h1>\n`
    const [, number, title = text] = numberedHeading.exec(text) ?? []
    const id = number ?? slug(text)
    if (depth === 2) sections.push({ id, title })
    return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${inner}</a></h${depth}>\n`
  }
  renderer.paragraph = function ({ tokens }: Tokens.Paragraph) {
    const [first, ...rest] = tokens
    if (first?.type !== 'strong' || !paragraphNumber.test(String(first['text'])))
      return `<p>${this.parser.parseInline(tokens)}</p>\n`
    const id = String(first['text'])
    return `<p id="${id}"><a class="number" href="#${id}">${id}</a>${this.parser.parseInline(rest)}</p>\n`
  }
  renderer.table = function ({ header, rows }: Tokens.Table) {
    const heads = header.map(({ tokens, text }) =>
      text === '' ? '<td></td>' : `<th scope="col">${this.parser.parseInline(tokens)}</th>`,
    )
    const lines = rows.map(
      (cells) =>
        `<tr>${cells.map(({ tokens }, at) => `<td${labelOf(header[at]!, at)}>${this.parser.parseInline(tokens)}</td>`).join('')}</tr>`,
    )
    const kind = header.length > 2 ? ' class="wide"' : ''
    return `<div class="scroll"><table${kind}><thead><tr>${heads.join('')}</tr></thead><tbody>${lines.join('\n')}</tbody></table></div>\n`
  }
  renderer.link = function ({ href, tokens }: Tokens.Link) {
    const [inner, to] = [this.parser.parseInline(tokens), linkTo(href)]
    return to === undefined ? inner : `<a href="${escape(to)}">${inner}</a>`
  }
  return renderer
}

/** `…-light.webp` has a `…-dark.webp` beside it. */
function pictureOf(light: string, alt: string): string {
  const image = `<img src="${escape(light)}" alt="${escape(alt)}" loading="lazy">`
  if (!light.endsWith('-light.webp')) return image
  return `<picture><source media="(prefers-color-scheme: dark)" srcset="${escape(light.replace(/light\.webp$/, 'dark.webp'))}">${image}</picture>`
}

/** On a phone cells are stacked, and all but the first are labelled. */
const labelOf = ({ text }: Tokens.TableCell, at: number): string =>
  at === 0 || text === '' ? '' : ` data-label="${escape(text.replaceAll('`', ''))}"`

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
