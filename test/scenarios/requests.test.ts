/** Rules for every request and response (behaviour: conventions 1, 2, 3, 4, 5, 6, 7, 8). */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import test from 'node:test'
import { poolUse } from '../../src/platform/database/pool.ts'
import type { Answered } from '../support/api.ts'
import { closing } from '../support/closing.ts'
import { testPool } from '../support/pool.ts'
import { startWorld } from '../support/world.ts'

const codeOf = (answer: Answered) => [answer.status, answer.body.error?.code]
const message = { channel: 'ch_test_whatsapp', to: '+15005550006', type: 'text', text: { body: 'Hello' } }

test('unknown paths, wrong methods and undecodable paths are 404 with rate-limit headers', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const answers = await Promise.all([
    api.get('/v1'),
    api.get('/v1/'),
    api.get('/v1/nothing'),
    api.get('/v1/messages/%zz'),
    api.get('/v1/%00'),
    api.send('PUT', '/v1/messages'),
    api.send('DELETE', '/v1/me'),
    api.send('OPTIONS', '/v1/me'),
    api.get(`/v1/messages/${'x'.repeat(5000)}`),
    api.get('/v1/messages/..%2f..%2fetc'),
    api.get('/v1/messages/msg_%ff'),
    api.get('/v1/messages/ch_test_whatsapp'),
    api.get("/v1/messages/msg_'; drop table messages; --"),
  ])

  for (const [i, answer] of answers.entries()) {
    assert.deepEqual(codeOf(answer), [404, 'resource_missing'])
    assert.equal(answer.headers['ratelimit-limit'], '1000000', `path ${i}`)
    assert.match(answer.headers['x-request-id']!, /^req_/)
  }
})

test('a query that is not percent-encoded UTF-8 is refused by parameter', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const refused = await Promise.all(
    ['reference=%ff', 'reference=a%C3', 'reference=100%', 'referenc%65=%ff', 'limit=1&reference=%ed%a0%80'].map(
      (query) => api.get(`/v1/messages?${query}`),
    ),
  )
  const taken = await Promise.all(
    ['reference=%25ff', 'reference=%EF%BF%BD', 'reference=%C3%BC+'].map((query) => api.get(`/v1/messages?${query}`)),
  )

  for (const answer of refused) {
    assert.deepEqual([...codeOf(answer), answer.body.error.param], [400, 'parameter_invalid', 'reference'])
    assert.equal(answer.body.error.details[0].code, 'invalid_format')
  }
  assert.deepEqual(
    taken.map((answer) => answer.status),
    [200, 200, 200],
  )
})

test('outside of /v1 an unknown path is 404 in the envelope without a key', async (t) => {
  const world = await startWorld(t)

  const answer = await world.api().get('/nothing/here')

  assert.deepEqual(codeOf(answer), [404, 'resource_missing'])
  assert.equal(answer.body.error.request_id, answer.headers['x-request-id'])
})

test('a trailing slash names the same operation', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const answers = await Promise.all([
    api.get('/v1/me/'),
    api.get('/v1/messages/?limit=1'),
    api.post('/v1/messages/', message),
  ])

  assert.deepEqual(
    answers.map((answer) => answer.status),
    [200, 200, 202],
  )
})

test("the client's own request id is never echoed", async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const answer = await api.get('/v1/me', { 'x-request-id': 'req_mine' })

  assert.notEqual(answer.headers['x-request-id'], 'req_mine')
})

