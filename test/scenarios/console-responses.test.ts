/** Replies to campaigns, and opt-outs (behaviour: console 7.7). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { ownerPassword, signedInOwner } from '../support/console-api.ts'
import { startWorld } from '../support/world.ts'

const dayMs = 86_400_000

test('recipients who write within seven days count once as replies, those who stop as opt-outs', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const owner = await signedInOwner(world)
  const writes = async (from: string, body: string) =>
    assert.equal(
      (
        await account.api.post('/v1/test/inbound_messages', {
          channel: 'ch_test_sms',
          from,
          type: 'text',
          text: { body },
        })
      ).status,
      201,
    )
  const pass = async (ms: number) => {
    await world.clock.advance(ms)
    await world.settle()
  }
  await writes('+15005550021', 'Before it began')
  await pass(2_000)
  const recipients = ['+15005550021', '+15005550022', '+15005550023', '+15005550024'].map((to) => ({ to }))
  const campaign = (
    await account.api.post('/v1/campaigns', {
      name: 'Sale',
      channel: 'ch_test_sms',
      audience: { type: 'adhoc', recipients },
      message: { type: 'text', text: { body: 'The sale begins.' } },
      consent_declared: true,
    })
  ).body
  const counted = async () => {
    const { status, body } = await owner.send('GET', `/campaigns/${campaign.id}/responses`)
    assert.equal(status, 200, JSON.stringify(body))
    return [body.replies, body.opt_outs, body.complete]
  }
  assert.deepEqual(await counted(), [0, 0, true], 'a draft')
  assert.equal((await account.api.post(`/v1/campaigns/${campaign.id}/launch`)).status, 200)
  for (let n = 0; n < 3; n++) await pass(1_000)

  await writes('+15005550022', 'Which size?')
  await writes('+15005550022', 'And which colour?')
  await writes('+15005550023', 'STOP')
  await writes('+15005550099', 'I am no recipient')
  await pass(1_000)
  assert.deepEqual(await counted(), [2, 1, true])
  await pass(8 * dayMs)
  await writes('+15005550024', 'Good morning')
  await pass(1_000)
  const back = await owner.send('POST', '/session', { email: 'owner@example.com', password: ownerPassword })
  assert.equal(back.status, 201, 'the session was idle for too long')
  assert.deepEqual(await counted(), [2, 1, true], 'what comes later answers something else')
  assert.equal((await owner.send('GET', '/campaigns/cmp_nope/responses')).body.error.code, 'resource_missing')
})
