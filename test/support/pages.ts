/** Checks of every page that the service serves. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'

const ownPicture =
  /<picture><source media="\(prefers-color-scheme: dark\)" srcset="\/docs\/[a-z/-]+\.webp"><img src="\/docs\/[a-z/-]+\.webp" alt="[^"<>]+" loading="lazy"><\/picture>/g

export function assertAlone(path: string, policy: string, html: string): void {
  for (const [tag, directive] of [
    ['style', 'style-src'],
    ['script', 'script-src'],
  ] as const) {
    const texts = [...html.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))].map(([, text]) => text!)
    assert.equal(texts.length, 1, `${path}: ${tag}`)
    assert.ok(
      policy.includes(`${directive} 'sha256-${createHash('sha256').update(texts[0]!).digest('base64')}';`),
      `${path}: ${tag}`,
    )
  }
  assert.match(policy, /^default-src 'none'; /)
  assert.doesNotMatch(policy, /unsafe|https?:|\*/)
  const markup = html.replace(/<script>[^]*<\/script>/, '').replaceAll(ownPicture, '')
  assert.doesNotMatch(markup, /<script|<link|<img|<iframe|@import|url\(|\son\w+=|\sstyle=|\ssrc=/i, path)
}
