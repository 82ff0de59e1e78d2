/** What programs read of the routes: a Postman collection whose requests are as the reference has them, and `/llms.txt` (behaviour: operating 1.4). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { startWorld } from '../kit/world.ts'

interface PostmanItem {
  readonly name: string
  readonly item?: readonly PostmanItem[]
  readonly request?: {
    readonly method: string
    readonly url: { readonly raw: string; readonly path: readonly string[] }
    readonly body?: { readonly mode: string; readonly raw: string }
  }
}

const requestsOf = (items: readonly PostmanItem[]): PostmanItem[] => items.flatMap((one) => (one.item === undefined ? [one] : requestsOf(one.item)))

test('the Postman collection has every operation once, and what it sends as an example is what the service takes', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()

  const { status, headers, body } = await world.api().get('/docs/postman.json')

  const requests = requestsOf(body.item as PostmanItem[])
  assert.equal(status, 200)
  assert.match(headers['content-type']!, /^application\/json/)
  assert.equal(body.info.schema, 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json')
  assert.deepEqual(
    requests.map(({ request }) => `${request!.method} /${request!.url.path.map((part) => part.replace(/^:(\w+)$/, '{$1}')).join('/')}`).toSorted(),
    world.app.routes.map(({ method, path }) => `${method} ${path}`).toSorted(),
  )
  const send = requests.find(({ name }) => name === 'Send a message')!.request!
  const sent = await account.api.post(send.url.raw.replace('{{base_url}}', ''), JSON.parse(send.body!.raw))
  assert.equal(sent.status, 202)
})

test('llms.txt names every operation, and leads to pages that there are', async (t) => {
  const world = await startWorld(t)

  const { status, headers, body } = await world.api().get('/llms.txt')

  const text = body as string
  assert.equal(status, 200)
  assert.match(headers['content-type']!, /^text\/plain/)
  for (const { operation, method, path } of world.app.routes) assert.ok(text.includes(`- \`${operation}\`: ${method} ${path}: `), operation)
  const links = [...text.matchAll(/\]\((https?:\/\/[^)]+)\)/g)].map(([, href]) => new URL(href!).pathname)
  assert.ok(links.length > 15, `${links.length} links`)
  for (const path of links) assert.equal((await world.api().get(path)).status, 200, path)
})
