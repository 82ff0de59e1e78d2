/** The pace of campaigns: throttles, shared channel rates, windows, database load. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { campaignTo, launched, liveSms, numbers, outcomesOf, passFor, readCampaign } from '../support/campaigns.ts'
import type { Api } from '../support/api.ts'
import type { Pool } from '../../src/platform/database/sql.ts'
import { startWorld, type World } from '../support/world.ts'

interface Shown {
  readonly to: string
  readonly status: string
  readonly created_at: string
  readonly sent_at: string | null
}

const pagesMax = 100

async function recipientsOf(api: Api, id: string): Promise<Shown[]> {
  const all: Shown[] = []
  let after = ''
  for (let page = 0; page < pagesMax; page++) {
    const { data, next_cursor } = (await api.get(`/v1/campaigns/${id}/recipients?limit=100${after}`)).body
    all.push(...data)
    if (next_cursor === null) break
    after = `&starting_after=${next_cursor}`
  }
  return all
}

/** For each window of ten seconds, starting every second. */
async function sentInTenSeconds(world: World, api: Api, id: string, began: number): Promise<number[]> {
  const times = (await recipientsOf(api, id)).flatMap(({ sent_at }) => (sent_at === null ? [] : [Date.parse(sent_at)]))
  const counts: number[] = []
  for (let from = began; from + 10_000 <= world.clock.now(); from += 1000)
    counts.push(times.filter((at) => from <= at && at < from + 10_000).length)
  return counts
}

const within5 = (counts: readonly number[], expected: number): void => {
  assert.ok(counts.length > 0)
  for (const count of counts)
    assert.ok(Math.abs(count - expected) <= Math.max(1, expected * 0.05), `${counts.join(' ')} for ${expected}`)
}

test('concurrent campaigns send at their own throttles, within 5 % over any ten seconds', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const rates = [1, 7, 20, 100]
  const ids: string[] = []
  for (const [i, throttle_per_second] of rates.entries())
    ids.push(
      (await launched(api, campaignTo(numbers(throttle_per_second * 20, i * 10_000), { throttle_per_second }))).id,
    )
  await world.settle('campaign-snapshots')
  const began = world.clock.now()

  await passFor(world, 14_000, 130)

  for (const [i, rate] of rates.entries()) within5(await sentInTenSeconds(world, api, ids[i]!, began + 1000), rate * 10)
})

test('a campaign is never faster than its channel, and several share the rate up to their throttles', async (t) => {
  const { world, api, channel } = await liveSms(t, { settings: { max_messages_per_second: 10 } })
  const { id: alone } = await launched(api, campaignTo(numbers(60), { channel, throttle_per_second: 100 }))
  await passFor(world, 9000)
  const ended = await readCampaign(api, alone)
  const began = world.clock.now()
  const modest = await launched(api, campaignTo(numbers(40, 100), { channel, throttle_per_second: 2 }))
  const greedy = await launched(api, campaignTo(numbers(200, 200), { channel, throttle_per_second: 100 }))
  const other = await launched(api, campaignTo(numbers(200, 500), { channel, throttle_per_second: 50 }))

  await passFor(world, 13_000)

  assert.equal(ended.status, 'completed')
  assert.ok(Date.parse(ended.completed_at) - Date.parse(ended.started_at) >= 5900, 'sixty at ten a second')
  within5(await sentInTenSeconds(world, api, modest.id, began + 1000), 20)
  within5(await sentInTenSeconds(world, api, greedy.id, began + 1000), 40)
  within5(await sentInTenSeconds(world, api, other.id, began + 1000), 40)
})

test('an API message is sent before waiting campaign messages of its channel', async (t) => {
  const { world, api, channel } = await liveSms(t, { settings: { max_messages_per_second: 2 } })
  const { id } = await launched(api, campaignTo(numbers(60), { channel }))
  await passFor(world, 5000)
  for (let i = 0; i < 6; i++)
    await api.post('/v1/messages', { channel, to: '+4915199999990', type: 'text', text: { body: 'Hi' } })
  await passFor(world, 1000)
  const { body: urgent } = await api.post('/v1/messages', {
    channel,
    to: '+4915199999999',
    type: 'text',
    text: { body: 'Your code' },
  })
  await passFor(world, 4000)

  const { sent_at } = (await api.get(`/v1/messages/${urgent.id}`)).body
  const after = (await recipientsOf(api, id)).filter(
    (recipient) => recipient.sent_at !== null && recipient.sent_at > urgent.created_at && recipient.sent_at < sent_at,
  )

  assert.notEqual(sent_at, null)
  assert.deepEqual(after, [])
})

