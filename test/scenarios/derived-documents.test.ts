/** The Postman collection and `/llms.txt` (behaviour: operating 1.4). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { startWorld } from '../support/world.ts'

interface PostmanAuth {
  readonly type: string
  readonly bearer?: readonly { readonly value: string }[]
}

interface PostmanPair {
  readonly key: string
  readonly value: string
  readonly disabled?: boolean
}

interface PostmanItem {
  readonly name: string
  readonly item?: readonly PostmanItem[]
  readonly request?: {
    readonly method: string
    readonly auth?: PostmanAuth
    readonly header: readonly PostmanPair[]
    readonly url: {
      readonly raw: string
      readonly host: readonly string[]
      readonly path: readonly string[]
      readonly query?: readonly PostmanPair[]
      readonly variable?: readonly PostmanPair[]
    }
    readonly body?: { readonly mode: string; readonly raw?: string }
  }
}

const requestsOf = (items: readonly PostmanItem[]): PostmanItem[] =>
  items.flatMap((one) => (one.item === undefined ? [one] : requestsOf(one.item)))

test('the Postman collection has every operation once, with an accepted example', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()

  const { status, headers, body } = await world.api().get('/docs/postman.json')

  const requests = requestsOf(body.item as PostmanItem[])
  assert.equal(status, 200)
  assert.match(headers['content-type']!, /^application\/json/)
  assert.equal(body.info.schema, 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json')
  assert.deepEqual(
    requests
      .map(
        ({ request }) =>
          `${request!.method} /${request!.url.path.map((part) => part.replace(/^:(\w+)$/, '{$1}')).join('/')}`,
      )
      .toSorted(),
    world.app.routes.map(({ method, path }) => `${method} ${path}`).toSorted(),
  )
  const send = requests.find(({ name }) => name === 'Send a message')!.request!
  const sent = await account.api.post(send.url.raw.replace('{{base_url}}', ''), JSON.parse(send.body!.raw!))
  assert.equal(sent.status, 202)
})

test('every request of the Postman collection exists, with its variables, key and types', async (t) => {
  const world = await startWorld(t)
  const { key, api } = await world.account()
  const source = await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'shop-1' })
  const { body: collection } = await world.api().get('/docs/postman.json')
  const values: Record<string, string> = { base_url: world.base_url, api_key: key, source_key: source.body.source_key }
  const filled = (text: string): string => text.replaceAll(/\{\{(\w+)\}\}/g, (_all, name: string) => values[name]!)

  assert.deepEqual(
    (collection.variable as PostmanPair[]).map((variable) => variable.key),
    Object.keys(values),
  )
  for (const { name, request } of requestsOf(collection.item as PostmanItem[])) {
    const { method, auth = collection.auth as PostmanAuth, header, url, body } = request!
    const query = (url.query ?? [])
      .filter(({ disabled }) => disabled !== true)
      .map(({ key: asked, value }) => `${asked}=${value}`)
    assert.equal(
      url.raw,
      `${url.host.join('')}/${url.path.join('/')}${query.length === 0 ? '' : `?${query.join('&')}`}`,
      name,
    )
    const path = url.raw.replaceAll(
      /:(\w+)/g,
      (all, one: string) => url.variable?.find((variable) => variable.key === one)?.value ?? all,
    )
    const sent = header
      .filter(({ disabled }) => disabled !== true)
      .map((one) => [one.key.toLowerCase(), one.value] as const)
    const own = auth.type === 'noauth' ? [] : [['authorization', `Bearer ${filled(auth.bearer![0]!.value)}`] as const]

    const answer = await world
      .api()
      .send(method, filled(path).replace(world.base_url, ''), Object.fromEntries([...sent, ...own]), body?.raw)

    const { code, message } = answer.body?.error ?? {}
    if (auth.type === 'noauth') assert.notEqual(answer.status, 400, `${name}: ${message}`)
    else
      assert.ok(
        ![401, 500].includes(answer.status) && !['invalid_json', 'parameter_missing'].includes(code),
        `${name}: ${answer.status} ${code} ${message}`,
      )
    assert.doesNotMatch(message ?? '', /There is no operation/, name)
  }
})

test('llms.txt names every operation and links to existing pages', async (t) => {
  const world = await startWorld(t)

  const { status, headers, body } = await world.api().get('/llms.txt')

  const text = body as string
  assert.equal(status, 200)
  assert.match(headers['content-type']!, /^text\/plain/)
  for (const { operation, method, path } of world.app.routes)
    assert.ok(text.includes(`- \`${operation}\`: ${method} ${path}: `), operation)
  const links = [...text.matchAll(/\]\((https?:\/\/[^)]+)\)/g)].map(([, href]) => new URL(href!).pathname)
  assert.ok(links.length > 15, `${links.length} links`)
  for (const path of links) assert.equal((await world.api().get(path)).status, 200, path)
})
