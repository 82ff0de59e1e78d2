/** Requests repeated with their Idempotency-Key (behaviour: idempotency 2; conventions 3.3). */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Answered } from '../support/api.ts'
import { startWorld } from '../support/world.ts'

const codeOf = (answer: Answered) => [answer.status, answer.body.error?.code]

const creations = [
  ['/v1/messages', { channel: 'ch_test_whatsapp', to: '+15005550006', type: 'text', text: { body: 'Hello' } }],
  [
    '/v1/messages/batch',
    { messages: [{ channel: 'ch_test_whatsapp', to: '+15005550006', type: 'text', text: { body: 'Hello' } }] },
  ],
  ['/v1/test/inbound_messages', { channel: 'ch_test_whatsapp', from: '+4915112345678', text: { body: 'Hello' } }],
  ['/v1/contact_lists', { name: 'Customers' }],
] as const

test('a used key is refused for another body, even an invalid one', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  for (const [path, body] of creations) {
    const key = { 'idempotency-key': 'the same' }
    const first = await api.post(path, body, key)
    assert.ok(first.status < 300, path)

    for (const other of [
      {},
      { ...body, [Object.keys(body)[0]!]: 17 },
      '[]',
      '"text"',
      '{"a":"\\u0000"}',
      `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`,
    ]) {
      assert.deepEqual(
        codeOf(await api.post(path, other, key)),
        [409, 'idempotency_key_reused'],
        `${path} ${JSON.stringify(other)}`,
      )
    }
    assert.deepEqual(
      codeOf(await api.post(`${path}?misspelt=1`, body, key)),
      [409, 'idempotency_key_reused'],
      `${path} with a query that it does not take`,
    )
    assert.deepEqual(
      codeOf(await api.post(path, '{', key)),
      [400, 'invalid_json'],
      'what is no JSON is no request that a key could belong to',
    )
    const again = await api.post(path, body, key)
    assert.deepEqual([again.status, again.headers['idempotent-replayed']], [first.status, 'true'], path)
  }
})

test('an invalid body leaves a new key free', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  for (const [path, body] of creations) {
    const key = { 'idempotency-key': 'fresh' }
    assert.equal((await api.post(path, {}, key)).status, 400)
    assert.equal((await api.post(`${path}?misspelt=1`, body, key)).status, 400)
    assert.ok((await api.post(path, body, key)).status < 300, path)
  }
})
