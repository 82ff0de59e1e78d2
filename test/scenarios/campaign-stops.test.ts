/** Events that pause or fail a sending campaign. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import {
  campaignTo,
  eventsOf,
  launched,
  liveSms,
  numbers,
  outcomesOf,
  passFor,
  readCampaign,
} from '../support/campaigns.ts'
import { approvedTemplate, whatsappWorld } from '../support/whatsapp-world.ts'
import { startWorld, type World } from '../support/world.ts'

const typesOf = async (world: World, api: Parameters<typeof eventsOf>[1], id: string) =>
  (await eventsOf(world, api, id)).map(({ type }: { type: string }) => type)

async function messagesOf(api: Parameters<typeof eventsOf>[1]): Promise<string[]> {
  return (await api.get('/v1/messages?limit=100')).body.data.map(({ to }: { to: string }) => to).toSorted()
}

test('a campaign without funds pauses once, and continues after resume without writing to anybody twice', async (t) => {
  const { world, api, account, channel } = await liveSms(t, { credit_micros: 1 })
  const recipients = numbers(12)
  const body = campaignTo(recipients, { channel, throttle_per_second: 10 })
  const price = (await api.post('/v1/campaigns', body)).body.cost.estimated_wallet_micros / recipients.length
  await world.services.billing.creditWallet(world.pool, account.id, 3 * price, null)
  const refused = await api.post('/v1/campaigns', { ...body, launch: true, consent_declared: true })
  const { id } = await launched(api, { ...body, allow_insufficient_funds: true })
  await passFor(world, 3000)

  const paused = await readCampaign(api, id)
  const unfunded = await api.post(`/v1/campaigns/${id}/resume`)
  await passFor(world, 1000)
  const stopped = await typesOf(world, api, id)
  await world.services.billing.creditWallet(world.pool, account.id, 100 * price, null)
  await passFor(world, 1000)
  const afterTopUp = await readCampaign(api, id)
  const resumed = await api.post(`/v1/campaigns/${id}/resume`)
  await passFor(world, 4000)

  assert.deepEqual([refused.status, refused.body.error.code], [402, 'insufficient_balance'])
  assert.deepEqual(
    [paused.status, paused.pause_reason, paused.counters.sent, paused.counters.queued],
    ['paused', 'insufficient_balance', 3, 9],
  )
  assert.deepEqual([unfunded.status, unfunded.body.error.code], [402, 'insufficient_balance'])
  assert.deepEqual(stopped, ['campaign.started', 'campaign.paused'])
  assert.equal(afterTopUp.status, 'paused', 'a top-up resumes nothing by itself')
  assert.deepEqual([resumed.body.status, resumed.body.pause_reason, resumed.body.paused_at], ['sending', null, null])
  const ended = await readCampaign(api, id)
  assert.deepEqual([ended.status, ended.counters.sent, ended.cost.wallet_micros], ['completed', 12, 12 * price])
  assert.deepEqual(await messagesOf(api), recipients.map(({ to }) => to).toSorted())
})

test('a campaign pauses when its channel is lost or disabled, and continues after resume', async (t) => {
  const { world, api, channel } = await liveSms(t)
  const { id } = await launched(api, campaignTo(numbers(30), { channel, throttle_per_second: 5 }))
  await passFor(world, 1000)
  await api.patch(`/v1/channels/${channel}`, { status: 'disabled' })
  await passFor(world, 1000)
  const disabled = await readCampaign(api, id)
  await api.patch(`/v1/channels/${channel}`, { status: 'active' })
  await api.post(`/v1/campaigns/${id}/resume`)
  await passFor(world, 1000)
  await api.patch(`/v1/channels/${channel}`, { settings: { offline: true } })
  await passFor(world, 2000)
  const lost = await readCampaign(api, id)
  await api.patch(`/v1/channels/${channel}`, { settings: {} })
  await api.post(`/v1/channels/${channel}/reconnect`)

  const { status } = await api.post(`/v1/campaigns/${id}/resume`)
  await passFor(world, 7000)

  assert.deepEqual([disabled.status, disabled.pause_reason], ['paused', 'channel_disconnected'])
  assert.deepEqual([lost.status, lost.pause_reason], ['paused', 'channel_disconnected'])
  const { counters, ...ended } = await readCampaign(api, id)
  assert.deepEqual([status, ended.status, counters.queued, counters.total], [200, 'completed', 0, 30])
  assert.deepEqual(await typesOf(world, api, id), [
    'campaign.started',
    'campaign.paused',
    'campaign.started',
    'campaign.paused',
    'campaign.started',
    'campaign.completed',
  ])
})

test('a campaign fails when its channel is suspended or deleted, and recipients without a message are cancelled', async (t) => {
  const { world, api, account, channel } = await liveSms(t)
  const connect = async (identifier: string) =>
    (
      await api.post('/v1/channels', {
        type: 'sms',
        provider: 'simulator',
        name: 'Sender',
        identifier,
        credentials: {},
      })
    ).body.id as string
  const other = await connect('+4915100000001')
  const launch = async (more: object) =>
    (await launched(api, campaignTo(numbers(30), { throttle_per_second: 1, ...more }))).id as string
  const later = { send_at: world.clock.iso(3600_000) }
  const ofOther = [await launch({ channel: other }), await launch({ channel: other, schedule: later })]
  const suspended = await launch({ channel })
  await passFor(world, 1000)
  await api.post(`/v1/campaigns/${await launch({ channel: other })}/pause`)

  const { status } = await api.delete(`/v1/channels/${other}`)
  await world.pool`update channels set status = 'suspended' where id = ${channel} and account_id = ${account.id} and mode = 'live'`
  world.services.channels.forget()
  await passFor(world, 1500)

  assert.ok(status < 300)
  for (const id of ofOther) {
    const campaign = await readCampaign(api, id)
    assert.deepEqual(
      [campaign.status, campaign.failure_reason, campaign.counters.queued],
      ['failed', 'channel_deleted', 0],
    )
    assert.equal((await typesOf(world, api, id)).filter((type: string) => type === 'campaign.failed').length, 1)
  }
  const failed = await readCampaign(api, suspended)
  assert.deepEqual([failed.status, failed.failure_reason, failed.pause_reason], ['failed', 'channel_suspended', null])
  assert.equal(failed.counters.sent + failed.counters.cancelled, 30)
})

test('suspending an account fails all its campaigns in both modes', async (t) => {
  const { world, api, account, channel } = await liveSms(t)
  const { id } = await launched(api, campaignTo(numbers(30), { channel, throttle_per_second: 1 }))
  await passFor(world, 1000)
  const { id: paused } = await launched(api, campaignTo(numbers(3), { channel }))
  await api.post(`/v1/campaigns/${paused}/pause`)

  await world.services.accounts.suspend(account.id)
  await passFor(world, 1000)
  const refused = await api.get(`/v1/campaigns/${id}`)
  await world.services.accounts.reinstate(account.id)
  await passFor(world, 1000)

  assert.equal(refused.status, 403)
  for (const one of [id, paused]) {
    const campaign = await readCampaign(api, one)
    assert.deepEqual([campaign.status, campaign.failure_reason], ['failed', 'account_suspended'])
    assert.equal((await typesOf(world, api, one)).at(-1), 'campaign.failed')
  }
})

test('a campaign whose list or segment is gone at the snapshot fails and sends nothing', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const { id: list } = (await api.post('/v1/contact_lists', { name: 'Customers' })).body
  const { id: segment } = (
    await api.post('/v1/segments', {
      name: 'All',
      rules: { match: 'all', conditions: [{ field: 'tags', operator: 'contains', value: 'vip' }] },
    })
  ).body
  const ids = []
  for (const audience of [
    { type: 'list', list_id: list },
    { type: 'segment', segment_id: segment },
  ])
    ids.push((await launched(api, campaignTo([], { audience }))).id)

  await api.delete(`/v1/contact_lists/${list}`)
  await api.delete(`/v1/segments/${segment}`)
  await passFor(world, 1000)

  for (const id of ids) {
    const { status, failure_reason, counters } = await readCampaign(api, id)
    assert.deepEqual([status, failure_reason, counters.total], ['failed', 'audience_missing', 0])
    assert.deepEqual(await typesOf(world, api, id), ['campaign.failed'])
  }
})

test('each magic recipient has its outcome, and does not affect others', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const outcomes = {
    '+15005550006': 'delivered',
    '+15005550012': 'pending',
    '+15005550010': 'read',
    '+15005550005': 'sent',
    '+15005550001': 'failed provider_error',
    '+15005550002': 'failed provider_error',
    '+15005550007': 'delivered',
    '+15005550008': 'read',
    '+15005550014': 'read',
    '+15005550003': 'failed policy_violation',
    '+15005550004': 'skipped unsubscribed',
    '+15005550009': 'failed upstream_rejected',
    '+15005550013': 'failed channel_not_connected',
    '+15005550099': 'delivered',
  }
  const recipients = Object.keys(outcomes).map((to) => ({ to }))
  const { id } = await launched(api, campaignTo(recipients, { throttle_per_second: 1 }))

  await passFor(world, 25_000)

  assert.deepEqual(await outcomesOf(api, id), Object.values(outcomes))
  const campaign = await readCampaign(api, id)
  assert.deepEqual(
    [campaign.status, campaign.counters.queued],
    ['sending', 1],
    'the one whom the provider never takes is tried again',
  )
  const rows = (await api.get(`/v1/campaigns/${id}/recipients?limit=100`)).body.data
  const [rejected, undeliverable] = [rows[4], rows[5]]
  assert.equal(rejected.error.provider_code, 'sandbox_rejected')
  assert.deepEqual([rejected.sent_at, typeof rejected.failed_at], [null, 'string'])
  assert.deepEqual(
    [undeliverable.error.provider_code, typeof undeliverable.sent_at],
    ['sandbox_undeliverable', 'string'],
  )
  const [read, refused] = [rows[2], rows[9]]
  assert.ok(read.sent_at <= read.delivered_at && read.delivered_at <= read.read_at && read.failed_at === null)
  assert.deepEqual([refused.message_id, refused.sent_at, typeof refused.failed_at], [null, null, 'string'])
  assert.equal(campaign.cost.wallet_micros, 0)
})

test('the magic recipient without funds pauses the campaign after all others, also after resume', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const unfunded = { to: '+15005550011' }
  for (const recipients of [
    [unfunded, ...numbers(4)],
    [...numbers(2), unfunded, ...numbers(2, 5)],
  ]) {
    const { id } = await launched(api, campaignTo(recipients, { throttle_per_second: 2 }))
    await passFor(world, 4000)
    const paused = await readCampaign(api, id)
    await api.post(`/v1/campaigns/${id}/resume`)
    await passFor(world, 2000)
    const again = await readCampaign(api, id)

    for (const { status, pause_reason, counters } of [paused, again])
      assert.deepEqual(
        [status, pause_reason, counters.sent, counters.queued, counters.failed],
        ['paused', 'insufficient_balance', 4, 1, 0],
      )
    assert.deepEqual(await typesOf(world, api, id), [
      'campaign.started',
      'campaign.paused',
      'campaign.started',
      'campaign.paused',
    ])
  }
})

test('contacts who opt out, are deleted or withdraw consent during sending are skipped', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const people = numbers(6)
  const contacts: string[] = []
  for (const { to } of people)
    contacts.push(
      (
        await api.post('/v1/contacts', {
          phone: to,
          consent: { sms: { status: 'opted_in', source: 'form' } },
          tags: ['vip'],
        })
      ).body.id,
    )
  const audience = { type: 'tags', tags: ['vip'] }
  const { id } = await launched(api, campaignTo([], { audience, require_opt_in: true, throttle_per_second: 1 }))
  await passFor(world, 300)
  const order = (await api.get(`/v1/campaigns/${id}/recipients`)).body.data

  const [, , , stopped, deleted, unknown] = order
  await api.post('/v1/test/inbound_messages', { channel: 'ch_test_sms', from: stopped.to, text: { body: 'STOP' } })
  await api.delete(`/v1/contacts/${deleted.contact_id}`)
  const withdrawn = await api.patch(`/v1/contacts/${unknown.contact_id}`, { consent: { sms: { status: 'unknown' } } })
  const atOnce = await outcomesOf(api, id)
  await passFor(world, 8000)

  assert.equal(withdrawn.status, 200, JSON.stringify(withdrawn.body))
  assert.deepEqual(
    atOnce.slice(3, 5),
    ['skipped unsubscribed', 'skipped contact_deleted'],
    'in the transaction of the domain event',
  )
  assert.deepEqual((await outcomesOf(api, id)).slice(3), [
    'skipped unsubscribed',
    'skipped contact_deleted',
    'skipped not_opted_in',
  ])
  const { status, counters } = await readCampaign(api, id)
  assert.deepEqual([status, counters.sent, counters.skipped], ['completed', 3, 3])
  assert.equal(contacts.length, 6)
})

test('a paused template pauses the campaign, a rejected or missing one fails it, and no recipient fails for that', async (t) => {
  const { world, api, graph, channel, body } = await templateWorld(t)
  const { id } = await launched(api, { ...body, throttle_per_second: 1 })
  await passFor(world, 1000)

  const change = async (status: string) => {
    Object.assign(graph.templates[0]!, { status })
    await world.pool`update channels set templates_refresh_at = ${world.clock.iso()} where id = ${channel}`
    await world.settle('templates')
    world.services.channels.forget()
    await passFor(world, 1500)
    return await readCampaign(api, id)
  }
  const paused = await change('PAUSED')
  await change('APPROVED')
  await api.post(`/v1/campaigns/${id}/resume`)
  const going = await change('APPROVED')
  const rejected = await change('REJECTED')

  assert.deepEqual([paused.status, paused.pause_reason, paused.counters.failed], ['paused', 'template_paused', 0])
  assert.equal(going.status, 'sending')
  assert.deepEqual(
    [rejected.status, rejected.failure_reason, rejected.counters.failed],
    ['failed', 'template_not_approved', 0],
  )
})

test('a template paused during a run pauses the campaign and fails no recipient', async (t) => {
  const { world, api, graph, channel, body } = await templateWorld(t)
  const { id } = await launched(api, { ...body, throttle_per_second: 20 })
  await passFor(world, 500)
  const channels = world.services.channels as { templateVerdict: typeof world.services.channels.templateVerdict }
  const verdict = channels.templateVerdict
  let looks = 0
  channels.templateVerdict = async (...asked) => {
    looks += 1
    // the first look-up is for the campaign, the second for a message
    if (looks === 2) {
      Object.assign(graph.templates[0]!, { status: 'PAUSED' })
      await world.pool`update channels set templates_refresh_at = ${world.clock.iso()} where id = ${channel}`
      await world.settle('templates')
      world.services.channels.forget()
    }
    return await verdict(...asked)
  }

  await passFor(world, 2000)

  const { status, pause_reason, counters } = await readCampaign(api, id)
  assert.ok(looks > 2)
  assert.deepEqual(
    [status, pause_reason, counters.failed, counters.queued + counters.sent],
    ['paused', 'template_paused', 0, 30],
  )
})

for (const [code, status, ended] of [
  [132015, 'PAUSED', 'paused template_paused'],
  [132016, 'DISABLED', 'failed template_not_approved'],
  [132001, null, 'failed template_not_approved'],
] as const)
  test(`when the provider refuses the template with ${code} before our copy is updated, few recipients fail and the campaign is ${ended}`, async (t) => {
    const { world, api, graph, body } = await templateWorld(t, 60)
    const { id } = await launched(api, { ...body, throttle_per_second: 10 })
    await passFor(world, 1000)
    const { sent } = (await readCampaign(api, id)).counters

    if (status === null) graph.templates.length = 0
    else Object.assign(graph.templates[0]!, { status })
    for (const { to } of numbers(60)) graph.refuse(to, { error: code })
    for (let passed = 0; passed < 2000; passed += 100) {
      await world.settle('templates')
      await passFor(world, 100)
    }

    const campaign = await readCampaign(api, id)
    assert.equal(`${campaign.status} ${campaign.pause_reason ?? campaign.failure_reason}`, ended)
    assert.ok(sent > 0 && campaign.counters.sent === sent)
    assert.ok(campaign.counters.failed >= 1 && campaign.counters.failed <= 5, `${campaign.counters.failed} failed`)
  })

test('a live WhatsApp channel writes to a limited number of recipients in 24 hours, and to more the next day', async (t) => {
  const { world, api, channel, body } = await templateWorld(t, 8)
  const reachable = async (limit: number) => {
    await world.pool`update channels set settings = json_build_object('messaging_limit', ${limit}::int) where id = ${channel}`
    world.services.channels.forget()
  }
  await reachable(8)
  const refused = await api.post('/v1/campaigns', {
    ...body,
    audience: { type: 'adhoc', recipients: numbers(9) },
    launch: true,
    consent_declared: true,
  })
  const { id } = await launched(api, body)
  await reachable(5)
  await passFor(world, 5000)
  const paused = await readCampaign(api, id)
  await api.post(`/v1/campaigns/${id}/resume`)
  await passFor(world, 2500)
  const still = await readCampaign(api, id)

  await world.clock.advance(24 * 3600_000)
  await api.post(`/v1/campaigns/${id}/resume`)
  await passFor(world, 5000)

  assert.deepEqual([refused.status, refused.body.error.code], [400, 'campaign_limit_exceeded'])
  assert.deepEqual([paused.status, paused.pause_reason, paused.counters.sent], ['paused', 'messaging_limit_reached', 5])
  assert.deepEqual([still.status, still.counters.sent], ['paused', 5])
  const ended = await readCampaign(api, id)
  assert.deepEqual([ended.status, ended.counters.sent], ['completed', 8])
})

async function templateWorld(t: TestContext, recipients = 30) {
  const { graph, world, api, connect } = await whatsappWorld(t)
  graph.templates.push(approvedTemplate('sale', { id: '7', components: [{ type: 'BODY', text: 'A sale.' }] }))
  const made = await connect()
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const channel = made.body.id as string
  const template = { name: 'sale', language: { code: 'en_US' } }
  return {
    world,
    api,
    graph,
    channel,
    body: campaignTo(numbers(recipients), { channel, message: { type: 'template', template } }),
  }
}

test('a contact that opts out or is blocked after a change of its number gets no message at the old number, as the rehearsal predicts', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const contacts: string[] = []
  for (const phone of ['+4915112345670', '+4915112345671', '+4915112345672', '+4915112345673'])
    contacts.push((await api.post('/v1/contacts', { phone, tags: ['all'] })).body.id)
  const { id } = await launched(
    api,
    campaignTo([], { audience: { type: 'tags', tags: ['all'] }, throttle_per_second: 1 }),
  )
  await passFor(world, 200)
  await api.post(`/v1/campaigns/${id}/pause`)
  const before = await outcomesOf(api, id)
  const waiting = contacts.filter((_, at) => before[at] === 'pending')
  for (const [n, contact] of waiting.entries())
    await api.patch(`/v1/contacts/${contact}`, { phone: `+491520000000${n}` })

  await api.patch(`/v1/contacts/${waiting[0]}`, { consent: { sms: 'opted_out' } })
  const optedOut = await outcomesOf(api, id)
  await api.patch(`/v1/contacts/${waiting[1]}`, { blocked: true })
  const rehearsal = (await api.post(`/v1/campaigns/${id}/rehearse`)).body
  await api.post(`/v1/campaigns/${id}/resume`)
  await passFor(world, 5000)

  assert.deepEqual(optedOut, ['delivered', 'skipped unsubscribed', 'pending', 'pending'])
  assert.deepEqual([rehearsal.would_send, rehearsal.would_skip], [1, { unsubscribed: 1 }], 'of the two who wait still')
  assert.deepEqual(await outcomesOf(api, id), [
    'delivered',
    'skipped unsubscribed',
    'skipped unsubscribed',
    'delivered',
  ])
})