test('bodies that are not JSON objects get the right error, whatever else is wrong', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const send = (body: string | Uint8Array, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    api.send('POST', '/v1/messages', headers, body)

  const answers = await Promise.all([
    send(''),
    send('{'),
    send('{"a":1}', { 'content-type': 'text/plain' }),
    send('{"a":1}', {}),
    send('{"a":1}', { 'content-type': 'garbage' }),
    send('{"a":1}', { 'content-type': 'application/json; charset=utf-16' }),
    send('{"a":1}', { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
    send(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)),
    send('NaN'),
    send('{"a":1,}'),
  ])
  const kinds = await Promise.all([send('[]'), send('null'), send('"text"'), send('7')])

  assert.deepEqual(
    answers.map(codeOf),
    answers.map(() => [400, 'invalid_json']),
  )
  assert.deepEqual(
    kinds.map(codeOf),
    kinds.map(() => [400, 'parameter_invalid']),
  )
})

test('a body with a compression or another content type, or an empty one, is refused with the reason', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const say = async (headers: Record<string, string>, body: string | Uint8Array) => {
    const { error } = (await api.send('POST', '/v1/contact_lists', headers, body)).body
    return [error.code, error.message.split('. ')[0]]
  }

  assert.deepEqual(await say({}, ''), ['invalid_json', 'The body is empty'])
  assert.deepEqual(await say({ 'content-type': 'application/json', 'content-encoding': 'gzip' }, '{}'), [
    'invalid_json',
    'The body is compressed',
  ])
  assert.deepEqual(await say({ 'content-type': 'text/plain' }, '{}'), [
    'invalid_json',
    'The body has another Content-Type',
  ])
  assert.deepEqual(await say({}, Buffer.from('{}')), ['invalid_json', 'The body has no Content-Type'])
})

test('JSON in UTF-8 is accepted with and without a charset', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const answers = await Promise.all(
    ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON'].map((type) =>
      api.post('/v1/messages', message, { 'content-type': type }),
    ),
  )

  assert.deepEqual(
    answers.map((answer) => answer.status),
    [202, 202, 202],
  )
})

test('a body over the limit is 413 with or without a length, and is not kept in memory', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const large = JSON.stringify({ ...message, metadata: { text: 'x'.repeat(1024 * 1024) } })
  const huge = Buffer.alloc(10 * 1024 * 1024, 0x20)

  const answers = await Promise.all([
    api.send('POST', '/v1/messages', { 'content-type': 'application/json' }, large),
    api.send('POST', '/v1/messages', {}, huge),
  ])
  const chunked = await chunkedPost(world.base_url, (await world.account()).key, huge)

  assert.deepEqual(answers.map(codeOf), [
    [413, 'payload_too_large'],
    [413, 'payload_too_large'],
  ])
  assert.equal(answers[0]!.body.error.type, 'invalid_request_error')
  assert.match(chunked, /^HTTP\/1\.1 413 /)
})

async function chunkedPost(base_url: string, key: string, body: Buffer): Promise<string> {
  const { hostname, port } = new URL(base_url)
  const socket = connect(Number(port), hostname)
  const answer = textOf(socket)
  socket.write(
    `POST /v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`,
  )
  for (let at = 0; at < body.length; at += 65_536) {
    const chunk = body.subarray(at, at + 65_536)
    socket.write(`${chunk.length.toString(16)}\r\n`)
    socket.write(chunk)
    socket.write('\r\n')
  }
  socket.write('0\r\n\r\n')
  return await answer
}

test('values that cannot be stored unchanged are refused by path', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const post = (json: string) => api.post('/v1/messages', json)
  const withMetadata = (metadata: string) =>
    post(`{"channel":"ch_test_whatsapp","to":"+15005550006","type":"text","text":{"body":"x"},"metadata":${metadata}}`)

  const answers = await Promise.all([
    withMetadata('{"a":"\\u0000"}'),
    withMetadata('{"a":["x","\\ud800"]}'),
    withMetadata('{"\\u0000":1}'),
    withMetadata('{"a":1e400}'),
    withMetadata('{"a":'.repeat(40) + '1' + '}'.repeat(40)),
    post('['.repeat(100_000)),
    api.get('/v1/messages?reference=%00'),
    api.get('/v1/messages?reference=a%00b'),
  ])

  assert.deepEqual(
    answers.map((answer) => answer.body.error.code),
    [
      'parameter_invalid',
      'parameter_invalid',
      'parameter_invalid',
      'parameter_invalid',
      'parameter_invalid',
      'invalid_json',
      'parameter_invalid',
      'parameter_invalid',
    ],
  )
  assert.deepEqual(
    answers.slice(0, 2).map((answer) => answer.body.error.param),
    ['metadata.a', 'metadata.a[1]'],
  )
  assert.equal(answers[6]!.body.error.param, 'reference')
})

