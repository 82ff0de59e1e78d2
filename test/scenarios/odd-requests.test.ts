/** Unusual requests get an answer with the envelope and a request id (behaviour: conventions 1). */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { startWorld } from '../support/world.ts'

async function answerTo(
  base_url: string,
  bytes: string,
): Promise<{ status: number; head: string; code: string | undefined }> {
  const { head, body } = await rawAnswerTo(base_url, bytes)
  return {
    status: Number(head.split(' ')[1]),
    head,
    code: (JSON.parse(body === '' ? '{}' : body) as { error?: { code: string } }).error?.code,
  }
}

async function rawAnswerTo(base_url: string, bytes: string): Promise<{ head: string; body: string }> {
  const socket = connect(Number(new URL(base_url).port), '127.0.0.1')
  socket.write(bytes)
  const [head, body] = (await text(socket)).split('\r\n\r\n') as [string, string]
  return { head: head.toLowerCase(), body }
}

test('an unknown method is 404, and 401 without a key', async (t) => {
  const world = await startWorld(t)
  const { key } = await world.account()

  for (const method of ['QUERY', 'LOCK', 'PURGE']) {
    const known = await answerTo(
      world.base_url,
      `${method} /v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
    )
    assert.deepEqual([known.status, known.code], [404, 'resource_missing'], method)
    assert.match(known.head, /ratelimit-limit: /)
    const stranger = await answerTo(
      world.base_url,
      `${method} /v1/messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    )
    assert.deepEqual([stranger.status, stranger.code], [401, 'api_key_missing'], method)
  }
})

test('an absolute URL and percent-encoded letters mean the same path', async (t) => {
  const world = await startWorld(t)
  const { key } = await world.account()
  const ask = (line: string, ...headers: string[]) =>
    answerTo(world.base_url, [`${line} HTTP/1.1`, 'Host: x', ...headers, 'Connection: close', '', ''].join('\r\n'))
  const mine = `Authorization: Bearer ${key}`

  const whole = await ask('GET http://posthorn.example/v1/me', mine)
  const unknown = await ask('GET http://posthorn.example/v1/nope', mine)
  const stranger = await ask('GET http://posthorn.example/v1/nope')
  const method = await ask('DELETE /%76%31/m%65', mine)
  const root = await ask('GET http://posthorn.example?x=1', mine)

  assert.equal(whole.status, 200)
  assert.deepEqual([unknown.status, stranger.status, stranger.code], [404, 401, 'api_key_missing'])
  assert.match(unknown.head, /ratelimit-limit: /)
  assert.equal(method.status, 404)
  assert.match(method.head, /allow: get\r\n/)
  assert.equal(root.status, 302)
})

test('a path with a segment longer than any id is unknown for every method', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const { status, headers, body } = await api.get(`/v1/messages/msg_${'a'.repeat(300)}`)

  assert.deepEqual([status, body.error.code, headers['allow']], [404, 'resource_missing', undefined])
  assert.doesNotMatch(body.error.message, /takes GET|Did you mean GET .*msg_/)
})

test('a phone number finds its messages, with the plus escaped or not', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  await api.post('/v1/messages', { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'Hello' } })

  for (const to of ['+15005550006', '%2B15005550006', '%2b15005550006'])
    assert.equal((await api.get(`/v1/messages?to=${to}`)).body.data.length, 1, to)
})

test('pages outside of /v1 answer HEAD without a body; API operations do not', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  for (const path of ['/healthz', '/readyz', '/metrics', '/docs', '/docs/errors', '/docs/openapi.json']) {
    const answer = await api.send('HEAD', path)
    assert.deepEqual([answer.status, answer.body], [200, ''], path)
  }
  const [root, rootWithBody] = [await api.send('HEAD', '/'), await api.send('GET', '/')]
  assert.deepEqual([root.status, root.headers['location']], [302, '/docs'])
  assert.deepEqual([rootWithBody.status, rootWithBody.headers['location']], [302, '/docs'])
  assert.equal((await api.send('HEAD', '/v1/me')).status, 404)
})

test('a missing Host and an unknown Expect are answered with a request id', async (t) => {
  const world = await startWorld(t)
  const { key } = await world.account()

  const hostless = await answerTo(
    world.base_url,
    `GET /v1/me HTTP/1.1\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
  )
  assert.deepEqual([hostless.status, hostless.code], [400, 'parameter_invalid'])
  assert.match(hostless.head, /x-request-id: req_/)
  const expecting = await answerTo(
    world.base_url,
    `GET /v1/me HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
  )
  assert.equal(expecting.status, 200)
  assert.match(expecting.head, /x-request-id: req_/)
})

