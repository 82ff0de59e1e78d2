/** Web pages that may call the API (behaviour: conventions 1.7). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import type { Answered } from '../support/api.ts'
import { startWorld } from '../support/world.ts'

const origin = 'https://app.example.com'
const settings = { cors_origins: [origin] }
const preflight = {
  origin,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type,idempotency-key',
}
const originOf = ({ headers }: Answered) => headers['access-control-allow-origin']

test('a preflight request is 204 without a key and without rate limit', async (t) => {
  const world = await startWorld(t, { settings })

  const answer = await world.api().send('OPTIONS', '/v1/messages', preflight)

  assert.equal(answer.status, 204)
  assert.equal(originOf(answer), origin)
  assert.match(answer.headers['access-control-allow-methods']!, /GET, POST, PATCH, DELETE/)
  assert.match(answer.headers['access-control-allow-headers']!, /Authorization, Content-Type, Idempotency-Key/)
  assert.equal(answer.headers['ratelimit-limit'], undefined)
  assert.equal(answer.headers['vary'], 'origin')
})

test('responses to pages of a listed origin are readable, errors too, with the headers that clients need', async (t) => {
  const world = await startWorld(t, { settings })
  const { api } = await world.account()

  const answers = [
    await api.get('/v1/me', { origin }),
    await world.api().get('/v1/me', { origin }),
    await api.get('/v1/nothing', { origin }),
    await api.send('OPTIONS', '/v1/me', { origin }),
    await api.get('/v1/contacts?what=1', { origin }),
  ]

  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 401, 404, 404, 400],
  )
  for (const answer of answers) {
    assert.equal(originOf(answer), origin)
    for (const name of [
      'X-Request-Id',
      'RateLimit-Remaining',
      'Retry-After',
      'Idempotent-Replayed',
      'Service-Ignored-Fields',
    ]) {
      assert.ok(answer.headers['access-control-expose-headers']!.includes(name), name)
    }
  }
})

test('other origins, requests without an origin and paths outside of /v1 get no headers', async (t) => {
  const world = await startWorld(t, { settings })
  const { api } = await world.account()
  const foreign = 'https://app.example.com.evil.example'

  const answers = [
    await api.get('/v1/me', { origin: foreign }),
    await world.api().send('OPTIONS', '/v1/messages', { ...preflight, origin: foreign }),
    await api.get('/v1/me'),
    await api.get('/healthz', { origin }),
    await api.get('/v1x', { origin }),
  ]

  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 401, 200, 200, 404],
  )
  assert.deepEqual(
    answers.map(originOf),
    answers.map(() => undefined),
  )
  assert.equal(answers[2]!.headers['vary'], 'origin', 'what is cached for one caller is not for another')
})

test('without the setting no origin is allowed, and the OpenAPI document is public', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const me = await api.get('/v1/me', { origin })
  const document = await api.get('/docs/openapi.json', { origin })

  assert.deepEqual([originOf(me), me.headers['vary']], [undefined, undefined])
  assert.deepEqual([document.status, originOf(document)], [200, '*'])
})

test('an origin is a scheme and a host as browsers write it', () => {
  const originsOf = (text: string) => readConfig({ POSTHORN_CORS_ORIGINS: text }).cors_origins

  assert.deepEqual(originsOf('https://App.example.com:443/, http://localhost:5173'), [
    'https://app.example.com',
    'http://localhost:5173',
  ])
  for (const wrong of ['app.example.com', 'https://example.com/path', '*', 'null', 'ftp://example.com']) {
    assert.throws(() => originsOf(wrong), /POSTHORN_CORS_ORIGINS must be origins of web pages/, wrong)
  }
})