test('prototype keys are ordinary data', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const metadata =
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":"x","hasOwnProperty":null}'

  const answer = await api.send(
    'POST',
    '/v1/messages',
    { 'content-type': 'application/json' },
    `{"channel":"ch_test_whatsapp","to":"+15005550006","type":"text","text":{"body":"x"},"__proto__":{"reference":"stolen"},"metadata":${metadata}}`,
  )
  const read = await api.get(`/v1/messages/${answer.body.id}`)

  assert.equal(answer.status, 202)
  assert.equal(JSON.stringify(read.body.metadata), JSON.stringify(JSON.parse(metadata)))
  assert.equal(read.body.reference, null)
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
})

test('unknown body fields are ignored and reported, even a hundred', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`field_${i}`, i]))

  const typo = await api.post('/v1/messages', {
    ...message,
    refrence: 'x',
    'naïve, one': 1,
    location: { latitude: 1, longitude: 2 },
  })
  const hundred = await api.post('/v1/messages', { ...message, ...many })
  const clean = await api.post('/v1/messages', message)

  assert.deepEqual([typo.status, hundred.status, clean.status], [202, 202, 202])
  assert.equal(typo.headers['service-ignored-fields'], 'refrence, na%C3%AFve%2C%20one')
  assert.match(hundred.headers['service-ignored-fields']!, /^field_0, .*, and-80-more$/)
  assert.equal(clean.headers['service-ignored-fields'], undefined)
})

test('unknown, empty, repeated and mistyped query parameters are refused by name', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const cases = [
    'stauts=sent',
    'to=',
    'to=%2B1&to=%2B2',
    'limit=0',
    'limit=101',
    'limit=ten',
    'limit=1.5',
    'limit=1e1',
    'status=unknown',
    'created_after=yesterday',
    'created_before=2026-02-30',
    'starting_after=msg_nothing',
    '__proto__=1',
    'constructor=1',
  ]

  const answers = await Promise.all(cases.map((query) => api.get(`/v1/messages?${query}`)))
  const post = await api.post('/v1/messages?verbose=1', message)

  assert.deepEqual(
    answers.map((answer) => [...codeOf(answer), answer.body.error.param]),
    cases.map((query) => [400, 'parameter_invalid', query.split('=')[0]]),
  )
  assert.deepEqual([...codeOf(post), post.body.error.param], [400, 'parameter_invalid', 'verbose'])
})

test('times in a query may be dates, local times or any RFC 3339 time, with the plus escaped or not', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const cases = [
    '2020-01-01',
    '2020-01-01T10:00:00',
    '2020-01-01T10:00:00Z',
    '2020-01-01T10:00:00.123456%2B02:00',
    '2020-01-01T10:00:00+02:00',
    '2020-01-01t10:00:00z',
  ]

  const answers = await Promise.all(cases.map((time) => api.get(`/v1/messages?created_after=${time}`)))

  assert.deepEqual(
    answers.map((answer) => answer.status),
    cases.map(() => 200),
  )
})

test('all failures of a request are reported at once', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const missing = await api.post('/v1/messages', {})
  const mixed = await api.post('/v1/contact_lists?what=1', { name: 7 })

  assert.equal(missing.body.error.code, 'parameter_missing')
  assert.deepEqual(
    missing.body.error.details.map((detail: { param: string }) => detail.param),
    ['channel', 'to', 'type'],
  )
  assert.equal(mixed.body.error.code, 'parameter_invalid')
  assert.deepEqual(
    mixed.body.error.details.map((detail: { param: string; code: string }) => [detail.param, detail.code]),
    [
      ['what', 'unknown_field'],
      ['name', 'invalid_type'],
    ],
  )
})

