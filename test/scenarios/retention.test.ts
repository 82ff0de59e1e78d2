/** Retention (behaviour: operating 6). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { campaignTo, launched, numbers, passFor, readCampaign } from '../support/campaigns.ts'
import { ownerPassword, signedInOwner } from '../support/console-api.ts'
import { startWorld, type World } from '../support/world.ts'

const dayMs = 24 * 3600_000
const text = { type: 'text', text: { body: 'Hello' } }

/** A world that retains messages for sixty days, on the 31st of January. */
async function shortMemory(t: TestContext) {
  const world = await startWorld(t, { settings: { message_retention_ms: 60 * dayMs } })
  await world.periodicJobs()
  const account = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const sender = { type: 'sms', provider: 'simulator', name: 'Sender', identifier: '+4915100000000', credentials: {} }
  const { body: channel } = await account.api.post('/v1/channels', sender)
  const send = async (to: string) =>
    (await account.api.post('/v1/messages', { channel: channel.id, to, ...text })).body.id as string
  const statusOf = async (id: string) => (await account.api.get(`/v1/messages/${id}`)).status
  const listed = async (query = '') =>
    (await account.api.get(`/v1/messages${query}`)).body.data.map(({ id }: { id: string }) => id)
  return { world, account, channel: channel.id as string, send, statusOf, listed }
}

async function pass(world: World, days: number): Promise<void> {
  for (let day = 0; day < days; day += 10) {
    await world.clock.advance(Math.min(10, days - day) * dayMs)
    await world.tick('heartbeat')
    await world.periodicJobs()
  }
}

const partitions = async ({ pool }: World, table: string): Promise<string[]> => {
  const rows = await pool<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = ${table}::regclass order by 1`
  return rows.map(({ name }) => name.slice(table.length + 1))
}

test('months of messages are deleted with all derived data, and money stays exact', async (t) => {
  const { world, account, channel, send, statusOf, listed } = await shortMemory(t)
  await world.clock.advance(5 * dayMs)
  const failed = await send('+19995550001')
  const old = await send('+4915112345678')
  await world.settle()
  const campaign = await launched(account.api, campaignTo(numbers(3), { channel }))
  await passFor(world, 2000)
  await pass(world, 40)
  const kept = await send('+4915112345678')
  await world.settle()
  await world.periodicJobs()
  await world.invariants()
  const before = {
    messages: await listed(),
    balance: (await account.api.get('/v1/balance')).body,
    ledger: await ledgerOf(world),
  }

  await pass(world, 55)
  await world.periodicJobs()
  await world.invariants()

  assert.equal(before.messages.length, 6)
  assert.deepEqual(await listed(), [kept])
  assert.deepEqual([await statusOf(failed), await statusOf(old), await statusOf(kept)], [404, 404, 200])
  assert.deepEqual(await listed('?status=failed'), [])
  assert.deepEqual(await listed('?status=delivered'), [kept])
  assert.deepEqual(
    await partitions(world, 'messages'),
    ['20260301', '20260401', '20260501', '20260601', '20260701', '20260801', 'default'].slice(0, 7),
  )
  assert.deepEqual(await partitions(world, 'message_attempts'), await partitions(world, 'messages'))
  assert.deepEqual((await account.api.get('/v1/balance')).body, before.balance)
  assert.deepEqual(await ledgerOf(world), before.ledger)
  assert.equal((await readCampaign(account.api, campaign.id)).counters.sent, 3)
  const counted =
    await world.pool`select status, sum(n)::int as n from message_quarter_counts group by 1 having sum(n) <> 0`
  assert.deepEqual(
    counted.map(({ status, n }) => [status, n]),
    [['delivered', 1]],
  )
})

test('a month is retained until its last waiting message has ended', async (t) => {
  const { world, send, statusOf } = await shortMemory(t)
  await world.clock.advance(5 * dayMs)
  const sent = await send('+4915112345678')
  await world.settle()
  const waiting = await send('+4915112345679')
  await pass(world, 95)
  await world.periodicJobs()
  const during = [await statusOf(sent), await statusOf(waiting)]
  await world.settle()
  await world.periodicJobs()
  await world.invariants()

  assert.deepEqual(during, [200, 200])
  assert.deepEqual([await statusOf(sent), await statusOf(waiting)], [404, 404])
})

test('a conversation is deleted with its last message, and its inbound messages with their months', async (t) => {
  const world = await startWorld(t, { settings: { message_retention_ms: 60 * dayMs } })
  await world.periodicJobs()
  await world.account()
  const client = await signedInOwner(world)
  const signIn = () => client.send('POST', '/session', { email: 'owner@example.com', password: ownerPassword })
  const write = async (from: string) => {
    const { status } = await client.send('POST', '/v1/test/inbound_messages', {
      channel: 'ch_test_whatsapp',
      from,
      ...text,
    })
    assert.equal(status, 201)
  }
  await world.clock.advance(5 * dayMs)
  await signIn()
  await write('+15005550006')
  await write('+15005550010')
  await world.settle()
  await pass(world, 40)
  await signIn()
  await write('+15005550010')
  await world.settle()
  await pass(world, 55)
  await world.periodicJobs()
  await signIn()
  const { body } = await client.send('GET', '/conversations')

  assert.deepEqual(
    body.data.map(({ identifier }: { identifier: string }) => identifier),
    ['+15005550010'],
  )
  assert.equal((await client.send('GET', `/conversations/${body.data[0].id}/messages`)).body.data.length, 1)
  await world.invariants()
})

test('events, deliveries and requests are stored as long as the settings say', async (t) => {
  const settings = {
    event_retention_ms: 60 * dayMs,
    delivery_retention_ms: 10 * dayMs,
    request_log_retention_ms: 2 * dayMs,
  }
  const world = await startWorld(t, { settings })
  await world.periodicJobs()
  const days = async (table: string) => (await partitions(world, table)).length
  const before = await Promise.all(['events', 'webhook_deliveries', 'request_log'].map(days))
  await pass(world, 70)
  await world.periodicJobs()
  const [events, deliveries, requests] = await Promise.all(
    ['events', 'webhook_deliveries', 'request_log'].map((table) => partitions(world, table)),
  )

  // this period, three later ones, and the default partition
  assert.deepEqual(before, [5, 5, 5])
  assert.equal(events![0], '20260209')
  assert.equal(deliveries![0], '20260330')
  assert.deepEqual(requests, ['20260411', '20260412', '20260413', '20260414', 'default'])
})

async function ledgerOf({ pool }: World): Promise<readonly object[]> {
  return await pool<object[]>`select type, amount, message_id from ledger_entries order by id`
}
