/** The log has a line per refusal, none for success, and no secrets (behaviour: operating 2.2). */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { until, within } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'

interface Line {
  readonly request_id: string
  readonly [field: string]: unknown
}

function logged(t: TestContext, world: World): Line[] {
  const lines: Line[] = []
  t.mock.method(world.app.platform.log, 'info', (line: Line) => void lines.push(line))
  return lines
}

test('every refused request has one log line, and successful ones have none', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_messages: 1 } })
  const account = await world.account({ scopes: ['messages:write'] })
  const lines = logged(t, world)
  const send = (to: string) =>
    account.api.post('/v1/messages', { channel: 'ch_test_sms', to, type: 'text', text: { body: 'a secret' } })

  const taken = await send('+15005550006')
  const answers = [
    await send('+15005550006'),
    await account.api.get('/v1/messages/msg_01m7z10y8texgrjk0p9bvk2cq6?secret=1', {
      'x-request-id': 'theirs'.repeat(100),
    }),
    await account.api.post('/v1/messages/batch', '{"a secret":'),
    await world.api('svc_test_secret').get('/v1/me'),
    await account.api.get('/v1/a/secret/path'),
    await world.api().get('/a/secret/path'),
  ]
  await until(
    'all to be logged',
    () => lines.length,
    (count) => count >= answers.length,
  )

  assert.equal(taken.status, 202)
  const mine = { account_id: account.id, key_id: account.key_id }
  const nobody = { account_id: undefined, key_id: undefined }
  assert.deepEqual(
    lines.map(({ account_id, key_id, method, route, status, code }) => ({
      account_id,
      key_id,
      method,
      route,
      status,
      code,
    })),
    [
      { ...mine, method: 'POST', route: '/v1/messages', status: 429, code: 'rate_limit_exceeded' },
      { ...mine, method: 'GET', route: '/v1/messages/{id}', status: 403, code: 'scope_missing' },
      { ...mine, method: 'POST', route: '/v1/messages/batch', status: 400, code: 'invalid_json' },
      { ...nobody, method: 'GET', route: '/v1/me', status: 401, code: 'api_key_invalid' },
      { ...mine, method: 'GET', route: 'other', status: 404, code: 'resource_missing' },
      { ...nobody, method: 'GET', route: 'other', status: 404, code: 'resource_missing' },
    ],
  )
  assert.deepEqual(
    lines.map((line) => line.request_id),
    answers.map(({ body }) => body.error.request_id),
  )
  assert.ok(lines.every(({ duration_ms }) => Number.isInteger(duration_ms)))
  assert.equal(lines[1]!['client_request_id'], 'theirs'.repeat(100).slice(0, 128))
  const fields = [
    'request_id',
    'trace_id',
    'client_request_id',
    'account_id',
    'key_id',
    'method',
    'route',
    'status',
    'code',
    'duration_ms',
  ]
  for (const line of lines) assert.deepEqual(Object.keys(line), fields)
  assert.doesNotMatch(JSON.stringify(lines), /secret/)
})

test('malformed HTTP is logged with its request id', async (t) => {
  const world = await startWorld(t)
  const lines = logged(t, world)
  const socket = connect(Number(new URL(world.base_url).port), '127.0.0.1')
  socket.write('no such thing\r\n\r\n')
  const answer = await within('the answer', text(socket))

  const { request_id, ...line } = lines[0]!
  assert.match(answer, new RegExp(`X-Request-Id: ${request_id}`))
  assert.deepEqual(line, { route: 'other', status: 400, code: 'parameter_invalid' })
})
