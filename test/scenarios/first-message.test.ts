import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWorld } from '../support/world.ts'

const text = (to = '+15005550006', more: object = {}) => ({
  channel: 'ch_test_whatsapp',
  to,
  type: 'text',
  text: { body: 'Hi' },
  ...more,
})

test('a message changes from queued to delivered, and each step is reported once', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const sent = await api.post('/v1/messages', text('+15005550006', { reference: 'order-1', metadata: { a: 1 } }))
  await world.settle()
  const message = await api.get(`/v1/messages/${sent.body.id}`)
  const history = await api.get(`/v1/messages/${sent.body.id}/events`)

  assert.equal(sent.status, 202)
  assert.equal(sent.body.status, 'queued')
  assert.equal(message.body.status, 'delivered')
  assert.deepEqual(
    history.body.data.map((item: { type: string }) => item.type),
    ['message.delivered', 'message.sent', 'message.sending', 'message.queued'],
  )
  await world.invariants()
})

test('each magic recipient has its outcome', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const outcomes: [string, string | number][] = [
    ['+15005550010', 'read'],
    ['+15005550005', 'sent'],
    ['+15005550001', 'failed'],
    ['+15005550002', 'failed'],
    ['+15005550008', 'read'],
    ['+15005550014', 'read'],
    ['+15005550003', 422],
    ['+15005550004', 422],
    ['+15005550009', 422],
    ['+15005550013', 422],
    ['+15005550011', 402],
    ['+15005550012', 503],
    ['+4915112345678', 'delivered'],
  ]

  for (const [to, outcome] of outcomes) {
    const sent = await api.post('/v1/messages', text(to))
    await world.settle()
    await world.clock.advance(100)
    await world.settle()
    if (typeof outcome === 'number') assert.equal(sent.status, outcome, to)
    else assert.equal((await api.get(`/v1/messages/${sent.body.id}`)).body.status, outcome, to)
  }
  const inbound = await api.get('/v1/messages?direction=inbound')
  assert.deepEqual(
    inbound.body.data.map((message: { content: object }) => message.content),
    [{ text: { body: 'Reply to: Hi' } }],
  )
  await world.invariants()
})

test('the same key returns the same message, and a different body is refused', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const headers = { 'idempotency-key': 'k1' }

  const first = await api.post('/v1/messages', text(), headers)
  await world.settle()
  const again = await api.post('/v1/messages', text(), headers)
  const other = await api.post('/v1/messages', text('+15005550010'), headers)
  const refused = await api.post('/v1/messages', text('+15005550004'), { 'idempotency-key': 'k2' })
  const refusedAgain = await api.post('/v1/messages', text('+15005550004'), { 'idempotency-key': 'k2' })

  assert.deepEqual(again.body, first.body)
  assert.equal(again.headers['idempotent-replayed'], 'true')
  assert.equal(other.body.error.code, 'idempotency_key_reused')
  assert.equal(refused.body.error.code, 'recipient_blocked')
  assert.equal(refusedAgain.headers['idempotent-replayed'], 'true')
  assert.equal((await api.get('/v1/messages')).body.data.length, 1)
})

test('a batch is answered item by item, and replayed as a whole', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const messages = [text(), text('nonsense'), text('+15005550011'), { ...text(), type: 'nothing' }, 'no object']

  const first = await api.post('/v1/messages/batch', { messages }, { 'idempotency-key': 'b1' })
  const again = await api.post('/v1/messages/batch', { messages }, { 'idempotency-key': 'b1' })

  assert.equal(first.status, 207)
  assert.deepEqual(
    first.body.data.map((item: { status: number }) => item.status),
    [202, 400, 402, 400, 400],
  )
  assert.equal(first.body.data[1].error.param, 'to')
  assert.deepEqual(
    [first.body.data[4].error.code, 'param' in first.body.data[4].error],
    ['parameter_invalid', false],
    'what is no object has no field to name',
  )
  assert.deepEqual(again.body.data[0], first.body.data[0])
  assert.equal(again.body.accepted, 1)
  assert.equal((await api.get('/v1/messages')).body.data.length, 1)
})
