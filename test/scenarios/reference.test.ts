/** The reference (behaviour: operating 1; conventions 7.3). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { contentTypes } from '../../src/api/content/registry.ts'
import { errorCatalogue } from '../../src/api/errors.ts'
import { codeSamples } from '../../src/docs/code-samples.ts'
import { otherNames } from '../../src/docs/other-names.ts'
import { siteOf } from '../../src/docs/site.ts'
import { assertAlone } from '../support/pages.ts'
import { startWorld, type World } from '../support/world.ts'

const pagesOf = ({ app }: World): string[] => [
  '/docs',
  '/docs/errors',
  '/docs/content',
  ...new Set(app.routes.map(({ tag }) => `/docs/api/${tag.toLowerCase().replaceAll(' ', '-')}`)),
  ...app.routes.map(({ operation }) => `/docs/api/${operation}`),
  ...Object.keys(contentTypes).map((type) => `/docs/content/${type}`),
  ...Object.keys(errorCatalogue).map((code) => `/docs/errors/${code}`),
]

/** Reads a page and checks that it runs only what its policy allows by hash, and loads nothing. */
async function readPage(world: World, path: string): Promise<string> {
  const { status, headers, body } = await world.api().get(path)
  assert.equal(status, 200, path)
  assert.ok(Buffer.byteLength(body) < 150_000, `${path}: ${Buffer.byteLength(body)} bytes`)
  assert.match(headers['content-type']!, /^text\/html/)
  assertAlone(path, headers['content-security-policy']!, body)
  return body as string
}

const unescape = (html: string): string =>
  html.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)))

test('the pages need no key, load nothing from elsewhere, run only their own script, and their links work', async (t) => {
  const world = await startWorld(t)
  const pages = new Map<string, string>()
  const paths = pagesOf(world)
  for (const path of paths) pages.set(path, await readPage(world, path))

  for (const path of paths) {
    const html = pages.get(path)!
    assert.match(html, /<meta name="viewport"/)
    assert.match(html, /prefers-color-scheme:\s?dark/)
    const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
    assert.equal(new Set(ids).size, ids.length, `${path}: an id stands twice`)
    for (const [, href] of html.matchAll(/href="([^"]+)"/g)) {
      const [target, anchor] = href!.split('#')
      if (target !== '' && !pages.has(target!)) pages.set(target!, String((await world.api().get(target!)).body))
      if (anchor !== undefined)
        assert.ok(
          pages.get(target === '' ? path : target!)!.includes(`id="${anchor}"`),
          `${path}: ${href} leads nowhere`,
        )
    }
  }
  for (const path of pages.keys()) assert.equal((await world.api().get(path)).status, 200, path)
})

