/** The request examples of the reference work unchanged. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { startWorld } from '../support/world.ts'

/** A channel needs a provider account; an event or automation needs a source. */
const naming = ['/v1/channels', '/v1/automation_events', '/v1/automations']

test('the example of every operation that names no other object is accepted unchanged', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const document = (await world.api().get('/docs/openapi.json')).body
  const { source_key } = (await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'S' })).body
  const keyOf = (path: string) => (path.endsWith('/current') ? world.api(source_key) : api)
  const operations = Object.entries<
    Record<string, { requestBody?: { content: Record<string, { example?: unknown }> } }>
  >(document.paths)
    .filter(([path]) => !path.includes('{') && !naming.includes(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        path,
        method,
        body: operation.requestBody?.content['application/json'],
      })),
    )
    .filter(({ body }) => body !== undefined)

  assert.ok(operations.length >= 8)
  for (const { path, method, body } of operations) {
    const answer = await keyOf(path).send(
      method.toUpperCase(),
      path,
      { 'content-type': 'application/json' },
      JSON.stringify(body!.example),
    )
    assert.ok(answer.status < 300, `${method} ${path} ${JSON.stringify(body!.example)}: ${JSON.stringify(answer.body)}`)
    assert.equal(answer.headers['service-ignored-fields'], undefined, path)
  }
})

test('the example import file is accepted unchanged, and every type of its body is described', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const document = (await world.api().get('/docs/openapi.json')).body
  const page = (await world.api().get('/docs/api/contact_imports.create')).body as string
  const { required, content } = document.paths['/v1/contact_imports'].post.requestBody

  const answer = await api.send(
    'POST',
    '/v1/contact_imports?consent_declared=true',
    { 'content-type': 'text/csv' },
    content['text/csv'].example,
  )
  await world.settle()
  const read = await api.get(`/v1/contact_imports/${answer.body.id}`)

  assert.equal(required, true)
  assert.deepEqual(content['multipart/form-data'].schema.required, ['file'])
  assert.deepEqual(Object.keys(content['multipart/form-data'].schema.properties).toSorted(), [
    'columns',
    'consent_declared',
    'default_country',
    'file',
  ])
  assert.deepEqual([answer.status, read.body.created, read.body.rejected, read.body.warnings], [202, 1, 0, 0])
  assert.match(page, /contact_imports\?consent_declared=true&#39; \\\n.*\n.*text\/csv.*\n.*--data-binary @file\.csv/)
})
