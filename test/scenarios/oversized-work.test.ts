/** Large and unreadable jobs of one tenant do not stop those of another (behaviour: operating 3.9). */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { limits } from '../../src/api/limits.ts'
import { insertCallbackItems } from '../../src/modules/messages/callbacks/repository.ts'
import type { CallbackItem } from '../../src/providers/provider.ts'
import type { Api } from '../support/api.ts'
import { automationOf, happened, sourceOf } from '../support/automations.ts'
import { campaignTo, launched, numbers } from '../support/campaigns.ts'
import { subscribe } from '../support/subscribing.ts'
import { startWorld, type World } from '../support/world.ts'

const large = { text: { body: 'Hello', more: 'x'.repeat(60_000) }, metadata: { more: 'x'.repeat(15_000) } }

const messageTo = (more: object = {}) => ({
  channel: 'ch_test_sms',
  to: '+15005550006',
  type: 'text',
  text: { body: 'Hello' },
  ...more,
})

async function start(t: TestContext) {
  const world = await startWorld(t)
  const [large_account, other] = [await world.account(), await world.account()]
  return { world, large: large_account, other }
}

/** In batches of one megabyte. */
async function sendLarge(api: Api, count: number, more: object): Promise<string[]> {
  const ids: string[] = []
  for (let left = count; left > 0; left -= 13) {
    const messages = Array.from({ length: Math.min(13, left) }, () => messageTo({ ...large, ...more }))
    const { body } = await api.post('/v1/messages/batch', { messages })
    ids.push(...body.data.map(({ message }: { message: { id: string } }) => message.id))
  }
  return ids
}

const statusOf = async (api: Api, id: string): Promise<string> => (await api.get(`/v1/messages/${id}`)).body.status

/** The content of the message is no JSON any more; only the owner of the database can do this. */
async function damage({ pool }: World, id: string): Promise<void> {
  await pool`create cast (bytea as json) without function`
  await pool`update messages set content = '{"body":'::bytea::json where id = ${id}`
}

test('a claim of large messages reads a bounded number of bytes, and messages of others are sent meanwhile', async (t) => {
  const { world, large: account, other } = await start(t)
  const send_at = world.clock.iso(60_000)
  const ids = await sendLarge(account.api, 117, { send_at })
  const { body } = await other.api.post('/v1/messages', messageTo({ send_at: world.clock.iso(60_001) }))
  await world.clock.advance(61_000)

  const claimed: number[] = []
  const statuses: string[] = []
  for (let poll = 0; poll < 6; poll++) {
    const before = await unclaimed(world)
    await world.tick('dispatch')
    claimed.push(before - (await unclaimed(world)))
    statuses.push(await statusOf(other.api, body.id))
  }
  await world.settle()

  assert.ok(Math.max(...claimed) <= limits.claim_bytes_max / 75_000 + 1, `claimed ${claimed.join(', ')}`)
  assert.notEqual(statuses.at(-1), 'queued')
  assert.deepEqual(new Set(await Promise.all(ids.map((id) => statusOf(account.api, id)))), new Set(['delivered']))
  await world.invariants()
})

async function unclaimed({ pool }: World): Promise<number> {
  const [row] = await pool<
    { count: number }[]
  >`select count(*)::int as count from dispatch_jobs where process_id is null`
  return row!.count
}

test('a message that cannot be read delays no other, and after three tries fails and is refunded', async (t) => {
  const world = await startWorld(t)
  const [damaged, other] = [await liveChannel(world, '+4915100000001'), await liveChannel(world, '+4915100000002')]
  const send = async ({ api, channel }: LiveChannel) => {
    const made = messageTo({ channel, to: '+4915112345678', send_at: world.clock.iso(60_000) })
    return (await api.post('/v1/messages', made)).body.id as string
  }
  const [bad, good] = [await send(damaged), await send(other)]
  await damage(world, bad)
  await world.clock.advance(61_000)

  await world.settle()
  const first = [await stored(world, bad), await statusOf(other.api, good)]
  for (let tries = 0; tries < 2; tries++) {
    await world.clock.advance(31_000)
    await world.settle()
  }
  await world.clock.advance(1_000)
  await world.settle()

  assert.deepEqual(first, [['queued', null, false], 'delivered'])
  assert.deepEqual(await stored(world, bad), ['failed', 'internal_error', true])
  assert.equal((await damaged.api.get('/v1/balance')).body.wallet_micros, 1_000_000)
})

async function stored({ pool }: World, id: string) {
  const [row] = await pool<{ status: string; code: string | null; refunded: boolean }[]>`
    select status, error ->> 'code' as code, refunded from messages where id = ${id}`
  return [row!.status, row!.code, row!.refunded]
}

test('large inbound items of one channel are applied in bounded batches, and those of another channel at once', async (t) => {
  const world = await startWorld(t)
  const [flooded, other] = [await liveChannel(world, '+4915100000001'), await liveChannel(world, '+4915100000002')]
  const inbound = (n: number, body: string) => ({
    kind: 'inbound',
    provider_id: `in_${n}`,
    from: '+4915112345678',
    profile_name: null,
    type: 'text',
    content: { body },
    reply_to: null,
  })
  await insertItems(
    world,
    flooded,
    Array.from({ length: 99 }, (_, n) => inbound(n, 'x'.repeat(60_000))),
  )
  await world.clock.advance(1)
  await insertItems(world, other, [inbound(1, 'Hello')])

  await world.tick('callbacks')
  const [ofFlooded, ofOther] = [await inboundCount(flooded), await inboundCount(other)]
  await world.settle()

  assert.ok(ofFlooded >= 1 && ofFlooded <= limits.claim_bytes_max / 60_000 + 21, `${ofFlooded} were applied at once`)
  assert.equal(ofOther, 1)
  const [row] = await world.pool<{ count: number }[]>`select count(*)::int as count from messages where type = 'text'`
  assert.equal(row!.count, 100)
})

