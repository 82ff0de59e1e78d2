/** The pages of the behaviour reference (behaviour: operating 1). */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { assertAlone } from '../support/pages.ts'
import { startWorld } from '../support/world.ts'

const alone = ['/docs/threat-model', '/docs/providers', '/docs/settings', '/docs/commands']
const pagesOf = (path: string, folder: string): string[] =>
  readdirSync(join(import.meta.dirname, '../../docs', folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => (file === 'README.md' ? path : `${path}/${file.replace(/\.md$/, '')}`))
const paths = [...pagesOf('/docs/behaviour', 'reference/behaviour'), ...pagesOf('/docs/guides', 'guides'), ...alone]

test('every page of the behaviour reference is served, loads nothing and runs only its own script', async (t) => {
  const world = await startWorld(t)
  const api = world.api()

  for (const path of paths) {
    const { status, headers, body } = await api.get(path)

    assert.equal(status, 200, path)
    assert.match(headers['content-type']!, /^text\/html/)
    assertAlone(path, headers['content-security-policy']!, body)
  }
  assert.equal((await api.get('/docs/behaviour/')).status, 200)
  const unknown = await api.get('/docs/behaviour/nothing')
  assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'resource_missing'])
  assert.equal((await api.get('/docs/behaviour/..%2f..%2fREADME')).status, 404)
})

test('every link on the pages leads to a page and to an anchor on it, and no anchor stands twice', async (t) => {
  const world = await startWorld(t)
  const api = world.api()
  const pages = new Map<string, string>()
  const read = async (path: string): Promise<string> => {
    if (!pages.has(path)) {
      const { status, body } = await api.get(path)
      assert.equal(status, 200, path)
      pages.set(path, typeof body === 'string' ? body : JSON.stringify(body))
    }
    return pages.get(path)!
  }

  let anchors = 0
  for (const path of paths) {
    const html = await read(path)
    const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
    assert.equal(new Set(ids).size, ids.length, `${path}: an id stands twice`)
    anchors += ids.filter((id) => /^\d/.test(id!)).length
    for (const [, href] of html.matchAll(/href="([^"]+)"/g)) {
      if (/^https?:\/\//.test(href!)) continue
      const [target, anchor] = href!.split('#')
      const there = await read(target === '' ? path : target!)
      if (anchor !== undefined) assert.ok(there.includes(`id="${anchor}"`), `${path}: ${href} leads nowhere`)
    }
  }
  assert.ok(anchors > 300, `${anchors} numbered paragraphs`)
})

test('a heading and a paragraph have the addresses that a citation names', async (t) => {
  const world = await startWorld(t)

  const { body } = await world.api().get('/docs/behaviour/webhooks')

  assert.match(body, /<title>Webhooks and events · Behaviour reference<\/title>/)
  assert.match(body, /<h2 id="5">/)
  assert.match(body, /<p id="5\.3"><a class="number" href="#5\.3">5\.3<\/a>/)
  assert.match(body, /<a href="\/docs\/behaviour\/billing#6">billing 6<\/a>/)
})
