/** The frame of all pages: a self-contained HTML document. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** Paragraphs, with `code` marked. */
export const prose = (text: string): string =>
  text
    .split(/\n\n+/)
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('')

/** One line, with `code` marked. */
export const inline = (text: string): string => escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

interface Assets {
  readonly style: string
  readonly script: string
  readonly headers: Readonly<Record<string, string>>
}

let known: Assets | undefined

/** Inline style and script, and a policy that allows nothing else. */
function assets(): Assets {
  if (known !== undefined) return known
  const read = (file: string) => readFileSync(join(import.meta.dirname, 'browser', file), 'utf8')
  const [style, script] = [read('style.css'), read('script.js')]
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const policy = [
    "default-src 'none'",
    `style-src ${hash(style)}`,
    `script-src ${hash(script)}`,
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  known = {
    style,
    script,
    headers: {
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
    },
  }
  return known
}

export const pageHeaders = (): Readonly<Record<string, string>> => assets().headers

/** `nav` and `main` are HTML. */
export function page(title: string, nav: string, main: string): string {
  const { style, script } = assets()
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escape(title)}</title>
<style>${style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><a class="brand" href="/docs">Posthorn</a><div id="search"></div><a class="menu" href="#contents">Contents</a></header>
<div class="frame">
<nav id="contents" aria-label="Contents">${nav}</nav>
<main id="content">${main}</main>
</div>
<script>${script}</script>
</body>
</html>
`
}