test('a callback item that cannot be read delays no other, and is deleted after three tries', async (t) => {
  const world = await startWorld(t)
  const [damaged, other] = [await liveChannel(world, '+4915100000001'), await liveChannel(world, '+4915100000002')]
  const template = (channel: LiveChannel) => insertItems(world, channel, [{ kind: 'templates' }])
  await template(damaged)
  await world.pool`create cast (bytea as json) without function`
  await world.pool`update callback_items set item = '{"kind":'::bytea::json`
  await template(other)
  const left = async () =>
    (await world.pool<{ channel_id: string }[]>`select channel_id from callback_items`).map((row) => row.channel_id)

  await world.tick('callbacks')
  const first = await left()
  for (let tries = 0; tries < 2; tries++) {
    await world.clock.advance(31_000)
    await world.tick('callbacks')
  }

  assert.deepEqual(first, [damaged.channel])
  assert.deepEqual(await left(), [])
})

interface LiveChannel {
  readonly account_id: string
  readonly channel: string
  readonly api: Api
}

async function liveChannel(world: World, identifier: string): Promise<LiveChannel> {
  const { id, api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const { body } = await api.post('/v1/channels', {
    type: 'sms',
    provider: 'simulator',
    name: 'Sender',
    identifier,
    credentials: {},
  })
  return { account_id: id, channel: body.id, api }
}

const insertItems = (
  { pool, clock, platform }: World,
  { account_id, channel }: LiveChannel,
  items: readonly object[],
) =>
  insertCallbackItems(
    pool,
    items.map((item) => ({
      id: platform.ids('req'),
      account_id,
      mode: 'live',
      channel_id: channel,
      provider_id: null,
      item: item as CallbackItem,
      next_run_at: clock.iso(),
      created_at: clock.iso(),
    })),
  )

const inboundCount = async ({ api }: LiveChannel): Promise<number> =>
  (await api.get('/v1/messages?direction=inbound&limit=100')).body.data.length

test('large events of one account do not delay the deliveries of another', async (t) => {
  const world = await startWorld(t)
  const [account, other] = [await world.account(), await world.account()]
  const [receiver, receiverOfOther] = [world.receiver(), world.receiver()]
  await subscribe(account, receiver, { filters: { channels: ['ch_test_sms'] } })
  await subscribe(other, receiverOfOther)
  const ids = await sendLarge(account.api, 65, {})
  await other.api.post('/v1/messages', messageTo())

  await world.settle()

  assert.deepEqual(new Set(receiver.received.map(({ json }) => json.data.object.id)), new Set(ids))
  assert.ok(receiverOfOther.received.some(({ json }) => json.type === 'message.delivered'))
})

test('a campaign with a large message submits a bounded number of messages at a time, and another one is sent beside it', async (t) => {
  const { world, large: account, other } = await start(t)
  const message = { type: 'text', text: { body: 'Hello', more: 'x'.repeat(60_000) } }
  const heavy = await launched(account.api, { ...campaignTo(numbers(300)), message, throttle_per_second: 100 })
  const light = await launched(other.api, campaignTo(numbers(5)))
  await world.settle('campaign-snapshots')
  const countOf = async (id: string): Promise<number> => {
    const [row] = await world.pool<
      { count: number }[]
    >`select count(*)::int as count from messages where origin_id = ${id}`
    return row!.count
  }

  const sent: number[] = []
  for (let poll = 0; poll < 20; poll++) {
    const before = await countOf(heavy.id)
    await world.tick('campaigns')
    sent.push((await countOf(heavy.id)) - before)
    await world.clock.advance(1_000)
  }

  assert.ok(Math.max(...sent) > 0 && Math.max(...sent) <= limits.claim_bytes_max / 60_000, sent.join(', '))
  assert.equal(await countOf(light.id), 5)
})

test('runs of events with much data do not delay the runs of another account', async (t) => {
  const { world, large: account, other } = await start(t)
  const [automation, otherAutomation] = [
    await automationOf(account, await sourceOf(account), {
      message: { type: 'text', text: { body: 'Thank you for {{data.order.number}}.' } },
    }),
    await automationOf(other, await sourceOf(other)),
  ]
  const data = { order: { number: 17, note: 'x'.repeat(200_000) } }
  await happened(
    { ...world, ids: world.platform.ids },
    account,
    automation,
    numbers(60).map(({ to }) => ({ to, data })),
  )
  await happened({ ...world, ids: world.platform.ids }, other, otherAutomation, [{ to: '+4915112345678' }])

  await world.tick('automation-runs')
  const [row] = await world.pool<{ count: number }[]>`
    select count(*)::int as count from messages where account_id = ${other.id}`
  await world.settle('automation-runs')

  assert.equal(row!.count, 1)
  const [all] = await world.pool<{ count: number }[]>`select count(*)::int as count from messages`
  assert.equal(all!.count, 61)
})