test('a repeated Host or Authorization is refused', async (t) => {
  const world = await startWorld(t)
  const { key } = await world.account()
  const ask = (...headers: string[]) =>
    answerTo(world.base_url, `GET /v1/me HTTP/1.1\r\n${headers.join('\r\n')}\r\nConnection: close\r\n\r\n`)
  const mine = `Authorization: Bearer ${key}`

  const answers = await Promise.all([
    ask('Host: x', mine, 'Host: x'),
    ask('Host: x', mine, 'hOST: y'),
    ask('Host: x', mine, mine),
    ask('Host: x', 'Authorization: Basic dXNlcjpwYXNz', mine),
    ask('Host: x', mine, 'authorization: Bearer'),
    ask('Host: x', mine),
  ])

  assert.deepEqual(
    answers.map(({ status, code }) => [status, code]),
    [
      [400, 'parameter_invalid'],
      [400, 'parameter_invalid'],
      [401, 'api_key_invalid'],
      [401, 'api_key_invalid'],
      [401, 'api_key_invalid'],
      [200, undefined],
    ],
  )
  for (const { head } of answers) assert.match(head, /x-request-id: req_/)
})

test('the first of repeated Content-Type headers counts', async (t) => {
  const world = await startWorld(t)
  const { key } = await world.account()
  const send = (first: string, then: string) =>
    answerTo(
      world.base_url,
      `POST /v1/contact_lists HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${first}\r\nContent-Type: ${then}\r\nContent-Length: 12\r\nConnection: close\r\n\r\n{"name":"a"}`,
    )

  assert.equal((await send('application/json', 'text/plain')).status, 201)
  assert.deepEqual((await send('text/plain', 'application/json')).code, 'invalid_json')
})

test('an invalid body gets at most a hundred failures', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const many = Array.from({ length: 20_000 }, (_, index) => index)

  const answers = await Promise.all([
    api.post('/v1/contacts', { phone: '+4915112345678', tags: many.map(() => '') }),
    api.post('/v1/contacts', {
      phone: '+4915112345678',
      consent: Object.fromEntries(many.map((index) => [`k${index}`, 0])),
    }),
    api.post('/v1/contacts/tags', { phones: many, add: ['x'] }),
    api.post('/v1/messages', {
      channel: 'ch_test_whatsapp',
      to: '+15005550006',
      type: 'template',
      template: { name: 'x', language: { code: 'en' }, components: many },
    }),
  ])

  for (const { status, body } of answers) {
    assert.equal(status, 400)
    assert.ok(body.error.details.length <= 100, String(body.error.details.length))
  }
})

test('no answer may be guessed to be of another type, whoever makes it', async (t) => {
  const world = await startWorld(t, { settings: { cors_origins: ['https://app.example.com'] } })
  const { key } = await world.account()
  const get = (path: string, ...headers: string[]) =>
    [`GET ${path} HTTP/1.1`, 'Host: x', ...headers, 'Connection: close', '', ''].join('\r\n')
  const mine = `Authorization: Bearer ${key}`
  const routes = [...world.app.routes, ...world.app.consoleRoutes].filter(({ method }) => method !== 'GET')
  const requests = [
    // the parser of HTTP, Node and the framework
    'nonsense\r\n\r\n',
    'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`,
    'GET /v1/me HTTP/1.1\r\nConnection: close\r\n\r\n',
    'GET /v1/me HTTP/1.0\r\n\r\n',
    get('/v1/me', 'Expect: the unexpected'),
    get('/%zz'),
    get(`/v1/messages/${'x'.repeat(3000)}`),
    // errors and results of every kind of path
    ...[
      '/',
      '/v1',
      '/v1/me',
      '/nothing',
      '/docs',
      '/docs/nothing',
      '/docs/openapi.json',
      '/llms.txt',
      '/media/nothing',
    ].map((path) => get(path)),
    ...[
      '/console',
      '/console/assets/nothing',
      '/console/assets/..%2f..',
      '/console/api/nothing',
      '/console/api/session',
    ].map((path) => get(path)),
    ...['/healthz', '/readyz', '/metrics', '/hooks/channels/nothing', '/hooks/payments/nothing'].map((path) =>
      get(path),
    ),
    ...['/v1/me', '/v1/nothing', '/v1/events?type=nothing', '/v1/contacts/export'].map((path) => get(path, mine)),
    ...['/v1/messages', '/v1/nothing'].map((path) => get(path, mine).replace('GET', 'POST')),
    get('/v1/me', 'Origin: https://app.example.com', 'Access-Control-Request-Method: GET').replace('GET', 'OPTIONS'),
    ...routes.map(({ method, path }) => get(path.replaceAll(/[{}]/g, '')).replace('GET', method)),
  ]

  const answers: Record<string, string> = {}
  for (const bytes of requests) answers[bytes.slice(0, 60)] = (await rawAnswerTo(world.base_url, bytes)).head
  const missing = Object.entries(answers).filter(([, head]) => !head.includes('\r\nx-content-type-options: nosniff'))
  assert.deepEqual(missing, [])
  assert.ok(Object.keys(answers).length > 50)
})
