/** Campaigns that are cancelled or fail with queued messages. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { campaignTo, launched, numbers, passFor, readCampaign } from '../support/campaigns.ts'
import { startProcess } from '../support/process.ts'
import { scriptedProvider, unavailable } from '../support/scripted-provider.ts'
import { startWorld } from '../support/world.ts'

const hour = 3600_000
const credit = 1_000_000_000
const recipients = 60

/** The campaign's messages are queued behind twenty others, at one per second. */
async function crowded(t: TestContext) {
  const provider = scriptedProvider()
  const world = await startWorld(t, { providers: [provider.provider] })
  const account = await world.account({ mode: 'live', credit_micros: credit })
  const { api } = account
  const settings = { max_messages_per_second: 1 }
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
  for (let i = 0; i < 20; i++)
    await api.post('/v1/messages', { channel, to: '+4915199999990', type: 'text', text: { body: 'Hi' } })
  const { id } = await launched(api, campaignTo(numbers(recipients), { channel }))
  const handedTo = () => provider.sent.filter(({ to }) => to !== '+4915199999990').map(({ to }) => to)
  const setChannel = async (change: object) =>
    assert.equal((await api.patch(`/v1/channels/${channel}`, change)).status, 200)
  return { world, account, api, provider, channel, id, handedTo, setChannel }
}

type Crowded = Awaited<ReturnType<typeof crowded>>

async function waiting({ world, id }: Crowded): Promise<number> {
  const [row] = await world.pool<{ count: number }[]>`
    select count(*)::int as count from campaign_recipients r join messages m on m.account_id = r.account_id and m.mode = r.mode and m.id = r.message_id
    where r.campaign_id = ${id} and m.status in ('queued', 'sending')`
  return row!.count
}

async function over(crowd: Crowded, status: string, sent: number): Promise<void> {
  const { world, account, api, id, handedTo } = crowd
  await passFor(world, 40_000, 500)
  const { counters, cost, ...campaign } = await readCampaign(api, id)
  assert.equal(campaign.status, status)
  assert.deepEqual(
    [counters.total, counters.queued, counters.sent, counters.failed, counters.cancelled],
    [recipients, 0, sent, 0, recipients - sent],
  )
  assert.equal(new Set(handedTo()).size, sent, 'no other message is sent')
  const { data } = (await api.get(`/v1/campaigns/${id}/recipients?limit=100&status=cancelled`)).body
  assert.equal(data.length, recipients - sent)
  const withdrawn = data.filter(({ message_id }: { message_id: string | null }) => message_id !== null)
  for (const { message_id } of withdrawn) {
    const message = (await api.get(`/v1/messages/${message_id}`)).body
    assert.deepEqual([message.status, message.error.code, message.billing.refunded], ['failed', 'cancelled', true])
  }
  assert.ok(withdrawn.length > 0, 'some of them had a message')
  const [price] = await world.pool<
    { micros: number }[]
  >`select amount_micros as micros from messages where account_id = ${account.id} limit 1`
  assert.equal(cost.wallet_micros, sent * price!.micros)
  await world.invariants()
}

test('a campaign cancelled while its messages wait behind others sends nothing more', async (t) => {
  const crowd = await crowded(t)
  const { world, api, id, handedTo } = crowd
  await passFor(world, 25_000, 500)
  const before = handedTo().length
  const held = await waiting(crowd)

  const { body } = await api.post(`/v1/campaigns/${id}/cancel`)

  assert.ok(before > 0 && held > 10, `${before} sent, ${held} wait`)
  assert.deepEqual(
    [body.status, body.counters.queued, body.counters.cancelled],
    ['cancelled', 0, recipients - before],
    'before it answers',
  )
  await over(crowd, 'cancelled', before)
})

test('a campaign cancelled while its channel is disabled sends nothing when the channel is enabled', async (t) => {
  const crowd = await crowded(t)
  const { world, api, id, setChannel } = crowd
  await passFor(world, 10_000, 500)
  await setChannel({ status: 'disabled' })
  await passFor(world, 2000, 500)
  const paused = await readCampaign(api, id)
  const held = await waiting(crowd)

  const { body } = await api.post(`/v1/campaigns/${id}/cancel`)
  await world.clock.advance(10 * hour)
  await setChannel({ status: 'active' })

  assert.deepEqual([paused.status, paused.pause_reason], ['paused', 'channel_disconnected'])
  assert.ok(held > 10)
  assert.deepEqual([body.counters.queued, body.counters.cancelled], [0, recipients])
  await over(crowd, 'cancelled', 0)
})

