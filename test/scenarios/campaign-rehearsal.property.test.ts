/** Property test: a launch does what its rehearsal predicted. */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { Campaign, CampaignRehearsal } from '../../src/api/resources/campaign.ts'
import type { Api } from '../support/api.ts'
import { startWorld, type World } from '../support/world.ts'
import { effort, isFull } from '../support/effort.ts'

const workers = ['campaign-snapshots', 'campaigns', 'dispatch', 'callbacks', 'project-campaigns']
const lookMs = 100
const looksMax = 1000

const phones = Array.from({ length: 14 }, (_, i) => `+49151123456${String(70 + i)}`)
const phone = fc.constantFrom(...phones)
const consent = fc.option(fc.constantFrom('opted_in', 'opted_out', 'unknown'), { nil: undefined })

const contact = fc.record({
  phone: fc.option(phone, { nil: null, freq: 8 }),
  consent,
  blocked: fc.integer({ min: 0, max: 4 }).map((of) => of === 4),
  first_name: fc.option(fc.constantFrom('Ada', 'Grace'), { nil: null }),
  timezone: fc.option(fc.constantFrom('Europe/Vienna', 'Asia/Tokyo', 'America/New_York'), { nil: null }),
  tags: fc.subarray(['a', 'b']),
  listed: fc.boolean(),
  gone: fc.integer({ min: 0, max: 4 }).map((of) => of === 4),
})

const recipient = fc.record(
  {
    to: fc.oneof(
      { weight: 8, arbitrary: phone },
      { weight: 1, arbitrary: fc.constantFrom('nobody', '4915112345670', '+1') },
    ),
    first_name: fc.constantFrom('Alan', ''),
  },
  { requiredKeys: ['to'] },
)

const audience = fc.oneof(
  fc.record({
    type: fc.constant('adhoc' as const),
    recipients: fc.array(recipient, { minLength: 1, maxLength: 25 }),
    save_as_contacts: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('tags' as const),
    tags: fc.constantFrom(['a'], ['a', 'b']),
    match: fc.constantFrom('any', 'all'),
  }),
  fc.record({ type: fc.constant('list' as const) }),
  fc.record({ type: fc.constant('segment' as const), value: fc.constantFrom('a', 'b') }),
)

const scenario = fc.record({
  contacts: fc.array(contact, { maxLength: 16 }),
  audience,
  require_opt_in: fc.boolean(),
  body: fc.constantFrom('Hello', 'Hello {{first_name}}', '{{first_name}}'),
  fallback: fc.boolean(),
  consent_declared: fc.integer({ min: 0, max: 9 }).map((of) => of < 9),
  throttle: fc.constantFrom(1, 3, 20, 100),
  window: fc.option(fc.constantFrom(['09:30', '09:31'], ['10:00', '12:00'], ['18:00', '10:30'], ['08:00', '08:00']), {
    nil: null,
  }),
  own_timezones: fc.boolean(),
  send_in_s: fc.option(fc.constantFrom(0, 45, 7200), { nil: null }),
  price: fc.constantFrom(0, 1, 7500, 7501),
  wallet: fc.constantFrom(1, 30_000, 10_000_000),
  packages: fc.array(fc.record({ credits: fc.integer({ min: 1, max: 6 }), fits: fc.boolean() }), { maxLength: 3 }),
})
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never

test('a launch skips, costs, starts and ends as its rehearsal predicted', async (t) => {
  const world = await startWorld(t)
  const seen = new Set<string>()
  let runs = 0

  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const { api, channel } = await accountFor(world, given, runs++)
      const id = await draftOf(world, api, channel, given)
      const reported: CampaignRehearsal = (await api.post(`/v1/campaigns/${id}/rehearse`)).body
      assert.equal(reported.object, 'campaign_rehearsal', JSON.stringify(reported))

      const launched = await api.post(`/v1/campaigns/${id}/launch`, {})
      const failed = reported.checks.find(({ ok }) => !ok)
      assert.equal(launched.body.error?.code, failed?.code)
      seen.add(failed?.code ?? (launched.status === 200 ? 'launched' : 'refused'))
      if (launched.status !== 200) return

      const campaign = await untilEnded(world, api, id)
      assert.deepEqual(await happened(api, campaign), {
        recipients_count: reported.recipients_count,
        would_send: reported.would_send,
        would_skip: reported.would_skip,
        cost: reported.cost,
      })
      const times = await sentTimes(api, id)
      assert.deepEqual([times === null, times === null], [reported.starts_at === null, reported.ends_at === null])
      if (times === null) return
      const stepMs = Math.max(1000 / given.throttle, lookMs)
      assert.ok(
        Math.abs(times.first - Date.parse(reported.starts_at!)) <= stepMs,
        `starts ${new Date(times.first).toISOString()}, reported ${reported.starts_at}`,
      )
      assert.ok(
        Math.abs(times.last - Date.parse(reported.ends_at!)) <= stepMs,
        `ends ${new Date(times.last).toISOString()}, reported ${reported.ends_at}`,
      )
      seen.add(given.window === null ? 'at once' : 'in a window')
    }),
    { numRuns: effort(12, 80), seed: 11 },
  )

  await world.invariants()
  // a short run does not reach every case
  const expected = isFull
    ? ['launched', 'consent_required', 'insufficient_balance', 'at once', 'in a window']
    : ['launched']
  for (const one of expected) assert.ok(seen.has(one), `no run came to: ${one}`)
})