test('malformed HTTP gets an error in the envelope with a request id', async (t) => {
  const world = await startWorld(t)
  const { hostname, port } = new URL(world.base_url)

  for (const written of ['GARBAGE\r\n\r\n', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n']) {
    const socket = connect(Number(port), hostname)
    socket.write(written)
    const answer = await textOf(socket)

    const [head, body] = answer.split('\r\n\r\n')
    assert.match(head!, /^HTTP\/1\.1 400 /)
    assert.equal(JSON.parse(body!).error.request_id, /X-Request-Id: (\S+)/.exec(head!)![1])
  }
})

test('an unexpected failure is a 500 that reveals no cause', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  await world.pool`alter table contact_lists rename to moved_away`

  const answer = await account.api.get('/v1/contact_lists')

  assert.deepEqual(codeOf(answer), [500, 'internal_error'])
  assert.doesNotMatch(JSON.stringify(answer.body), /moved|relation|contact_lists/)
  assert.equal(answer.headers['ratelimit-limit'], '1000000')
})

test('while the database is unreachable requests get 503 with Retry-After', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  await account.api.get('/v1/me')
  const open = await closeDatabase(world.database_url)
  // a connection that does not know its end yet still sends: a message's outcome is then unknown, a read answers 503
  await world.idleWatch.whileTimePasses(async () => {
    for (let connection = 0; connection < poolUse(world.pool).max; connection++) await account.api.get('/v1/messages')
  })

  const [sent, read] = await world.idleWatch.whileTimePasses(() =>
    Promise.all([account.api.post('/v1/messages', message), account.api.get('/v1/messages')]),
  )
  await open()

  assert.deepEqual(
    [codeOf(sent), codeOf(read)],
    [
      [503, 'upstream_unavailable'],
      [503, 'upstream_unavailable'],
    ],
  )
  assert.deepEqual([sent.headers['retry-after'], read.headers['retry-after']], ['1', '1'])
})

test('the operator pages need no key', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  await api.get('/v1/me')

  const [health, ready, metrics] = await Promise.all([
    world.api().get('/healthz'),
    world.api().get('/readyz'),
    world.api().get('/metrics'),
  ])

  assert.deepEqual([health.status, ready.status], [200, 200])
  assert.match(metrics.body, /posthorn_request_duration_seconds_count\{method="GET",route="\/v1\/me",status="200"\} 1/)
})

test('the metrics show how this process uses its connections', async (t) => {
  const world = await startWorld(t)
  const other = testPool(world.database_url, { max: 3 })
  closing(t, () => other.end({ timeout: 1 }))
  await Promise.all([other`select 1`, other`select 1`, other`select 1`])

  const shown = async () =>
    (await world.api().get('/metrics')).body
      .match(/posthorn_pool_connections\{.*\} \d+/g)
      .map((line: string) => line.slice(25))
  const idle = await shown()
  const working = await world.pool.begin(async () => await shown())

  assert.deepEqual(idle, ['{state="in_use"} 0', '{state="waiting"} 0', '{state="max"} 10'])
  assert.deepEqual(working, ['{state="in_use"} 1', '{state="waiting"} 0', '{state="max"} 10'])
})

/** Ends every connection to a database and refuses new ones; resolves to a function that allows them again. */
async function closeDatabase(url: string): Promise<() => Promise<void>> {
  const other = new URL(url)
  const name = other.pathname.slice(1)
  other.pathname = '/template1'
  const admin = testPool(other.href, { max: 1 })
  await admin.unsafe(`alter database ${name} with allow_connections false`)
  await admin`select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = ${name}`
  return async () => {
    await admin.unsafe(`alter database ${name} with allow_connections true`)
    await admin.end()
  }
}
