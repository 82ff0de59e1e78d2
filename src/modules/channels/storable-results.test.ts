import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storable } from '../../lib/json.ts'
import type { Outcome, DeliveryReceipt, CallbackItem } from '../../providers/provider.ts'
import { storableId, storableOutcome, storableItem, storableText } from './storable-results.ts'

const odd = ['a\0b', 'a\ud800b', 'a\udc00b', 'x'.repeat(9300)]

test('a storable ID is unchanged; any other becomes the same short one each time', () => {
  for (const id of ['wamid.HBgLM', '😀', 'x'.repeat(255), '0']) assert.equal(storableId(id), id)

  const ids = odd.map(storableId)

  assert.deepEqual(ids, odd.map(storableId))
  assert.equal(new Set(ids).size, odd.length)
  for (const id of ids) assert.match(id, /^sha256:[0-9a-f]{64}$/)
  assert.deepEqual(ids.map(storableId), ids)
})

test('a text is cut at its maximum length, between characters', () => {
  assert.equal(storableText('As it is.', 1000), 'As it is.')
  assert.equal(storableText('a\0b\ud800c', 1000), 'a\uFFFDb\uFFFDc')
  const cut = storableText('😀'.repeat(600), 1000)
  assert.ok(cut.length <= 1000 && cut.isWellFormed() && cut.endsWith('…'), cut)
})

test('every outcome is storable, and its delivery receipt finds the message', () => {
  for (const one of odd) {
    const said = { message: one, provider_code: one }
    const receipt: DeliveryReceipt = {
      kind: 'delivery_receipt',
      provider_id: one,
      also_known_as: [one],
      transition: 'fail',
      error: { code: 'provider_error', ...said },
    }
    const outcomes: Outcome[] = [
      { kind: 'accepted', provider_ids: [one, one], later_items: [{ after_ms: 0, item: receipt }] },
      { kind: 'refused', code: 'provider_error', ...said, provider_ids: [one] },
      { kind: 'throttled', limit_on: 'channel', ...said, if_lasting: { code: 'policy_violation', ...said } },
      { kind: 'unavailable', ...said },
      { kind: 'unknown', message: one },
    ]
    for (const outcome of outcomes.map(storableOutcome)) {
      assert.deepEqual(outcome, storable(outcome, 20))
      assert.ok(JSON.stringify(outcome).length < 4000, outcome.kind)
    }
    const [accepted] = outcomes.map(storableOutcome)
    const told = storableItem(receipt)
    assert.ok(accepted?.kind === 'accepted')
    assert.deepEqual([told.provider_id, told.also_known_as], [accepted.provider_ids[0], [accepted.provider_ids[0]]])
  }
})

test('a reply refers to our message by the ID of its send attempt', () => {
  const reply: CallbackItem = {
    kind: 'inbound',
    provider_id: odd[0]!,
    from: '+1',
    profile_name: null,
    type: 'text',
    content: { body: 'Yes' },
    reply_to: odd[3]!,
  }

  assert.deepEqual(storableItem(reply), { ...reply, provider_id: storableId(odd[0]!), reply_to: storableId(odd[3]!) })
})
