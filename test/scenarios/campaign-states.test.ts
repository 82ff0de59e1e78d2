/** Statuses of a campaign and their events. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { campaignTo, eventsOf, launched, numbers, passFor, readCampaign } from '../support/campaigns.ts'
import { startWorld, type World } from '../support/world.ts'
import type { Api } from '../support/api.ts'

const noReceipts = { to: '+15005550005' }
const hour = 3600_000

async function withAccount(t: TestContext) {
  const world = await startWorld(t)
  return { world, ...(await world.account()) }
}

const inStatus: Record<string, (world: World, api: Api) => Promise<string>> = {
  draft: async (_, api) => (await api.post('/v1/campaigns', campaignTo(numbers(1)))).body.id,
  scheduled: async (world, api) =>
    (await launched(api, campaignTo(numbers(1), { schedule: { send_at: world.clock.iso(hour) } }))).id,
  queued: async (_, api) => (await launched(api, campaignTo(numbers(1)))).id,
  async sending(world, api) {
    const { id } = await launched(api, campaignTo(numbers(50), { throttle_per_second: 1 }))
    await passFor(world, 1000)
    return id
  },
  async paused(world, api) {
    const id = await inStatus['sending']!(world, api)
    await api.post(`/v1/campaigns/${id}/pause`)
    return id
  },
  async completed(world, api) {
    const { id } = await launched(api, campaignTo(numbers(1)))
    await passFor(world, 2000)
    return id
  },
  async cancelled(world, api) {
    const id = await inStatus['sending']!(world, api)
    await api.post(`/v1/campaigns/${id}/cancel`)
    return id
  },
  async failed(world, api) {
    const { id: list } = (await api.post('/v1/contact_lists', { name: 'Customers' })).body
    const { id } = await launched(api, campaignTo([], { audience: { type: 'list', list_id: list } }))
    await api.delete(`/v1/contact_lists/${list}`)
    await passFor(world, 300)
    return id
  },
}

const afterwards: Record<string, Record<string, string>> = {
  launch: { draft: 'queued' },
  pause: { scheduled: 'paused', queued: 'paused', sending: 'paused' },
  resume: { paused: 'sending' },
  cancel: {
    draft: 'cancelled',
    scheduled: 'cancelled',
    queued: 'cancelled',
    sending: 'cancelled',
    paused: 'cancelled',
  },
}

test('each action is allowed in some statuses, and 409 in every other', async (t) => {
  const { world, api } = await withAccount(t)
  for (const [status, make] of Object.entries(inStatus)) {
    for (const [action, results] of Object.entries(afterwards)) {
      const id = await make(world, api)
      assert.equal((await readCampaign(api, id)).status, status)

      const answer = await api.post(
        `/v1/campaigns/${id}/${action}`,
        action === 'launch' ? { consent_declared: true } : undefined,
      )

      const expected = results[status] === undefined ? [409, 'campaign_state_invalid'] : [200, results[status]]
      assert.deepEqual(
        [answer.status, answer.body.error?.code ?? answer.body.status],
        expected,
        `${action} of one that is ${status}`,
      )
      assert.equal((await readCampaign(api, id)).status, results[status] ?? status)
    }
  }
})

test('times and reasons are set when a status is reached, and cleared when the campaign continues', async (t) => {
  const { world, api } = await withAccount(t)
  const [at0, at1, at2, at3, at4] = [0, 1000, 2000, 3000, 4000].map((ms) => world.clock.iso(ms))
  const { id } = await launched(api, campaignTo(numbers(8), { throttle_per_second: 1 }))
  const shown = async () => {
    const { status, pause_reason, failure_reason, launched_at, started_at, paused_at, completed_at, cancelled_at } =
      await readCampaign(api, id)
    return [status, pause_reason, failure_reason, launched_at, started_at, paused_at, completed_at, cancelled_at]
  }

  assert.deepEqual(await shown(), ['queued', null, null, at0, null, null, null, null])
  await world.clock.advance(1000)
  await world.settle('campaign-snapshots')
  assert.deepEqual(await shown(), ['sending', null, null, at0, at1, null, null, null])
  await passFor(world, 1000)
  await api.post(`/v1/campaigns/${id}/pause`)
  assert.deepEqual(await shown(), ['paused', 'user', null, at0, at1, at2, null, null])
  await passFor(world, 1000)
  await api.post(`/v1/campaigns/${id}/resume`)
  assert.deepEqual(await shown(), ['sending', null, null, at0, at1, null, null, null])
  await api.post(`/v1/campaigns/${id}/pause`)
  assert.deepEqual((await shown())[5], at3)
  await passFor(world, 1000)
  await api.post(`/v1/campaigns/${id}/cancel`)
  assert.deepEqual(await shown(), ['cancelled', null, null, at0, at1, at3, null, at4])
})

test('each change is one event, with the campaign of that moment and without its recipients', async (t) => {
  const { world, api } = await withAccount(t)
  const { id } = await launched(api, campaignTo(numbers(6), { throttle_per_second: 2 }))
  await passFor(world, 1000)
  await api.post(`/v1/campaigns/${id}/pause`)
  await passFor(world, 1000)
  await api.post(`/v1/campaigns/${id}/resume`)
  await passFor(world, 6000)

  const events = await eventsOf(world, api, id)

  assert.deepEqual(
    events.map(({ type, data }: { type: string; data: { object: { status: string } } }) => [type, data.object.status]),
    [
      ['campaign.started', 'sending'],
      ['campaign.paused', 'paused'],
      ['campaign.started', 'sending'],
      ['campaign.completed', 'completed'],
    ],
  )
  const [started, , , completed] = events.map(({ data }: { data: { object: unknown } }) => data.object)
  assert.deepEqual([started.counters.total, started.counters.queued], [6, 6])
  assert.deepEqual(started.audience, { type: 'adhoc', recipients_count: 6, save_as_contacts: false })
  const now = await readCampaign(api, id)
  assert.deepEqual({ ...completed, counters: null }, { ...now, audience: completed.audience, counters: null })
  assert.deepEqual([completed.counters.total, completed.counters.sent, completed.counters.queued], [6, 6, 0])
})

test('filters of a webhook endpoint select campaigns by id, channel and channel type', async (t) => {
  const { world, api } = await withAccount(t)
  const [one, other] = [
    (await api.post('/v1/campaigns', campaignTo(numbers(1)))).body.id,
    (await api.post('/v1/campaigns', campaignTo(numbers(1), { channel: 'ch_test_whatsapp' }))).body.id,
  ]
  const filters = [
    { campaigns: [one] },
    { channels: ['ch_test_whatsapp'] },
    { channel_types: ['sms'] },
    { campaigns: [one], channels: ['ch_test_whatsapp'] },
  ]
  const receivers = []
  for (const filter of filters) {
    const receiver = world.receiver()
    receivers.push(receiver)
    const made = await api.post('/v1/webhook_endpoints', {
      url: receiver.url,
      events: ['campaign.started', 'campaign.completed'],
      filters: filter,
    })
    assert.equal(made.status, 201)
  }

  for (const id of [one, other]) await api.post(`/v1/campaigns/${id}/launch`, { consent_declared: true })
  await passFor(world, 2000)
  await world.settle('fan-out', 'deliver')

  const reported = receivers.map(({ received }) =>
    received.map(({ json }) => `${json.data.object.id === one ? 'one' : 'other'} ${json.type}`).toSorted(),
  )
  const [ofOne, ofOther] = ['one', 'other'].map((name) => [`${name} campaign.completed`, `${name} campaign.started`])
  assert.deepEqual(reported, [ofOne, ofOther, ofOne, []])
})

test('a scheduled campaign takes its snapshot at send_at, not before', async (t) => {
  const { world, api } = await withAccount(t)
  const send_at = world.clock.iso(3000)
  const { id, status } = await launched(api, campaignTo(numbers(2), { schedule: { send_at } }))
  const { id: past } = await launched(api, campaignTo(numbers(2), { schedule: { send_at: world.clock.iso(-hour) } }))
  await passFor(world, 2900)
  const before = await readCampaign(api, id)

  await passFor(world, 3000)

  assert.deepEqual(
    [status, before.status, before.counters.total, before.started_at],
    ['scheduled', 'scheduled', 0, null],
  )
  const ended = await readCampaign(api, id)
  assert.deepEqual([ended.status, ended.started_at, ended.counters.sent], ['completed', send_at, 2])
  assert.equal(
    (await readCampaign(api, past)).started_at,
    world.clock.iso(-5900),
    'one whose time has passed starts at once',
  )
})

test('a campaign paused and resumed before its send_at sends nothing before that time', async (t) => {
  const { world, api } = await withAccount(t)
  const launch = async () =>
    (await launched(api, campaignTo(numbers(2), { schedule: { send_at: world.clock.iso(3000) } }))).id
  const [resumed, late, cancelled] = [await launch(), await launch(), await launch()]
  for (const id of [resumed, late]) await api.post(`/v1/campaigns/${id}/pause`)
  await api.post(`/v1/campaigns/${cancelled}/cancel`)

  const { body } = await api.post(`/v1/campaigns/${resumed}/resume`)
  await passFor(world, 2900)
  const before = await readCampaign(api, resumed)
  await passFor(world, 3000)
  const stillPaused = await readCampaign(api, late)
  await api.post(`/v1/campaigns/${late}/resume`)
  await passFor(world, 2000)

  assert.deepEqual([body.status, body.paused_at, body.started_at], ['sending', null, null])
  assert.deepEqual([before.status, before.counters.sent], ['sending', 0])
  assert.deepEqual([stillPaused.status, stillPaused.counters.total], ['paused', 0])
  for (const id of [resumed, late]) {
    const { status, counters } = await readCampaign(api, id)
    assert.deepEqual([status, counters.sent], ['completed', 2])
    const events = (await eventsOf(world, api, id)).map(({ type }: { type: string }) => type)
    assert.deepEqual(events, ['campaign.paused', 'campaign.started', 'campaign.completed'])
  }
  assert.deepEqual(await eventsOf(world, api, cancelled), [])
})

test('a campaign without recipients completes with empty counters', async (t) => {
  const { world, api } = await withAccount(t)
  const { id: list } = (await api.post('/v1/contact_lists', { name: 'Nobody yet' })).body
  const { id } = await launched(api, campaignTo([], { audience: { type: 'list', list_id: list } }))
  await passFor(world, 1000)

  const { status, counters } = await readCampaign(api, id)

  assert.deepEqual([status, counters.total, counters.skip_reasons], ['completed', 0, {}])
  const types = (await eventsOf(world, api, id)).map(({ type }: { type: string }) => type)
  assert.deepEqual(types, ['campaign.started', 'campaign.completed'])
})

test('cancelling skips recipients without a message, and lets sent messages continue', async (t) => {
  const { world, api } = await withAccount(t)
  const { id } = await launched(api, campaignTo([noReceipts, ...numbers(9)], { throttle_per_second: 2 }))
  await passFor(world, 1000)
  await world.tick('campaigns')

  const { body } = await api.post(`/v1/campaigns/${id}/cancel`)
  await passFor(world, 3000)

  const { counters } = await readCampaign(api, id)
  assert.deepEqual([body.status, body.counters.cancelled > 0, counters.total], ['cancelled', true, 10])
  assert.deepEqual(
    [counters.queued, counters.sent + counters.cancelled, counters.cancelled],
    [0, 10, body.counters.cancelled],
  )
  assert.equal((await api.get('/v1/messages?limit=100')).body.data.length, counters.sent)
})