test('every operation and resource has its own page under 150 KB with its script, with all its text', async (t) => {
  const world = await startWorld(t)
  const { body: document } = await world.api().get('/docs/openapi.json')

  for (const { operation, method, path, summary, description, query, signedHandler } of world.app.routes) {
    const html = await readPage(world, `/docs/api/${operation}`)
    const text = html.slice(0, html.indexOf('<script>'))
    for (const word of [
      summary,
      method,
      path,
      ...Object.keys(query?.properties ?? {}),
      ...(description?.split(/[`\n]/) ?? []),
    ])
      assert.ok(
        text.includes(word.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)),
        `${operation}: ${word}`,
      )
    for (const status of Object.keys(document.paths[path][method.toLowerCase()].responses))
      assert.ok(text.includes(status), `${operation}: ${status}`)
    assert.equal(text.match(/<label for="in-/g)?.length, signedHandler === undefined ? 3 : 1, operation)
  }
})

test('an address of the former single page still leads to the operation', async (t) => {
  const world = await startWorld(t)

  const html = await readPage(world, '/docs')

  assert.match(html, /<li id="post-v1-messages" data-moved><a href="\/docs\/api\/messages\.send">/)
  for (const id of ['operations-messages', 'get-v1-webhook-endpoints-id', 'authentication', 'test-mode', 'events'])
    assert.ok(html.includes(`id="${id}"`), id)
})

test('a missing page is refused like an API path, and suggests the likely one', async (t) => {
  const world = await startWorld(t)
  const paths = [
    '/docs/api/nothing',
    '/docs/api/messages.nothing',
    '/docs/api/..%2ferrors',
    '/docs/nothing',
    '/docs/a/b/c',
    '/docs/guides/nothing',
    '/docs/behaviour/nothing',
  ]

  const answers = await Promise.all(paths.map((path) => world.api().get(path)))
  const near = await world.api().get('/docs/api/messages.sent')

  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.error.code]),
    answers.map(() => [404, 'resource_missing']),
  )
  assert.equal(
    near.body.error.message,
    'There is no page /docs/api/messages.sent. Did you mean /docs/api/messages.send?',
  )
  for (const [path, meant] of [
    ['/docs/guides/sendin', '/docs/guides/sending'],
    ['/docs/behaviour/webhook', '/docs/behaviour/webhooks'],
  ] as const)
    assert.equal((await world.api().get(path)).body.error.message, `There is no page ${path}. Did you mean ${meant}?`)
})

test('a browser gets an error page with the search and links', async (t) => {
  const world = await startWorld(t)
  const accept = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

  for (const path of [
    '/docs/api/messages.sent',
    '/docs/nothing',
    '/docs/guides/nothing',
    '/docs/behaviour/a',
    '/docs/%3Cscript%3Ealert(1)%3C/script%3E',
  ]) {
    const { status, headers, body } = await world.api().get(path, accept)
    const head = await world.api().send('HEAD', path, accept)

    assert.deepEqual(
      [status, headers['content-type'], headers['vary']],
      [404, 'text/html; charset=utf-8', 'accept'],
      path,
    )
    assertAlone(path, headers['content-security-policy']!, body)
    assert.match(body, /<div id="search">/)
    assert.match(body, /<a href="\/docs\/guides">/)
    assert.match(body, /<code>req_\w+<\/code>/)
    assert.deepEqual([head.status, head.headers['content-type']], [404, 'text/html; charset=utf-8'], path)
  }
  assert.match(
    (await world.api().get('/docs/api/messages.sent', accept)).body,
    /Did you mean <a href="\/docs\/api\/messages\.send">/,
  )
})

test('every search result exists, and the index is small', async (t) => {
  const world = await startWorld(t)
  const { entries } = (await world.api().get('/docs/search.json')).body as {
    entries: readonly (readonly [string, string, ...string[]])[]
  }
  const compressed = await request(`${world.base_url}/docs/search.json`, { headers: { 'accept-encoding': 'br' } })
  const hrefs = new Set(entries.map(([, href]) => href))

  assert.ok((await compressed.body.arrayBuffer()).byteLength < 100_000)
  assert.deepEqual(
    Object.keys(otherNames).filter((href) => !hrefs.has(href)),
    [],
  )
  for (const path of new Set([...hrefs].map((href) => href.split('#')[0]!))) {
    const html = await readPage(world, path)
    for (const href of hrefs)
      if (href.startsWith(`${path}#`)) assert.ok(html.includes(`id="${href.slice(path.length + 1)}"`), href)
  }
})

test('pages are compressed, with an ETag, and answer 304 to clients that have them', async (t) => {
  const world = await startWorld(t)
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Buffer) => bytes }
  const get = async (path: string, headers: Record<string, string>) => {
    const answer = await request(`${world.base_url}${path}`, { headers })
    const encoding = (answer.headers['content-encoding'] ?? 'identity') as keyof typeof decoders
    return { ...answer, encoding, text: decoders[encoding](Buffer.from(await answer.body.arrayBuffer())).toString() }
  }

  for (const path of [
    '/docs',
    '/docs/api/messages.send',
    '/docs/openapi.json',
    '/docs/search.json',
    '/docs/postman.json',
    '/docs/behaviour',
    '/docs/guides/webhooks',
    '/llms.txt',
  ]) {
    const plain = await get(path, {})
    const [brotli, gzip] = [
      await get(path, { 'accept-encoding': 'gzip, deflate, br' }),
      await get(path, { 'accept-encoding': 'br;q=0, gzip;q=0.5' }),
    ]
    const etag = String(plain.headers['etag'])
    const again = await get(path, { 'if-none-match': `"other", ${etag}`, 'accept-encoding': 'br' })

    assert.deepEqual([plain.encoding, brotli.encoding, gzip.encoding], ['identity', 'br', 'gzip'], path)
    assert.ok(brotli.text === plain.text && gzip.text === plain.text, path)
    assert.ok(Number(brotli.headers['content-length']) < plain.text.length / 2, path)
    assert.match(etag, /^W\/"[\w-]{22}"$/)
    assert.deepEqual(
      [again.statusCode, again.text, again.headers['etag'], again.headers['content-encoding']],
      [304, '', etag, undefined],
      path,
    )
    assert.match(String(plain.headers['vary']), /accept-encoding/i)
    assert.equal((await get(path, { 'if-none-match': '"other"' })).statusCode, 200)
  }
})

test('any site may read the OpenAPI document, but no other page', async (t) => {
  const world = await startWorld(t)
  const origin = { origin: 'https://editor.example.com' }

  const document = await world.api().get('/docs/openapi.json', origin)
  const preflight = await world
    .api()
    .send('OPTIONS', '/docs/openapi.json', { ...origin, 'access-control-request-method': 'GET' })
  const page = await world.api().get('/docs', origin)

  assert.deepEqual([document.status, document.headers['access-control-allow-origin']], [200, '*'])
  assert.deepEqual(
    [
      preflight.status,
      preflight.headers['access-control-allow-origin'],
      preflight.headers['access-control-allow-methods'],
    ],
    [204, '*', 'GET, HEAD'],
  )
  assert.equal(page.headers['access-control-allow-origin'], undefined)
})

test("the samples are valid in their languages and contain the document's body", async (t) => {
  const world = await startWorld(t)
  const { body: document } = await world.api().get('/docs/openapi.json')
  const site = siteOf(world.app.routes, world.app.platform.settings.base_url)

  for (const route of world.app.routes) {
    const { operation, path, method, signedHandler } = route
    const html = await readPage(world, `/docs/api/${operation}`)
    const sampleIn = (language: string) =>
      unescape(html.match(new RegExp(`<pre class="in-${language}"><code>([^]*?)</code>`))?.[1] ?? '')
    const example = document.paths[path][method.toLowerCase()].requestBody?.content['application/json']?.example
    const curl = sampleIn('curl')
    if (example !== undefined && /-d '/.test(curl))
      assert.deepEqual(JSON.parse(/-d '([^]*)'$/.exec(curl)![1]!.replaceAll("'\\''", "'")), example, operation)
    assert.match(curl, /^curl /)
    if (signedHandler !== undefined) continue
    const typescript = sampleIn('typescript')
    // typescript-samples.test.ts checks that it compiles
    assert.equal(
      typescript,
      codeSamples(site, route).find(({ language }) => language === 'typescript')?.text,
      operation,
    )
    assert.match(
      typescript,
      new RegExp(`posthorn\\.${operation.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())}\\(`),
      operation,
    )
    if (operation === 'contact_imports.create')
      assert.match(typescript, /create\(await readFile\('file\.csv'\), \{ consent_declared: true \}\)/)
    assert.match(sampleIn('python'), new RegExp(`requests\\.${method.toLowerCase()}\\(`), operation)
  }
})

test('every error code has the entry that doc_url links to, and a page with its operations', async (t) => {
  const world = await startWorld(t)
  const api = world.api()
  const refused = await api.get('/v1/me')

  const { body: html } = await api.get(new URL(refused.body.error.doc_url).pathname)

  for (const [code, { title, fix }] of Object.entries(errorCatalogue)) {
    const own = await readPage(world, `/docs/errors/${code}`)
    assert.ok(html.includes(`id="${code}"`) && html.includes(`href="/docs/errors/${code}"`), code)
    for (const sentence of [title, fix])
      for (const page of [html, own])
        assert.ok(
          unescape(page)
            .replaceAll(/<\/?code>/g, '`')
            .includes(sentence),
          code,
        )
  }
  assert.match(await readPage(world, '/docs/errors/campaign_limit_exceeded'), /href="\/docs\/api\/campaigns\.launch"/)
})

test('the OpenAPI document contains the address that clients use', async (t) => {
  const world = await startWorld(t, { settings: { base_url: 'https://messages.example.com' } })

  const { body: document, headers } = await world.api().get('/docs/openapi.json')

  assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  assert.deepEqual(
    [document.openapi, document.info.version, document.servers],
    ['3.1.0', '1.0.0', [{ url: 'https://messages.example.com' }]],
  )
  assert.deepEqual(document.paths['/v1/messages'].post['x-scopes'], ['messages:write'])
  assert.deepEqual(document.paths['/v1/me'].get['x-scopes'], [])
})

test('a schema object without fields states whether it accepts any', async (t) => {
  const world = await startWorld(t)
  const { body: document } = await world.api().get('/docs/openapi.json')
  const undecided: string[] = []
  const look = (value: unknown, at: string): void => {
    if (typeof value !== 'object' || value === null || /\/(examples?|default|value)$/.test(at)) return
    const { type, properties, additionalProperties } = value as {
      type?: unknown
      properties?: object
      additionalProperties?: unknown
    }
    const isObject = [type].flat().includes('object') && properties !== undefined
    if (isObject && Object.keys(properties).length === 0 && additionalProperties === undefined) undecided.push(at)
    for (const [key, inner] of Object.entries(value)) look(inner, `${at}/${key}`)
  }

  look(document, '')

  assert.deepEqual(undecided, [])
})

test('refused requests are counted by code', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  await Promise.all([world.api().get('/v1/me'), api.get('/v1/nothing'), api.get('/v1/nothing')])

  const { body } = await world.api().get('/metrics')

  assert.match(body, /posthorn_requests_refused_total\{code="api_key_missing"\} 1/)
  assert.match(body, /posthorn_requests_refused_total\{code="resource_missing"\} 2/)
})

test('an operation without required fields accepts a missing body, with any content type', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const { body: endpoint } = await api.post('/v1/webhook_endpoints', { url: 'https://example.com/', events: ['*'] })
  const path = `/v1/webhook_endpoints/${endpoint.id}/roll_secret`

  const answers = await Promise.all([
    api.send('POST', path),
    api.send('POST', path, { 'content-type': 'text/plain' }),
    api.send('POST', path, { 'content-type': 'application/json' }),
    api.send('POST', path, { 'content-type': 'nonsense' }, ''),
    api.send('POST', path, { 'content-type': 'application/json' }, '{}'),
    api.send('POST', path, { 'content-type': 'text/plain' }, 'text'),
    api.send('POST', path, { 'content-type': 'application/json' }, '{'),
  ])

  assert.deepEqual(
    answers.map((answer) => [answer.status, answer.body.error?.code]),
    [...Array.from({ length: 5 }, () => [200, undefined]), [400, 'invalid_json'], [400, 'invalid_json']],
  )
})

test('the document lists the error code of a field that only the operation finds missing', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const { paths } = (await world.api().get('/docs/openapi.json')).body
  const contact = (await api.post('/v1/contacts', { phone: '+4915112345678' })).body
  const segment = (
    await api.post('/v1/segments', {
      name: 'S',
      rules: { match: 'all', conditions: [{ field: 'phone', operator: 'exists' }] },
    })
  ).body

  const answers = [
    ['/v1/contacts', 'post', await api.post('/v1/contacts', {})],
    ['/v1/contacts/{id}', 'patch', await api.patch(`/v1/contacts/${contact.id}`, { phone: null })],
    ['/v1/contacts/tags', 'post', await api.post('/v1/contacts/tags', { contacts: [contact.id] })],
    ['/v1/segments/{id}', 'patch', await api.patch(`/v1/segments/${segment.id}`, { rules: {} })],
    [
      '/v1/contact_imports',
      'post',
      await api.send(
        'POST',
        '/v1/contact_imports?consent_declared=true',
        { 'content-type': 'text/csv' },
        'first_name\nAda\n',
      ),
    ],
  ] as const

  for (const [path, method, { body }] of answers) {
    assert.equal(body.error?.code, 'parameter_missing', path)
    assert.ok(paths[path][method].responses[400]['x-codes'].includes('parameter_missing'), path)
  }
})