test('nothing is sent outside of the window, and the status stays sending', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const schedule = (start: string, end: string) => ({ timezone: 'Europe/Berlin', send_window: { start, end } })
  const { id } = await launched(
    api,
    campaignTo(numbers(20), { throttle_per_second: 2, schedule: schedule('10:31', '10:32') }),
  )
  const { id: open } = await launched(
    api,
    campaignTo(numbers(200), { throttle_per_second: 2, schedule: schedule('00:00', '10:31') }),
  )
  await passFor(world, 59_900, 599)
  const before = await readCampaign(api, id)
  await world.clock.advance(Date.parse('2026-01-31T09:31:00Z') - world.clock.now())
  await passFor(world, 15_000)

  assert.deepEqual([before.status, before.counters.sent], ['sending', 0])
  const ended = await readCampaign(api, id)
  assert.deepEqual([ended.status, ended.counters.sent], ['completed', 20])
  const sent = (await recipientsOf(api, open)).flatMap((recipient) => recipient.sent_at ?? [])
  assert.ok(sent.length > 50 && sent.every((at) => at < '2026-01-31T09:31:00.500Z'))
  assert.equal((await readCampaign(api, open)).status, 'sending')
})

test("with recipient_timezone the window is in the contact's own zone, if known", async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const people = [
    { phone: '+4915112345670', timezone: 'Asia/Tokyo' },
    // the country does not determine the zone
    { phone: '+819012345678' },
    { phone: '+4915112345672', timezone: 'Europe/Berlin' },
    { phone: '+4915112345673', timezone: 'America/New_York' },
  ]
  for (const person of people) assert.equal((await api.post('/v1/contacts', { ...person, tags: ['all'] })).status, 201)
  const schedule = {
    timezone: 'Europe/Berlin',
    send_window: { start: '09:00', end: '17:00' },
    recipient_timezone: true,
  }
  const { id } = await launched(api, campaignTo([], { audience: { type: 'tags', tags: ['all'] }, schedule }))
  await passFor(world, 3000)
  const morning = await outcomesOf(api, id)
  await world.clock.advance(4.5 * 3600_000)
  await passFor(world, 3000)
  const noon = await outcomesOf(api, id)
  // the time zone database no longer has it
  await world.pool`update campaign_recipients set timezone = 'Mars/Olympus' where campaign_id = ${id} and status = 'pending'`
  await world.clock.advance(24 * 3600_000)
  await passFor(world, 3000)

  assert.deepEqual(morning, ['pending', 'delivered', 'delivered', 'pending'])
  assert.deepEqual(noon, ['pending', 'delivered', 'delivered', 'delivered'])
  assert.deepEqual(await outcomesOf(api, id), ['delivered', 'delivered', 'delivered', 'delivered'])
  assert.equal((await readCampaign(api, id)).status, 'completed')
})

test('two hundred campaigns that wait for a slow channel or their window cost a few statements a second', async (t) => {
  const { world, api, channel } = await liveSms(t, { settings: { max_messages_per_second: 1 } })
  const closed = { timezone: 'UTC', send_window: { start: '20:00', end: '21:00' } }
  for (let i = 0; i < 100; i++) {
    await launched(api, campaignTo(numbers(1, i), { channel, schedule: closed }))
    await launched(api, campaignTo(numbers(1, 1000 + i), { channel }))
  }
  await passFor(world, 3000)
  const statements = countStatements(world)

  for (let i = 0; i < 50; i++) {
    await world.tick('campaigns')
    await world.clock.advance(200)
  }

  assert.ok(statements() > 50, 'they are looked at')
  assert.ok(statements() <= 3 * 50, `${statements()} statements in ten seconds`)
})

/** Counts statements outside of transactions. */
function countStatements({ app }: World): () => number {
  let count = 0
  const platform = app.platform as { pool: Pool }
  platform.pool = new Proxy(platform.pool, {
    apply(target, self, parts) {
      const query = Reflect.apply(target, self, parts) as Promise<unknown>
      const sent = query.then.bind(query)
      Reflect.set(query, 'then', (...handlers: Parameters<typeof sent>) => {
        count++
        return sent(...handlers)
      })
      return query
    },
  })
  return () => count
}
