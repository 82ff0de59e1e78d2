/** Rate limits per key (behaviour: conventions 9). */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Answered } from '../support/api.ts'
import { startWorld } from '../support/world.ts'

const few = { settings: { rate_limit_messages: 3, rate_limit_default: 2 } }
const limits = ({ status, headers }: Answered) => [
  status,
  headers['ratelimit-limit'],
  headers['ratelimit-remaining'],
  headers['ratelimit-reset'],
  headers['retry-after'],
]
const message = { channel: 'ch_test_whatsapp', to: '+15005550006', type: 'text', text: { body: 'Hello' } }

test('a request over the limit is refused until the window ends', async (t) => {
  const world = await startWorld(t, few)
  const { api } = await world.account()

  const first = await api.get('/v1/me')
  await world.clock.advance(900)
  const second = await api.get('/v1/me')
  const third = await api.get('/v1/me')
  await world.clock.advance(100)
  const fourth = await api.get('/v1/me')

  assert.deepEqual([first, second, third, fourth].map(limits), [
    [200, '2', '1', '1', undefined],
    [200, '2', '0', '1', undefined],
    [429, '2', '0', '1', '1'],
    [200, '2', '1', '1', undefined],
  ])
  assert.equal(third.body.error.code, 'rate_limit_exceeded')
  assert.equal(third.body.error.type, 'rate_limit_error')
  assert.match(third.body.error.message, /^The key exceeded its limit of 2 requests per second for this operation/)
})

test('keys, methods and operations have separate buckets; unknown paths share one', async (t) => {
  const world = await startWorld(t, few)
  const account = await world.account()
  const other = await world.services.accounts.createKey({ account_id: account.id, mode: 'test' })
  const { api } = account

  const answers = [
    await api.get('/v1/me'),
    await api.get('/v1/messages'),
    await api.get('/v1/messages/msg_x'),
    await api.get('/v1/messages/msg_y'),
    await api.get('/v1/messages/msg_z'),
    await api.post('/v1/messages', message),
    await api.post('/v1/messages/batch', { messages: [message] }),
    await world.api(other.key).get('/v1/me'),
    await api.get('/v1/one'),
    await api.send('PUT', '/v1/two'),
    await api.get('/v1/three'),
  ]

  assert.deepEqual(
    answers.map((answer) => [answer.status, answer.headers['ratelimit-limit'], answer.headers['ratelimit-remaining']]),
    [
      [200, '2', '1'],
      [200, '2', '1'],
      [404, '2', '1'],
      [404, '2', '0'],
      [429, '2', '0'],
      [202, '3', '2'],
      [207, '2', '1'],
      [200, '2', '1'],
      [404, '2', '1'],
      [404, '2', '0'],
      [429, '2', '0'],
    ],
  )
})

test('every response to a valid key shows its limits', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ scopes: ['messages:write', 'contacts:write'] })

  const answers = await Promise.all([
    api.get('/v1/messages'),
    api.post('/v1/messages', '{'),
    api.post('/v1/messages', {}),
    api.post('/v1/messages', { ...message, channel: 'ch_none' }),
    api.post('/v1/messages', { ...message, to: '+15005550012' }),
    api.post('/v1/channels', {}),
    api.get('/v1/nothing'),
  ])

  assert.deepEqual(
    answers.map((answer) => answer.status),
    [403, 400, 400, 404, 503, 403, 404],
  )
  for (const { headers } of answers)
    for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
      assert.match(headers[name]!, /^\d+$/)
})
