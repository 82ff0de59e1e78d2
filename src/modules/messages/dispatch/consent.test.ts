/** Consent of waiting messages. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { startWorld } from '../../../../test/support/world.ts'

test('a message in memory is not sent after its recipient was blocked, even if the clock was set back', async (t) => {
  for (const jump of [0, -3600_000]) {
    const world = await startWorld(t)
    const { api } = await world.account()
    const { id: contact } = (await api.post('/v1/contacts', { phone: '+4915112345678' })).body
    const message = { channel: 'ch_test_sms', to: '+4915112345678', type: 'text', text: { body: 'Hi' } }
    const { id } = (await api.post('/v1/messages', message)).body
    assert.equal((await api.patch(`/v1/contacts/${contact}`, { blocked: true })).status, 200)

    // longer than messages of the account are rechecked after a change
    await world.clock.advance(6000)
    world.clock.jump(jump)
    await world.settle()

    const { status, error } = (await api.get(`/v1/messages/${id}`)).body
    assert.deepEqual([status, error?.code], ['failed', 'recipient_blocked'], String(jump))
  }
})
