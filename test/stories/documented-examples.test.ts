/** The reference is read with a terminal beside it: what it shows as a request works as it is. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { startWorld } from '../kit/world.ts'

test('the example of every operation that names no other object is accepted as it is', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const document = (await world.api().get('/docs/openapi.json')).body
  const operations = Object.entries<Record<string, { requestBody?: { content: Record<string, { example?: unknown }> } }>>(document.paths)
    .filter(([path]) => !path.includes('{') && path !== '/v1/channels') // a channel needs an account with its provider
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, body: operation.requestBody?.content['application/json'] })),
    )
    .filter(({ body }) => body !== undefined)

  assert.ok(operations.length >= 8)
  for (const { path, method, body } of operations) {
    const answer = await api.send(method.toUpperCase(), path, { 'content-type': 'application/json' }, JSON.stringify(body!.example))
    assert.ok(answer.status < 300, `${method} ${path} ${JSON.stringify(body!.example)}: ${JSON.stringify(answer.body)}`)
    assert.equal(answer.headers['service-ignored-fields'], undefined, path)
  }
})
