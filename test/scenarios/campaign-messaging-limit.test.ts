/** WhatsApp's limit of recipients in 24 hours, in launches and rehearsals. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import type { Api } from '../support/api.ts'
import { closing } from '../support/closing.ts'
import { campaignTo, launched, numbers, passFor, readCampaign } from '../support/campaigns.ts'
import { startProcess } from '../support/process.ts'
import { startWhatsapp } from '../support/simulators/whatsapp.ts'
import { approvedTemplate } from '../support/whatsapp-world.ts'
import { startWorld } from '../support/world.ts'
import { effort } from '../support/effort.ts'

const dayMs = 24 * 3600_000
const sale = approvedTemplate('sale', { id: '7', components: [{ type: 'BODY', text: 'A sale.' }] })
const message = { type: 'template', template: { name: 'sale', language: { code: 'en_US' } } }

async function whatsappWorld(t: TestContext) {
  const graph = await startWhatsapp()
  closing(t, () => graph.close())
  graph.templates.push(sale)
  const world = await startWorld(t, {
    settings: { provider_urls: { POSTHORN_WHATSAPP_GRAPH_URL: graph.url }, rate_limit_default: 100_000 },
  })
  const shop = async (messaging_limit: number) => {
    const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000_000 })
    const made = await api.post('/v1/channels', {
      type: 'whatsapp',
      provider: 'whatsapp_cloud',
      name: 'Shop',
      credentials: graph.credentials,
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const channel: string = made.body.id
    const limit = async (recipients: number) => {
      const { status } = await api.patch(`/v1/channels/${channel}`, { settings: { messaging_limit: recipients } })
      assert.equal(status, 200)
    }
    await limit(messaging_limit)
    const to = (recipients: readonly object[], more: object = {}) =>
      campaignTo(recipients, { channel, message, ...more })
    const close = async () => void (await api.delete(`/v1/channels/${channel}`))
    return { api, limit, to, close }
  }
  return { world, graph, shop }
}

const draftOf = async (api: Api, body: object): Promise<string> =>
  (await api.post('/v1/campaigns', { consent_declared: true, ...body })).body.id

async function launchOf(api: Api, id: string) {
  const { checks } = (await api.post(`/v1/campaigns/${id}/rehearse`)).body
  const reported = checks.find(({ code }: { code: string }) => code === 'campaign_limit_exceeded')
  const { status, body } = await api.post(`/v1/campaigns/${id}/launch`)
  assert.equal(reported.ok, body.error?.code !== 'campaign_limit_exceeded', JSON.stringify([reported, body]))
  if (!reported.ok) assert.deepEqual([status, body.error.message], [400, reported.message])
  return reported.ok ? status : reported.message
}

const standing = async (api: Api, id: string) => {
  const { status, pause_reason, counters } = await readCampaign(api, id)
  return [status, pause_reason, counters.sent, counters.queued]
}

test('writing again to recipients of the last 24 hours does not count towards the messaging limit', async (t) => {
  const { world, shop } = await whatsappWorld(t)
  const { api, to, limit } = await shop(10)
  const ids = []
  for (const recipients of [10, 10, 110, 110]) {
    await limit(recipients)
    ids.push((await launched(api, to(numbers(8)))).id)
    await passFor(world, 1500)
  }

  for (const id of ids) assert.deepEqual(await standing(api, id), ['completed', null, 8, 0])
})

test('with the limit used up, recent recipients still get a message, and others wait for the next day', async (t) => {
  const { world, shop } = await whatsappWorld(t)
  const { api, to, limit } = await shop(20)
  await launched(api, to(numbers(8)))
  await passFor(world, 2000)
  const { id } = await launched(api, to([...numbers(4, 100), ...numbers(8)]))
  await limit(9)
  await passFor(world, 3000)

  const paused = await standing(api, id)
  await world.clock.advance(dayMs)
  await api.post(`/v1/campaigns/${id}/resume`)
  await passFor(world, 2000)

  assert.deepEqual(paused, ['paused', 'messaging_limit_reached', 9, 3])
  assert.deepEqual(await standing(api, id), ['completed', null, 12, 0])
})

test('a launch counts recipients of the last 24 hours and new ones in its audience', async (t) => {
  const { world, shop } = await whatsappWorld(t)
  const { api, to, limit } = await shop(10)
  const { id: list } = (await api.post('/v1/contact_lists', { name: 'All' })).body
  const rules = { match: 'all', conditions: [{ field: 'tags', operator: 'contains', value: 'all' }] }
  const { id: segment } = (await api.post('/v1/segments', { name: 'All', rules })).body
  const people = [...numbers(3), ...numbers(6, 100)]
  for (const { to: phone } of people) {
    const { body } = await api.post('/v1/contacts', { phone, tags: ['all'] })
    await api.post(`/v1/contact_lists/${list}/members`, { contacts: [body.id] })
  }
  await launched(api, to(numbers(5)))
  await passFor(world, 2000)
  const audiences = [
    { type: 'adhoc', recipients: people },
    { type: 'list', list_id: list },
    { type: 'tags', tags: ['all'] },
    { type: 'segment', segment_id: segment },
  ]

  for (const audience of audiences) {
    const refused = await launchOf(api, await draftOf(api, to([], { audience })))
    assert.match(
      String(refused),
      /would go to 6 recipients whom it has not written to in the last 24 hours, where it has written to 5,.* 10 in 24 hours/,
      audience.type,
    )
  }
  // five and six fit into eleven, and a day later into ten
  const later = await draftOf(
    api,
    to([], { audience: audiences[3], schedule: { send_at: world.clock.iso(dayMs + 60_000) } }),
  )
  assert.equal(await launchOf(api, later), 200)
  await limit(11)
  for (const audience of audiences) {
    const id = await draftOf(api, to([], { audience }))
    assert.equal(await launchOf(api, id), 200, audience.type)
    await passFor(world, 2000)
    assert.deepEqual(await standing(api, id), ['completed', null, 9, 0])
  }
})

test('two processes that send on one channel respect its limit together', async (t) => {
  const { world, shop } = await whatsappWorld(t)
  const { api, to } = await shop(30)
  const other = await startProcess(t, world, 'other')
  const { id: one } = await launched(api, to(numbers(25), { throttle_per_second: 100 }))
  const { id: two } = await launched(api, to(numbers(25, 100), { throttle_per_second: 100 }))
  await world.settle('campaign-snapshots')
  await world.pool`update campaign_jobs set process_id = case when campaign_id = ${one} then process_id else 'other' end, lease_until = ${world.clock.iso(600_000)}`
  await other.app.worker('heartbeat').tick()
  await world.tick('heartbeat')

  for (let look = 0; look < 60; look++) {
    await Promise.all([world.app.worker('campaigns').tick(), other.app.worker('campaigns').tick()])
    await world.tick('dispatch', 'callbacks', 'project-campaigns')
    await world.clock.advance(100)
  }

  const both = [await readCampaign(api, one), await readCampaign(api, two)]
  assert.equal(both[0].counters.sent + both[1].counters.sent, 30)
  assert.ok(both.some(({ pause_reason }) => pause_reason === 'messaging_limit_reached'))
  for (const { status, counters } of both) assert.equal(status, counters.queued === 0 ? 'completed' : 'paused')
})

const scenario = fc.record({
  limit: fc.integer({ min: 1, max: 14 }),
  before: fc.subarray(Array.from({ length: 10 }, (_, i) => i)),
  now: fc.subarray(
    Array.from({ length: 14 }, (_, i) => i),
    { minLength: 1 },
  ),
  blocked: fc.subarray([1, 3, 11]),
  hours: fc.constantFrom(0, 1, 25),
  kind: fc.constantFrom('adhoc', 'tags', 'segment'),
})

test('a launch follows the limit that the rehearsal predicted, and the launched campaign completes', async (t) => {
  const { world, shop } = await whatsappWorld(t)
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const { api, to, limit, close } = await shop(1000)
      const person = (i: number) => numbers(1, i)[0]!
      if (given.before.length > 0) await launched(api, to(given.before.map(person), { throttle_per_second: 100 }))
      await passFor(world, 1000)
      await world.clock.advance(given.hours * 3600_000)
      await limit(given.limit)
      const id = await draftOf(
        api,
        to(given.now.map(person), { throttle_per_second: 100, ...(await contactsFor(api, given)) }),
      )

      const launch = await launchOf(api, id)

      const today = given.hours < 24 ? given.before : []
      const sent = given.now.filter((i) => !given.blocked.includes(i))
      const added = sent.filter((i) => !today.includes(i)).length
      const fits = added === 0 || today.length + added <= given.limit
      await passFor(world, 1500)
      const ended = await standing(api, id)
      await close()
      assert.equal(launch === 200, fits, `${JSON.stringify(given)} ${launch}`)
      seen.add(`${given.kind} ${fits}`)
      if (fits) assert.deepEqual(ended, ['completed', null, sent.length, 0])
    }),
    { numRuns: effort(5, 32), seed: 16 },
  )
  assert.equal(seen.size, effort(5, 6), [...seen].join())
})

async function contactsFor(
  api: Api,
  { kind, now, blocked }: { kind: string; now: number[]; blocked: number[] },
): Promise<object> {
  for (const i of new Set([...now, ...blocked])) {
    const tags = now.includes(i) ? ['all'] : []
    if (kind !== 'adhoc' || blocked.includes(i))
      await api.post('/v1/contacts', { phone: numbers(1, i)[0]!.to, tags, blocked: blocked.includes(i) })
  }
  if (kind === 'adhoc') return {}
  if (kind === 'tags') return { audience: { type: 'tags', tags: ['all'] } }
  const rules = { match: 'all', conditions: [{ field: 'tags', operator: 'contains', value: 'all' }] }
  const { id } = (await api.post('/v1/segments', { name: 'All', rules })).body
  return { audience: { type: 'segment', segment_id: id } }
}