test('a campaign cancelled while its provider is unavailable sends nothing when the provider is back', async (t) => {
  const crowd = await crowded(t)
  const { world, api, provider, id, handedTo } = crowd
  await passFor(world, 25_000, 500)
  const before = handedTo().length
  provider.answer = () => unavailable
  await passFor(world, 20_000, 500)
  const tried = await world.pool`select id from messages where origin_id = ${id} and status = 'sending'`

  await api.post(`/v1/campaigns/${id}/cancel`)
  await passFor(world, 1000, 500)
  const handed = provider.sent.length
  provider.answer = scriptedProvider().answer
  await world.clock.advance(5 * 60_000)

  assert.ok(tried.length > 0, 'some were tried, and are to be tried again')
  assert.ok(handed > before)
  await passFor(world, 40_000, 500)
  const { counters } = await readCampaign(api, id)
  assert.deepEqual([counters.queued, counters.sent, counters.cancelled], [0, before, recipients - before])
  const later = provider.sent.slice(handed).filter(({ to }) => to !== '+4915199999990')
  assert.deepEqual(later, [])
  await world.invariants()
})

test('a campaign that failed with its channel or account suspended sends nothing more', async (t) => {
  const byChannel = await crowded(t)
  await passFor(byChannel.world, 25_000, 500)
  await byChannel.world.pool`update channels set status = 'suspended' where id = ${byChannel.channel}`
  byChannel.world.services.channels.forget()
  await over(byChannel, 'failed', byChannel.handedTo().length)

  const byAccount = await crowded(t)
  await passFor(byAccount.world, 25_000, 500)
  await byAccount.world.services.accounts.suspend(byAccount.account.id)
  await byAccount.world.tick('campaigns')
  await byAccount.world.services.accounts.reinstate(byAccount.account.id)
  await over(byAccount, 'failed', byAccount.handedTo().length)
})

test('a campaign cancelled while another process has its messages sends nothing more, whether that process survives or not', async (t) => {
  for (const dies of [false, true]) {
    const crowd = await crowded(t)
    const { world, api, id, handedTo } = crowd
    const other = await startProcess(t, world, dies ? 'dying' : 'other')
    const otherPasses = async () => {
      for (const worker of ['heartbeat', 'campaigns', 'dispatch', 'project-campaigns'])
        await other.tickWhileTimePasses(worker)
    }
    await world.settle('campaign-snapshots')
    for (let i = 0; i < 80; i++) {
      await world.tick('heartbeat')
      await otherPasses()
      await world.clock.advance(400)
    }
    const before = handedTo().length
    const [inHand] = await world.pool<{ count: number }[]>`
      select count(*)::int as count from messages m join dispatch_jobs j on j.message_id = m.id where m.origin_id = ${id} and j.process_id = ${other.app.platform.process_id}`
    if (dies) await other.kill()

    const { status } = await api.post(`/v1/campaigns/${id}/cancel`)
    for (let i = 0; i < 20 && !dies; i++) {
      await world.tick('heartbeat')
      await otherPasses()
      await world.clock.advance(400)
    }
    if (dies) await world.clock.advance(120_000)
    await world.tick('heartbeat')

    assert.equal(status, 200)
    assert.ok(before > 0 && inHand!.count > 0, `${before} sent, ${inHand!.count} in hand`)
    await over(crowd, 'cancelled', before)
  }
})

test('counters match the recipients at every moment of cancelling', async (t) => {
  const crowd = await crowded(t)
  const { world, api, id } = crowd
  await passFor(world, 25_000, 500)
  const polls: string[] = []
  const poll = async () => {
    const { counters: c } = await readCampaign(api, id)
    const each = [c.queued, c.sent, c.failed, c.skipped, c.cancelled]
    if (
      each.some((count) => count < 0) ||
      c.failed > 0 ||
      c.total !== recipients ||
      each.reduce((sum, count) => sum + count) !== recipients
    )
      polls.push(JSON.stringify(c))
  }

  const cancelled = api.post(`/v1/campaigns/${id}/cancel`)
  for (let i = 0; i < 20; i++) await poll()
  const { status } = await cancelled
  for (let i = 0; i < 10; i++) {
    await poll()
    await world.tick(i % 2 === 0 ? 'project-campaigns' : 'campaigns')
  }

  assert.equal(status, 200)
  assert.deepEqual(polls, [])
  await world.invariants()
})
