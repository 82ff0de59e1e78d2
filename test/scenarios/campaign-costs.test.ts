/** The cost of a campaign equals the ledger. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { campaignTo, eventsOf, launched, liveSms, numbers, passFor, readCampaign } from '../support/campaigns.ts'
import { effort } from '../support/effort.ts'

async function liveWorld(t: TestContext) {
  const { world, account, channel } = await liveSms(t, { credit_micros: 1 })
  const price = (await account.api.post('/v1/campaigns', campaignTo(numbers(1), { channel }))).body.cost
    .estimated_wallet_micros as number
  assert.ok(price > 0)
  const ledger = async (id: string) => {
    const signed = world.pool`case when e.credit = 'usage' then e.amount else -e.amount end`
    const [sums] = await world.pool<{ wallet_micros: number; package_credits: number }[]>`
      select coalesce(sum(${signed}) filter (where e.unit = 'usd_micros'), 0)::bigint as wallet_micros,
        coalesce(sum(${signed}) filter (where e.unit = 'credits'), 0)::bigint as package_credits
      from messages m join ledger_entries e on e.account_id = m.account_id and e.message_id = m.id
      where m.account_id = ${account.id} and m.mode = 'live' and m.origin_id = ${id}`
    return { ...sums! }
  }
  const fund = (micros: number) => world.services.billing.creditWallet(world.pool, account.id, micros, null)
  const grant = (credits: number) =>
    world.services.billing.grantPackage(world.pool, {
      account_id: account.id,
      credits,
      channel_types: ['sms'],
      expires_at: null,
      name: 'Some',
    })
  return { world, account, api: account.api, channel, price, ledger, fund, grant }
}

const shown = ({
  cost: { wallet_micros, package_credits },
}: {
  cost: { wallet_micros: number; package_credits: number }
}) => ({
  wallet_micros,
  package_credits,
})

test('credits are used before money, and refunds go back to where they came from', async (t) => {
  const { world, api, channel, price, ledger, fund, grant } = await liveWorld(t)
  await fund(100 * price)
  await grant(3)
  const failing = [{ to: '+19995550001' }, { to: '+19995550002' }]
  const { id, cost } = await launched(
    api,
    campaignTo([failing[0]!, ...numbers(4), failing[1]!], { channel, throttle_per_second: 1 }),
  )
  await passFor(world, 1500)
  const under = await readCampaign(api, id)
  await passFor(world, 10_000)

  const ended = await readCampaign(api, id)
  const completed = (await eventsOf(world, api, id)).at(-1)

  assert.deepEqual([cost.estimated_credits, cost.estimated_wallet_micros], [3, 3 * price])
  assert.ok(under.cost.package_credits < 3 && under.cost.wallet_micros === 0)
  assert.deepEqual([ended.status, ended.counters.sent, ended.counters.failed], ['completed', 4, 2])
  // the refunded credit pays for a later recipient
  assert.deepEqual(shown(ended), { package_credits: 3, wallet_micros: price })
  assert.deepEqual(shown(ended), await ledger(id))
  assert.equal(completed.type, 'campaign.completed')
  assert.deepEqual(shown(completed.data.object), shown(ended))
})

test('the cost of a campaign equals the ledger, whatever happens to its recipients and funds', async (t) => {
  const { world, api, channel, price, ledger, fund, grant } = await liveWorld(t)
  const kinds = ['+19995550001', '+19995550002', '+19995550005', '+19995550010', null, null, null] as const
  const plan = fc.record({
    recipients: fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 12 }),
    credits: fc.nat(6),
    messages: fc.nat(6),
    topUp: fc.boolean(),
    cancels: fc.boolean(),
  })
  let first = 0
  await fc.assert(
    fc.asyncProperty(plan, async ({ recipients, credits, messages, topUp, cancels }) => {
      first += 100
      if (credits > 0) await grant(credits)
      if (messages > 0) await fund(messages * price)
      const to = recipients.map((kind, i) => ({ to: kind ?? numbers(1, first + i)[0]!.to }))
      const { id } = await launched(
        api,
        campaignTo(to, { channel, throttle_per_second: 10, allow_insufficient_funds: true }),
      )
      await passFor(world, 900)
      if (topUp) {
        await fund(20 * price)
        await api.post(`/v1/campaigns/${id}/resume`)
      }
      if (cancels) await api.post(`/v1/campaigns/${id}/cancel`)
      await passFor(world, 1500)
      await world.settle('dispatch', 'callbacks', 'project-campaigns')

      assert.deepEqual(shown(await readCampaign(api, id)), await ledger(id))
    }),
    { numRuns: effort(4, 24) },
  )
  await world.invariants()
})

test('the cost is exact at every moment, also in events, however late counters are folded', async (t) => {
  const { world, api, channel, price, ledger, fund, grant } = await liveWorld(t)
  await fund(100 * price)
  await grant(2)
  const { id } = await launched(
    api,
    campaignTo([{ to: '+19995550001' }, ...numbers(5)], { channel, throttle_per_second: 100 }),
  )
  await world.settle('campaign-snapshots')
  for (let passed = 0; passed < 1000; passed += 100) {
    await world.tick('campaigns', 'dispatch', 'callbacks')
    await world.clock.advance(100)
  }

  const under = await readCampaign(api, id)
  assert.deepEqual([under.counters.sent, under.counters.failed], [5, 1])
  assert.deepEqual(shown(under), await ledger(id))
  assert.equal(under.cost.wallet_micros > 0, true)
  await api.post(`/v1/campaigns/${id}/pause`)
  const paused = (await eventsOf(world, api, id)).at(-1)
  assert.deepEqual([paused.type, shown(paused.data.object)], ['campaign.paused', shown(under)])
  await world.settle('project-campaigns')
  assert.deepEqual(shown(await readCampaign(api, id)), shown(under))
})
