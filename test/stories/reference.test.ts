/** The reference that the service serves itself (behaviour: operating 1; conventions 7.3). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { errorCatalogue } from '../../src/contract/errors.ts'
import { startWorld } from '../kit/world.ts'

test('the pages need no key, load nothing, run nothing, and their links lead somewhere', async (t) => {
  const world = await startWorld(t)
  const api = world.api()
  const paths = ['/docs', '/docs/errors', '/docs/content']
  const pages = new Map<string, string>()
  for (const path of paths) {
    const answer = await api.get(path)
    assert.equal(answer.status, 200, path)
    assert.match(answer.headers['content-type']!, /^text\/html/)
    assert.match(answer.headers['content-security-policy']!, /default-src 'none'/)
    pages.set(path, answer.body)
  }

  for (const [path, html] of pages) {
    assert.doesNotMatch(html, /<script|<link|<img|<iframe|@import|url\(|\son\w+=/i, path)
    assert.match(html, /<meta name="viewport"/)
    assert.match(html, /prefers-color-scheme:\s?dark/)
    const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
    assert.equal(new Set(ids).size, ids.length, `${path}: an id stands twice`)
    for (const [, href] of html.matchAll(/href="([^"]+)"/g)) {
      const [target, anchor] = href!.split('#')
      const there = target === '' ? html : pages.get(target!)
      if (there === undefined) assert.equal((await api.get(target!)).status, 200, href)
      else if (anchor !== undefined) assert.ok(there.includes(`id="${anchor}"`), `${path}: ${href} leads nowhere`)
    }
  }
})

test('every error code has its entry, which is where doc_url leads', async (t) => {
  const world = await startWorld(t)
  const api = world.api()
  const refused = await api.get('/v1/me')

  const { body: html } = await api.get(new URL(refused.body.error.doc_url).pathname)

  for (const code of Object.keys(errorCatalogue)) assert.ok(html.includes(`id="${code}"`), code)
})

test('the OpenAPI document is served under the address that clients use', async (t) => {
  const world = await startWorld(t, { settings: { base_url: 'https://messages.example.com' } })

  const { body: document, headers } = await world.api().get('/docs/openapi.json')

  assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  assert.deepEqual([document.openapi, document.info.version, document.servers], ['3.1.0', '1.0.0', [{ url: 'https://messages.example.com' }]])
  assert.deepEqual(document.paths['/v1/messages'].post['x-scopes'], ['messages:write'])
  assert.deepEqual(document.paths['/v1/me'].get['x-scopes'], [])
})

test('an object of the document that names no field says whether it takes any', async (t) => {
  const world = await startWorld(t)
  const { body: document } = await world.api().get('/docs/openapi.json')
  const undecided: string[] = []
  const look = (value: unknown, at: string): void => {
    if (typeof value !== 'object' || value === null || /\/(examples?|default|value)$/.test(at)) return
    const { type, properties, additionalProperties } = value as { type?: unknown; properties?: object; additionalProperties?: unknown }
    const isObject = [type].flat().includes('object') && properties !== undefined
    if (isObject && Object.keys(properties).length === 0 && additionalProperties === undefined) undecided.push(at)
    for (const [key, inner] of Object.entries(value)) look(inner, `${at}/${key}`)
  }

  look(document, '')

  assert.deepEqual(undecided, [])
})

test('what is refused is counted by its code', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  await Promise.all([world.api().get('/v1/me'), api.get('/v1/nothing'), api.get('/v1/nothing')])

  const { body } = await world.api().get('/metrics')

  assert.match(body, /posthorn_requests_refused_total\{code="api_key_missing"\} 1/)
  assert.match(body, /posthorn_requests_refused_total\{code="resource_missing"\} 2/)
})

test('an operation without required fields may come without a body, with any content type or none', async (t) => {
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

test('a field that only the operation itself finds missing is among the codes that the document names for it', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const { paths } = (await world.api().get('/docs/openapi.json')).body
  const contact = (await api.post('/v1/contacts', { phone: '+4915112345678' })).body
  const segment = (await api.post('/v1/segments', { name: 'S', rules: { match: 'all', conditions: [{ field: 'phone', operator: 'exists' }] } })).body

  const answers = [
    ['/v1/contacts', 'post', await api.post('/v1/contacts', {})],
    ['/v1/contacts/{id}', 'patch', await api.patch(`/v1/contacts/${contact.id}`, { phone: null })],
    ['/v1/contacts/tags', 'post', await api.post('/v1/contacts/tags', { contacts: [contact.id] })],
    ['/v1/segments/{id}', 'patch', await api.patch(`/v1/segments/${segment.id}`, { rules: {} })],
    ['/v1/contact_imports', 'post', await api.send('POST', '/v1/contact_imports?consent_declared=true', { 'content-type': 'text/csv' }, 'first_name\nAda\n')],
  ] as const

  for (const [path, method, { body }] of answers) {
    assert.equal(body.error?.code, 'parameter_missing', path)
    assert.ok(paths[path][method].responses[400]['x-codes'].includes('parameter_missing'), path)
  }
})
