/** A campaign from launch to end. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { passFor } from '../support/campaigns.ts'
import { startWorld } from '../support/world.ts'

const spring = {
  name: 'Spring sale',
  channel: 'ch_test_sms',
  audience: {
    type: 'adhoc',
    recipients: [
      { to: '+4915112345678', first_name: 'Ada', variables: { code: 'A1' } },
      { to: '+4915112345679' },
      { to: '+4915112345678' },
      { to: 'nobody' },
    ],
  },
  message: { type: 'text', text: { body: 'Hello {{first_name}}, your code is {{code}}.' } },
  merge_fallbacks: { first_name: 'friend', code: 'none' },
}

test('each recipient gets the message once, rendered, and the campaign completes', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const { id } = (await api.post('/v1/campaigns', spring)).body

  const refused = await api.post(`/v1/campaigns/${id}/launch`, {})
  const launched = await api.post(`/v1/campaigns/${id}/launch`, { consent_declared: true })
  await passFor(world, 10_000)

  assert.equal(refused.body.error.code, 'consent_required')
  assert.deepEqual([launched.status, launched.body.status], [200, 'queued'])
  const ended = (await api.get(`/v1/campaigns/${id}`)).body
  assert.equal(ended.status, 'completed')
  const { delivered: _, read: __, ...counters } = ended.counters
  assert.deepEqual(counters, {
    total: 4,
    queued: 0,
    sent: 2,
    failed: 0,
    skipped: 2,
    cancelled: 0,
    skip_reasons: { duplicate: 1, invalid_identifier: 1 },
  })
  const recipients = (await api.get(`/v1/campaigns/${id}/recipients`)).body.data
  assert.deepEqual(
    recipients.map((each: { id: string; to: string; skip_reason: string | null }) => [
      each.id,
      each.to,
      each.skip_reason,
    ]),
    [
      ['1', '+4915112345678', null],
      ['2', '+4915112345679', null],
      ['3', '+4915112345678', 'duplicate'],
      ['4', 'nobody', 'invalid_identifier'],
    ],
  )
  const texts = []
  for (const { message_id } of recipients.slice(0, 2))
    texts.push((await api.get(`/v1/messages/${message_id}`)).body.content.text?.body)
  assert.deepEqual(texts, ['Hello Ada, your code is A1.', 'Hello friend, your code is none.'])
})

test('an action that the status of a campaign does not allow is refused', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const { id } = (await api.post('/v1/campaigns', { ...spring, launch: true, consent_declared: true })).body
  await passFor(world, 5000)

  const answers = []
  for (const action of ['launch', 'pause', 'resume', 'cancel'])
    answers.push(await api.post(`/v1/campaigns/${id}/${action}`))
  answers.push(await api.patch(`/v1/campaigns/${id}`, { name: 'Another' }), await api.delete(`/v1/campaigns/${id}`))

  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.error?.code]),
    answers.map(() => [409, 'campaign_state_invalid']),
  )
})

test('a launch with too large an audience is refused, and a campaign created in the same request is not stored', async (t) => {
  const world = await startWorld(t, { settings: { campaign_recipient_limit: 3 } })
  const { api } = await world.account()

  const refused = await api.post('/v1/campaigns', { ...spring, launch: true, consent_declared: true })

  assert.deepEqual([refused.status, refused.body.error.code], [400, 'campaign_limit_exceeded'])
  assert.deepEqual((await api.get('/v1/campaigns')).body.data, [])
})
