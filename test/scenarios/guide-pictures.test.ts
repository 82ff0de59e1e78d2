/** Guides show pictures in the reader's color scheme (behaviour: operating 1.2). */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { startWorld } from '../support/world.ts'

const guides = join(import.meta.dirname, '../../docs/guides')
/** Of all pictures together, because the repository contains them. */
const bytesMax = 1_500_000

test('every picture of a guide is served in both colour schemes, and none is unused', async (t) => {
  const world = await startWorld(t)
  const named = new Set<string>()
  for (const file of readdirSync(guides).filter((name) => name.endsWith('.md')))
    for (const [, alt, path] of readFileSync(join(guides, file), 'utf8').matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)) {
      assert.ok(alt!.length > 10, `${file}: ${path} says what it shows`)
      assert.match(path!, /^pictures\/[a-z-]+-light\.webp$/)
      named.add(path!).add(path!.replace('-light', '-dark'))
    }
  assert.ok(named.size >= 20)
  assert.deepEqual(
    [...named].toSorted(),
    readdirSync(join(guides, 'pictures'), 'utf8')
      .map((name) => `pictures/${name}`)
      .toSorted(),
  )

  let bytes = 0
  for (const path of named) {
    const answer = await fetch(`${world.base_url}/docs/guides/${path}`)
    assert.deepEqual(
      [answer.status, answer.headers.get('content-type'), answer.headers.get('x-content-type-options')],
      [200, 'image/webp', 'nosniff'],
    )
    bytes += (await answer.arrayBuffer()).byteLength
  }
  assert.ok(bytes < bytesMax, `${bytes} bytes`)
  const page = await (await fetch(`${world.base_url}/docs/guides/console-tour`)).text()
  assert.match(
    page,
    /<picture><source media="\(prefers-color-scheme: dark\)" srcset="\/docs\/guides\/pictures\/home-dark\.webp"><img src="\/docs\/guides\/pictures\/home-light\.webp"/,
  )
  for (const path of ['pictures/nothing.webp', 'pictures/..%2f..%2fREADME.md', 'pictures/home-light.png'])
    assert.equal((await fetch(`${world.base_url}/docs/guides/${path}`)).status, 404)
})
