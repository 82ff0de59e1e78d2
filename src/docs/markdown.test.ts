import assert from 'node:assert/strict'
import test from 'node:test'
import { renderMarkdown } from './markdown.ts'

const page = `# Retries

Words of their own.

## 3. How often

**3.1** Up to \`8\` times, see [the feed](feed.md#2-order), [why](../why.md) and [elsewhere](https://example.com/?a=1&b=2).

| a | b |
|---|---|
| \`x\` | <script>alert(1)</script> |

### More of it
`

test('numbered headings and paragraphs have anchors, and the sections are returned', () => {
  const { title, sections, html } = renderMarkdown(page, (href) =>
    href.startsWith('feed') ? '/docs/feed#2' : undefined,
  )

  assert.equal(title, 'Retries')
  assert.deepEqual(sections, [{ id: '3', title: 'How often' }])
  assert.match(
    html,
    /<h1>Retries<\/h1>\n<p>Words of their own\.<\/p>\n<h2 id="3"><a class="anchor" href="#3">3\. How often<\/a><\/h2>/,
  )
  assert.match(html, /<p id="3\.1"><a class="number" href="#3\.1">3\.1<\/a> Up to <code>8<\/code> times/)
  assert.match(html, /<h3 id="more-of-it">/)
})

test('a link leads where the page is served, and loses its address where nothing is', () => {
  const { html } = renderMarkdown(page, (href) =>
    href.startsWith('http') ? href : href === 'feed.md#2-order' ? '/docs/feed#2' : undefined,
  )

  assert.match(
    html,
    /<a href="\/docs\/feed#2">the feed<\/a>, why and <a href="https:\/\/example\.com\/\?a=1&#38;b=2">elsewhere<\/a>/,
  )
})

test('HTML and scripts in the text are shown as they are written', () => {
  const { html } = renderMarkdown(
    `${page}\n<img src=x onerror=alert(1)>\n\n![a picture](x.png) [x](javascript:alert(1))`,
    () => undefined,
  )

  assert.doesNotMatch(html, /<script|<img|href="javascript/)
  assert.match(html, /&#60;script&#62;alert\(1\)/)
  assert.match(html, /<div class="scroll"><table>/)
})

test('comments are dropped', () => {
  const { html } = renderMarkdown('# Retries\n\n<!-- not run: an example -->\n```sh\nls\n```\n\nMore.', () => undefined)

  assert.equal(html, '<h1>Retries</h1>\n<pre><code class="language-sh">ls\n</code></pre>\n<p>More.</p>\n')
})

test('cells of tables with three or more columns are labelled for phones; an empty heading is none', () => {
  const { html } = renderMarkdown(
    '| `Code` | | What "it" means |\n|---|---|---|\n| 1 | two | *three* |\n',
    () => undefined,
  )

  assert.match(
    html,
    /<table class="wide"><thead><tr><th scope="col"><code>Code<\/code><\/th><td><\/td><th scope="col">/,
  )
  assert.match(
    html,
    /<tbody><tr><td>1<\/td><td>two<\/td><td data-label="What &#34;it&#34; means"><em>three<\/em><\/td><\/tr>/,
  )
})
