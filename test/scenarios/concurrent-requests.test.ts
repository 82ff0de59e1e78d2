/** Concurrent requests never wait for each other's connections. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { requestExample } from '../../src/docs/openapi.ts'
import { poolUse } from '../../src/platform/database/pool.ts'
import { campaignTo, launched, liveSms, numbers, readCampaign } from '../support/campaigns.ts'
import { within } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'

const atOnce = 40

test('more concurrent keyed requests than connections are all answered', async (t) => {
  const world = await startWorld(t)
  const callers = { live: await world.account({ mode: 'live' }), test: await world.account() }
  const { body: contact } = await callers.test.api.post('/v1/contacts', { phone: '+4915112345678' })
  const { body: message } = await callers.test.api.post('/v1/messages', {
    channel: 'ch_test_sms',
    to: '+15005550006',
    type: 'text',
    text: { body: 'x' },
  })
  const { body: list } = await callers.test.api.post('/v1/contact_lists', { name: 'L' })
  const { body: endpoint } = await callers.test.api.post('/v1/webhook_endpoints', {
    url: 'https://example.com/',
    events: ['*'],
  })
  const idOf = (path: string): string =>
    path.startsWith('/v1/contact_lists')
      ? list.id
      : path.startsWith('/v1/messages')
        ? message.id
        : path.startsWith('/v1/webhook')
          ? endpoint.id
          : contact.id

  // other tests cover requests that wait for a delivery attempt
  const routes = world.app.routes.filter(
    (route) => route.method === 'POST' && route.streamed !== true && !/\/(test|retry)$/.test(route.path),
  )
  for (const route of routes) {
    const path = route.path.replaceAll(/\{\w+\}/g, () => idOf(route.path))
    const body = route.body === undefined ? undefined : requestExample(route)
    const answers = await Promise.all(
      Array.from({ length: atOnce }, (_, i) =>
        callers[route.mode ?? 'test'].api.post(path, body, { 'idempotency-key': `${route.path} ${i}` }),
      ),
    )
    const failed = answers.filter((answer) => answer.status >= 500)
    assert.deepEqual(
      failed.map((answer) => answer.body),
      [],
      route.path,
    )
  }
})

/** Longer than prices and channels are cached. */
const grownOldMs = 60_000

test('one of many concurrent resumes of a live campaign succeeds with a single connection, and the others are refused', async (t) => {
  const { world, api, channel } = await liveSms(t)
  const { id } = await launched(api, campaignTo(numbers(1), { channel }))
  await api.post(`/v1/campaigns/${id}/pause`)
  await world.clock.advance(grownOldMs)

  const answers = await withOneConnection(world, () =>
    Promise.all(Array.from({ length: atOnce }, () => api.post(`/v1/campaigns/${id}/resume`))),
  )

  const counted = Object.groupBy(answers, ({ status, body }) => `${status} ${body.error?.code ?? body.status}`)
  assert.deepEqual(Object.fromEntries(Object.entries(counted).map(([what, all]) => [what, all!.length])), {
    '200 sending': 1,
    '409 campaign_state_invalid': atOnce - 1,
  })
})

test('the audience of a live campaign is counted with one free connection, also with expired caches', async (t) => {
  const { world, api, channel } = await liveSms(t)
  const { id } = await launched(api, campaignTo(numbers(3), { channel }))
  await api.post('/v1/contacts', { phone: '+4915112345678', tags: ['vip'] })
  const tagged = await launched(api, campaignTo([], { channel, audience: { type: 'tags', tags: ['vip'] } }))
  await world.clock.advance(grownOldMs)

  await withOneConnection(world, () => world.settle('campaign-snapshots'))

  const totals = [(await readCampaign(api, id)).counters.total, (await readCampaign(api, tagged.id)).counters.total]
  assert.deepEqual(totals, [3, 1])
})

async function withOneConnection<T>(world: World, work: () => Promise<T>): Promise<T> {
  const { in_use, max } = poolUse(world.pool)
  const held = await Promise.all(Array.from({ length: max - in_use - 1 }, () => world.pool.reserve()))
  try {
    return await within('work on one connection', work())
  } finally {
    for (const connection of held) connection.release()
  }
}
