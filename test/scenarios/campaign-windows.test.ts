/** The send window of a campaign with queued messages. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Api } from '../support/api.ts'
import { campaignTo, launched, numbers, passFor, readCampaign } from '../support/campaigns.ts'
import { startProcess } from '../support/process.ts'
import { scriptedProvider, unavailable } from '../support/scripted-provider.ts'
import { startWorld, type World } from '../support/world.ts'

const hour = 3600_000
const minute = 60_000

interface Recipient {
  readonly id: string
  readonly to: string
  readonly status: string
  readonly message_id: string | null
  readonly sent_at: string | null
}

const recipientsOf = async (api: Api, id: string): Promise<Recipient[]> =>
  (await api.get(`/v1/campaigns/${id}/recipients?limit=100`)).body.data

/** API messages are queued first. It is 10:30 in Berlin, 09:30 in UTC. */
async function busy(t: TestContext, { per_second = 1, ahead = 0 } = {}) {
  const provider = scriptedProvider()
  const world = await startWorld(t, { providers: [provider.provider] })
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000_000 })
  const settings = { max_messages_per_second: per_second }
  const made = await api.post('/v1/channels', {
    type: 'sms',
    provider: 'scripted',
    name: 'Sender',
    identifier: '+4915100000001',
    credentials: {},
    settings,
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const channel = made.body.id as string
  for (let i = 0; i < ahead; i++)
    await api.post('/v1/messages', { channel, to: '+4915199999990', type: 'text', text: { body: 'Hi' } })
  return { world, api, provider, channel }
}

const openUntil = (end: string) => ({ schedule: { timezone: 'Europe/Berlin', send_window: { start: '10:00', end } } })

const passUntil = async (world: World, at: string): Promise<void> =>
  await world.clock.advance(Date.parse(at) - world.clock.now())

test('messages queued when the window closes are sent the next day', async (t) => {
  const { world, api, provider, channel } = await busy(t, { ahead: 40 })
  const { id } = await launched(api, campaignTo(numbers(80), { channel, ...openUntil('10:31') }))
  await passFor(world, minute - 500, 500)
  const queued = (await recipientsOf(api, id)).filter(
    ({ message_id, sent_at }) => message_id !== null && sent_at === null,
  ).length
  await passFor(world, 3 * minute, 1000)
  const night = await readCampaign(api, id)
  const handedByNight = provider.sent.length

  await passUntil(world, '2026-02-01T09:00:00Z')
  await passFor(world, 62_000, 500)
  await world.clock.advance(23 * hour)
  await passFor(world, 62_000, 500)

  assert.ok(queued > 20, `${queued} were queued when it closed`)
  assert.deepEqual([night.status, night.counters.failed, night.counters.total], ['sending', 0, 80])
  assert.ok(night.counters.sent < 40 && night.counters.queued === 80 - night.counters.sent)
  assert.ok(handedByNight < 80)
  const shown = await recipientsOf(api, id)
  for (const { sent_at } of shown)
    assert.match(sent_at!, /^2026-(01-31|02-01|02-02)T09:([012]\d|30):/, 'from 10:00 to 10:31 in Berlin')
  const campaign = await readCampaign(api, id)
  assert.deepEqual([campaign.status, campaign.counters.sent], ['completed', 80])
  const handed = provider.sent.map(({ to }) => to).filter((to) => to !== '+4915199999990')
  assert.equal(handed.length, 80)
  assert.equal(new Set(handed).size, 80, 'each once')
  await world.invariants()
})

test('if the provider is unavailable when the window closes, nothing is sent at night', async (t) => {
  const { world, api, provider, channel } = await busy(t, { per_second: 20 })
  const { id } = await launched(
    api,
    campaignTo(numbers(60), { channel, throttle_per_second: 2, ...openUntil('10:31') }),
  )
  await passFor(world, 10_000)
  const before = (await readCampaign(api, id)).counters.sent
  provider.answer = () => unavailable
  await passFor(world, 80_000, 500)
  provider.answer = scriptedProvider().answer
  await passUntil(world, '2026-02-01T02:00:00Z')
  await passFor(world, 2 * minute, 2000)
  const night = await readCampaign(api, id)

  await passUntil(world, '2026-02-01T09:00:00Z')
  await passFor(world, minute, 500)

  assert.ok(before > 10)
  assert.deepEqual([night.status, night.counters.sent, night.counters.failed], ['sending', before, 0])
  const { status, counters } = await readCampaign(api, id)
  assert.deepEqual([status, counters.sent, counters.failed], ['completed', 60, 0])
  for (const { sent_at } of await recipientsOf(api, id)) assert.match(sent_at!, /^2026-(01-31|02-01)T09:([012]\d|30):/)
  await world.invariants()
})

test('messages of a process that dies when the window closes are sent the next day', async (t) => {
  const { world, api, provider, channel } = await busy(t, { ahead: 40 })
  const { id } = await launched(api, campaignTo(numbers(30), { channel, ...openUntil('10:31') }))
  const other = await startProcess(t, world, 'other')
  await world.settle('campaign-snapshots')
  for (let i = 0; i < 140; i++) {
    await world.tick('heartbeat')
    for (const worker of ['heartbeat', 'campaigns', 'dispatch', 'project-campaigns'])
      await other.tickWhileTimePasses(worker)
    await world.clock.advance(400)
  }
  await other.kill()
  await world.clock.advance(5 * minute)
  await world.tick('heartbeat')
  await passFor(world, 2 * minute, 1000)
  const night = await readCampaign(api, id)

  await passUntil(world, '2026-02-01T09:00:00Z')
  await passFor(world, minute, 500)

  assert.ok(night.counters.sent > 0 && night.counters.queued > 0, JSON.stringify(night.counters))
  const { status, counters } = await readCampaign(api, id)
  assert.deepEqual([status, counters.sent], ['completed', 30])
  for (const { sent_at } of await recipientsOf(api, id)) assert.match(sent_at!, /^2026-(01-31|02-01)T09:([012]\d|30):/)
  assert.equal(new Set(provider.sent.map(({ to }) => to)).size, 31)
  await world.invariants()
})

test('recipients who wait for the window of their own zone do not delay others', async (t) => {
  const { world, api, provider, channel } = await busy(t, { per_second: 2, ahead: 150 })
  const tokyo = Array.from({ length: 105 }, (_, i) => ({ phone: `+8190${10_000_000 + i}`, timezone: 'Asia/Tokyo' }))
  const berlin = [1, 2, 3].map((i) => ({ phone: `+4915${20_000_000 + i}`, timezone: 'Europe/Berlin' }))
  for (const person of [...tokyo, ...berlin])
    assert.equal((await api.post('/v1/contacts', { ...person, tags: ['all'] })).status, 201)
  const schedule = { timezone: 'UTC', send_window: { start: '09:30', end: '18:31' }, recipient_timezone: true }
  const { id } = await launched(
    api,
    campaignTo([], { channel, audience: { type: 'tags', tags: ['all'] }, throttle_per_second: 100, schedule }),
  )
  await passFor(world, 70_000, 400)
  const [waiting] = await world.pool<
    { count: number }[]
  >`select count(*)::int as count from messages where origin_id = ${id} and status = 'queued'`
  await passFor(world, 150_000, 1000)

  const handed = provider.sent.map(({ to }) => to).filter((to) => to !== '+4915199999990')
  assert.ok(waiting!.count >= 100, `${waiting!.count} wait`)
  assert.deepEqual(
    handed.toSorted(),
    berlin.map(({ phone }) => phone),
  )
  const { counters } = await readCampaign(api, id)
  assert.deepEqual([counters.sent, counters.queued, counters.failed], [3, 105, 0])
})

test('a message that waits for its window shows when it will be sent, and is cancelled with its campaign', async (t) => {
  const { world, api, provider, channel } = await busy(t, { ahead: 70 })
  const { id } = await launched(api, campaignTo(numbers(20), { channel, ...openUntil('10:31') }))
  await passFor(world, 100_000, 1000)
  const [first] = await recipientsOf(api, id)
  const waiting = (await api.get(`/v1/messages/${first!.message_id}`)).body

  const { body } = await api.post(`/v1/campaigns/${id}/cancel`)
  await passUntil(world, '2026-02-01T09:00:00Z')
  await passFor(world, 5000)

  assert.deepEqual([waiting.status, waiting.send_at], ['queued', '2026-02-01T09:00:00.000Z'])
  assert.deepEqual([body.counters.cancelled, body.counters.queued], [20, 0])
  assert.equal(provider.sent.filter(({ to }) => to !== '+4915199999990').length, 0)
  await world.invariants()
})
