/** Concurrent actions on a campaign: the first wins, without deadlock. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Tenant } from '../../src/api/caller.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { campaignTo, eventsOf, launched, numbers, outcomesOf, passFor, readCampaign } from '../support/campaigns.ts'
import type { Api } from '../support/api.ts'
import { holdOpen } from '../support/open-transactions.ts'
import { until } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'

async function liveWorld(t: TestContext) {
  const world = await startWorld(t)
  const account = await world.account({ mode: 'live', credit_micros: 1_000_000_000 })
  const body = { type: 'sms', provider: 'simulator', name: 'Sender', identifier: '+4915100000000', credentials: {} }
  const made = await account.api.post('/v1/channels', body)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return { world, account, api: account.api, channel: made.body.id as string }
}

interface Asked {
  readonly id: string
  readonly channel: string
}

const messagesIn = async (world: World): Promise<number> =>
  (await world.pool<{ count: number }[]>`select count(*)::int as count from messages`)[0]!.count

test('after a pause or cancel was answered no message is accepted, however long an acceptance waited for the wallet', async (t) => {
  for (const action of ['pause', 'cancel']) {
    const { world, account, api, channel } = await liveWorld(t)
    const { id } = await launched(api, campaignTo(numbers(50), { channel, throttle_per_second: 1 }))
    await world.settle('campaign-snapshots')
    const seen = { atAnswer: -1 }
    const { tick, answered } = await holdOpen(world.pool, async (tx) => {
      await tx`select from wallets where account_id = ${account.id} for update`
      const pass = world.tick('campaigns')
      await until('the acceptance to wait for the wallet', async () => (await lockWaits(world.pool)) > 0)
      const asked = api.post(`/v1/campaigns/${id}/${action}`).then(async (answer) => {
        seen.atAnswer = await messagesIn(world)
        return answer
      })
      await until(
        'the action to be answered or to wait',
        async () => seen.atAnswer >= 0 || (await lockWaits(world.pool)) > 1,
      )
      return { tick: pass, answered: asked }
    })
    const { status } = await answered
    await tick
    await passFor(world, 3000)

    assert.equal(status, 200)
    assert.equal(await messagesIn(world), seen.atAnswer, `of a ${action}`)
    await world.invariants()
  }
})

test('a launch or resume during a suspension is refused, or its campaign fails', async (t) => {
  const { world, account, api, channel } = await liveWorld(t)
  const draft = async () => (await api.post('/v1/campaigns', campaignTo(numbers(10), { channel }))).body.id as string
  const [beside, after] = [await draft(), await draft()]
  const { id: paused } = await launched(api, campaignTo(numbers(10), { channel }))
  await api.post(`/v1/campaigns/${paused}/pause`)
  const tenant: Tenant = { account_id: account.id as Tenant['account_id'], mode: 'live' }
  const { campaigns, accounts } = world.services
  const keep = () => Promise.resolve()
  const caller = { ...tenant, key_id: account.key_id } as unknown as Parameters<typeof campaigns.launch>[1]
  const launch = (id: string) => campaigns.launch(world.pool, caller, id, { consent_declared: true }, keep)
  const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
    await work.then(() => 'done').catch((error: { code?: string }) => error.code)

  const [launchedBeside, resumedBeside] = await Promise.all([
    codeOf(launch(beside)),
    codeOf(campaigns.resume(world.pool, tenant, paused, keep)),
    accounts.suspend(account.id),
  ])
  const [launchedAfter, resumedAfter] = [
    await codeOf(launch(after)),
    await codeOf(campaigns.resume(world.pool, tenant, paused, keep)),
  ]
  await passFor(world, 3000)
  await accounts.reinstate(account.id)

  assert.equal(launchedAfter, 'account_suspended')
  assert.ok(['account_suspended', 'campaign_state_invalid'].includes(String(resumedAfter)))
  assert.ok(['done', 'account_suspended'].includes(String(launchedBeside)))
  assert.ok(['done', 'account_suspended', 'campaign_state_invalid'].includes(String(resumedBeside)))
  const [first, second, third] = [
    await readCampaign(api, beside),
    await readCampaign(api, after),
    await readCampaign(api, paused),
  ]
  assert.deepEqual(
    [first.status, first.failure_reason],
    launchedBeside === 'done' ? ['failed', 'account_suspended'] : ['draft', null],
  )
  assert.equal(second.status, 'draft')
  assert.deepEqual([third.status, third.failure_reason], ['failed', 'account_suspended'])
  assert.equal(await messagesIn(world), 0)
})

test('a cancel does not wait for an opt-out that locks some of its recipients', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const closed = { timezone: 'UTC', send_window: { start: '20:00', end: '21:00' } }
  const { id } = await launched(api, campaignTo(numbers(50), { schedule: closed }))
  await world.settle('campaign-snapshots')
  const answered = await holdOpen(world.pool, async (tx) => {
    const skip = (n: number) =>
      tx`update campaign_recipients set status = 'skipped', skip_reason = 'unsubscribed' where campaign_id = ${id} and n = ${n} and status = 'pending'`
    await skip(30)
    const answer = await api.post(`/v1/campaigns/${id}/cancel`)
    await skip(10)
    return answer
  })
  await passFor(world, 1000)

  assert.deepEqual([answered.status, answered.body.counters.cancelled, answered.body.counters.queued], [200, 49, 1])
  const { counters } = await readCampaign(api, id)
  assert.deepEqual([counters.total, counters.cancelled, counters.skipped, counters.queued], [50, 49, 1, 0])
  await world.invariants()
})

test('cancels concurrent with opt-outs and deleted contacts all complete', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const people = numbers(60)
  for (const { to } of people) assert.equal((await api.post('/v1/contacts', { phone: to, tags: ['vip'] })).status, 201)
  const closed = { timezone: 'UTC', send_window: { start: '20:00', end: '21:00' } }
  const audience = { type: 'tags', tags: ['vip'] }
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.push((await launched(api, campaignTo([], { audience, schedule: closed }))).id)
  await world.settle('campaign-snapshots')
  const { data } = (await api.get(`/v1/campaigns/${ids[0]}/recipients?limit=100`)).body as {
    data: { to: string; contact_id: string }[]
  }

  const answers = await Promise.all([
    ...data.slice(0, 20).map(({ contact_id }) => api.delete(`/v1/contacts/${contact_id}`)),
    ...data
      .slice(20, 40)
      .toReversed()
      .map(({ to }) =>
        api.post('/v1/test/inbound_messages', { channel: 'ch_test_sms', from: to, text: { body: 'STOP' } }),
      ),
    ...ids.map((id) => api.post(`/v1/campaigns/${id}/cancel`)),
  ])
  await passFor(world, 2000)

  for (const { status, body } of answers) assert.ok(status < 300, JSON.stringify(body))
  for (const id of ids) {
    const { status, counters } = await readCampaign(api, id)
    assert.deepEqual(
      [status, counters.total, counters.queued, counters.cancelled + counters.skipped],
      ['cancelled', 60, 0, 60],
    )
    assert.ok((await outcomesOf(api, id)).every((outcome) => /^(cancelled|skipped .*)$/.test(outcome)))
  }
  await world.invariants()
})

test('the event feed shows concurrent pauses and resumes in the order in which they happened', async (t) => {
  const { world, api, channel } = await liveWorld(t)
  const closed = { timezone: 'UTC', send_window: { start: '20:00', end: '21:00' } }
  const { id } = await launched(api, campaignTo(numbers(5), { channel, schedule: closed }))
  await world.settle('campaign-snapshots')
  const ask = async (action: string, n: number) =>
    (await api.post(`/v1/campaigns/${id}/${action}`, undefined, { 'idempotency-key': `${action} ${n}` })).status

  const statuses = await Promise.all(Array.from({ length: 96 }, (_, n) => ask(n % 3 === 0 ? 'pause' : 'resume', n)))
  const types = (await eventsOf(world, api, id)).map(({ type }: { type: string }) => type)

  assert.ok(statuses.every((status) => status === 200 || status === 409))
  assert.equal(types.length, 1 + statuses.filter((status) => status === 200).length)
  assert.deepEqual(
    types,
    types.map((_: string, i: number) => (i % 2 === 0 ? 'campaign.started' : 'campaign.paused')),
  )
  await world.invariants()
})

for (const [what, ask, after] of [
  ['a pause', (api: Api, { id }: Asked) => api.post(`/v1/campaigns/${id}/pause`), ['paused', 'user', 10]],
  [
    'a disabled channel',
    (api: Api, { channel }: Asked) => api.patch(`/v1/channels/${channel}`, { status: 'disabled' }),
    ['paused', 'channel_disconnected', 10],
  ],
  ['a deleted channel', (api: Api, { channel }: Asked) => api.delete(`/v1/channels/${channel}`), ['failed', null, 0]],
] as const)
  test(`after ${what} was answered, a worker that read the campaign before sends nothing`, async (t) => {
    const { world, api, channel } = await liveWorld(t)
    const { id } = await launched(api, campaignTo(numbers(10), { channel, throttle_per_second: 10 }))
    await world.settle('campaign-snapshots')

    const { answer, pass } = await holdOpen(world.pool, async (tx) => {
      // the worker then locks the campaign but no recipient
      await tx`lock table campaign_recipients in access exclusive mode`
      const begun = world.tick('campaigns')
      await until('the run to wait for its recipients', async () => (await lockWaits(world.pool)) > 0)
      return { answer: await ask(api, { id, channel }), pass: begun }
    })
    await pass
    await passFor(world, 3000)

    const { status, pause_reason, counters } = await readCampaign(api, id)
    assert.deepEqual([answer.status, status, pause_reason, counters.queued, counters.sent], [200, ...after, 0])
    assert.deepEqual(await world.pool`select from message_attempts`.then((rows) => rows.length), 0)
    await world.invariants()
  })

test('sending a campaign and deleting its channel do not deadlock', async (t) => {
  const { world, api, channel } = await liveWorld(t)
  const { id } = await launched(api, campaignTo(numbers(10), { channel, throttle_per_second: 1 }))
  await world.settle('campaign-snapshots')
  await world.tick('campaigns')
  const send_at = new Date(world.clock.now() + 3600_000).toISOString()
  const sent = await api.post('/v1/messages', {
    channel,
    to: '+4915112345678',
    type: 'text',
    text: { body: 'Later' },
    send_at,
  })
  assert.equal(sent.status, 202, JSON.stringify(sent.body))

  const { answered, held } = await holdOpen(world.pool, async (tx) => {
    await tx`select from campaigns where id = ${id} for update`
    const asked = api.delete(`/v1/channels/${channel}`)
    await until('the delete to wait for the campaign', async () => (await lockWaits(world.pool)) > 0)
    const jobs = await tx`select from dispatch_jobs where channel_id = ${channel} for update`
    return { answered: asked, held: jobs.length }
  })

  assert.ok((await answered).status < 300)
  assert.ok(held > 0)
  const { status, failure_reason } = await readCampaign(api, id)
  assert.deepEqual([status, failure_reason], ['failed', 'channel_deleted'])
})