async function accountFor(world: World, { wallet, price, packages, contacts }: Scenario, nth: number) {
  const { billing } = world.services
  const { id: account_id, api } = await world.account({ mode: 'live', credit_micros: wallet })
  await billing.prices.setPrice(world.pool, account_id, 'sms', price)
  for (const { credits, fits } of packages)
    await billing.grantPackage(world.pool, {
      account_id,
      name: 'P',
      channel_types: fits ? ['sms'] : ['telegram'],
      credits,
      expires_at: null,
    })
  const channel: string = (
    await api.post('/v1/channels', {
      type: 'sms',
      provider: 'simulator',
      name: 'S',
      identifier: `+1500${5_550_000 + nth}`,
      credentials: {},
    })
  ).body.id
  const { id: list } = (await api.post('/v1/contact_lists', { name: 'listed' })).body
  for (const [i, { consent: status, listed, gone, phone: number, ...fields }] of contacts.entries()) {
    const address = number === null ? { email: `${i}@example.com` } : { phone: number }
    const made = await api.post('/v1/contacts', {
      ...fields,
      ...address,
      ...(status === undefined ? {} : { consent: { sms: status } }),
    })
    if (made.status !== 201) continue
    if (listed) await api.post(`/v1/contact_lists/${list}/members`, { contacts: [made.body.id] })
    if (gone) await api.delete(`/v1/contacts/${made.body.id}`)
  }
  return { api, channel }
}

async function draftOf(world: World, api: Api, channel: string, given: Scenario): Promise<string> {
  const { window, own_timezones, send_in_s } = given
  const made = await api.post('/v1/campaigns', {
    name: 'Sale',
    channel,
    audience: await audienceOf(api, given.audience),
    message: { type: 'text', text: { body: given.body } },
    merge_fallbacks: given.fallback ? { first_name: 'friend' } : {},
    require_opt_in: given.require_opt_in,
    consent_declared: given.consent_declared,
    throttle_per_second: given.throttle,
    schedule: {
      send_at: send_in_s === null ? null : world.clock.iso(send_in_s * 1000),
      send_window: window === null ? null : { start: window[0], end: window[1] },
      recipient_timezone: own_timezones,
    },
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return made.body.id
}

async function audienceOf(api: Api, given: Scenario['audience']): Promise<object> {
  if (given.type === 'list') return { type: 'list', list_id: (await api.get('/v1/contact_lists')).body.data[0].id }
  if (given.type !== 'segment') return given
  const rules = { match: 'all', conditions: [{ field: 'tags', operator: 'contains_any', value: [given.value] }] }
  return { type: 'segment', segment_id: (await api.post('/v1/segments', { name: 'S', rules })).body.id }
}

async function untilEnded(world: World, api: Api, id: string): Promise<Campaign> {
  await world.settle('campaign-snapshots')
  for (let looks = 0; looks < looksMax; looks++) {
    await world.tick(...workers)
    const campaign: Campaign = (await api.get(`/v1/campaigns/${id}`)).body
    if (campaign.status === 'completed') return campaign
    assert.notEqual(campaign.status, 'paused')
    const [job] = await world.pool<
      { next_run_at: string }[]
    >`select next_run_at from campaign_jobs where campaign_id = ${id}`
    const wait = job === undefined ? 0 : Date.parse(job.next_run_at) - world.clock.now()
    await world.clock.advance(Math.max(lookMs, wait))
    if (campaign.counters.total === 0) await world.settle('campaign-snapshots')
  }
  return assert.fail('the campaign did not end')
}

async function happened(api: Api, { id, counters, cost }: Campaign) {
  const { data } = (await api.get(`/v1/campaigns/${id}/recipients?status=failed&limit=100`)).body
  const would_skip: Record<string, number> = { ...counters.skip_reasons }
  for (const { error } of data) would_skip[error.code] = (would_skip[error.code] ?? 0) + 1
  return {
    recipients_count: counters.total,
    would_send: counters.sent,
    would_skip,
    cost: { package_credits: cost.package_credits, wallet_micros: cost.wallet_micros },
  }
}

async function sentTimes(api: Api, id: string): Promise<{ first: number; last: number } | null> {
  const { data } = (await api.get('/v1/messages?limit=100')).body
  const times = data
    .filter(({ origin }: { origin: { id: string | null } }) => origin.id === id)
    .map((message: { created_at: string }) => Date.parse(message.created_at))
  return times.length === 0 ? null : { first: Math.min(...times), last: Math.max(...times) }
}
