/** The largest campaigns slow down only their own account (behaviour: campaigns 3, 7). */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { request } from 'undici'
import { campaignTo, numbers, passFor } from '../support/campaigns.ts'
import { until } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'

/** Filled in with nearly as many characters as a content object may have. */
const heavyMessage = { type: 'text', text: { body: 'Hi {{first_name}}', more: 'a {{first_name}} b'.repeat(550) } }
const merge_fallbacks = { first_name: 'x'.repeat(100) }

async function startTest(t: TestContext) {
  const world = await startWorld(t)
  const { id: account_id, api, key } = await world.account()
  return { world, account_id, api, key }
}

async function addContacts(world: World, account_id: string, count: number): Promise<void> {
  await world.pool`
    insert into contacts (account_id, mode, id, phone, phone_key, tags, labels, created_at, updated_at)
    select ${account_id}, 'test', 'ct_' || lpad(i::text, 26, '0'), '+4915' || (100000000 + i), '+4915' || (100000000 + i), '{a}', '{t:a}', ${world.clock.iso(-1000)}, ${world.clock.iso(-1000)}
    from generate_series(1, ${count}::int) i`
}

/** About 20 on an idle machine; rendering a thousand recipients at once takes several times as long. */
const longestAllowedMs = 100

/** The longest CPU time in milliseconds for which `work` blocked the event loop. */
async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  const now = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let last = now()
  let longest = 0
  const look = () => {
    const at = now()
    longest = Math.max(longest, at - last)
    last = at
    timer = setImmediate(look)
  }
  let timer = setImmediate(look)
  try {
    await work()
  } finally {
    clearImmediate(timer)
  }
  return longest
}

test('a message with too many tags or characters is refused when it is saved', async (t) => {
  const { api } = await startTest(t)
  const refusal = async (more: object) => {
    const { status, body } = await api.post('/v1/campaigns', campaignTo(numbers(1), more))
    return [
      status,
      ...(body.error?.details ?? []).map(({ param, code }: { param: string; code: string }) => `${param} ${code}`),
    ]
  }
  const text = (z: string) => ({ message: { type: 'text', text: { body: 'Hi', z } } })

  assert.deepEqual(await refusal(text('{{first_name}}'.repeat(60_000))), [400, 'message too_long'])
  assert.deepEqual(await refusal(text('{{phone}}'.repeat(1001))), [400, 'message too_many'])
  assert.deepEqual(await refusal({ merge_fallbacks: { first_name: 'x'.repeat(100_000) } }), [
    400,
    'merge_fallbacks too_long',
  ])
  assert.deepEqual(await refusal(text('{{phone}}'.repeat(1000))), [201])
})

test('rehearsing, testing and sending the largest message does not block other requests', async (t) => {
  const { world, account_id, api } = await startTest(t)
  await addContacts(world, account_id, 3000)
  const { id } = (
    await api.post(
      '/v1/campaigns',
      campaignTo([], { audience: { type: 'tags', tags: ['a'] }, message: heavyMessage, merge_fallbacks }),
    )
  ).body
  const given = Array.from({ length: 9000 }, (_, i) => ({ ...numbers(1, i)[0], variables: { a: i } }))
  const adhoc = (await api.post('/v1/campaigns', campaignTo(given, { message: heavyMessage, merge_fallbacks }))).body
  const took: Record<string, number> = {}
  const measure = async (name: string, work: () => Promise<{ status: number }>, status: number) => {
    took[name] = await longestTurnMs(async () => assert.equal((await work()).status, status, name))
  }

  await measure('rehearse', () => api.post(`/v1/campaigns/${id}/rehearse`), 200)
  await measure(
    'rehearse as CSV',
    () => api.post(`/v1/campaigns/${id}/rehearse`, undefined, { accept: 'text/csv' }),
    200,
  )
  await measure('rehearse ad hoc', () => api.post(`/v1/campaigns/${adhoc.id}/rehearse`), 200)
  await measure('test', () => api.post(`/v1/campaigns/${id}/test`, { to: '+4915112345678' }), 202)
  await measure('update', () => api.patch(`/v1/campaigns/${adhoc.id}`, { message: heavyMessage }), 200)
  await measure('duplicate', () => api.post(`/v1/campaigns/${adhoc.id}/duplicate`, {}), 201)
  await measure('launch', () => api.post(`/v1/campaigns/${adhoc.id}/launch`, { consent_declared: true }), 200)
  took['snapshot'] = await longestTurnMs(() => world.settle('campaign-snapshots'))
  took['send'] = await longestTurnMs(() => passFor(world, 1000))
  await measure('recipients as CSV', () => api.get(`/v1/campaigns/${adhoc.id}/recipients`, { accept: 'text/csv' }), 200)

  for (const [name, ms] of Object.entries(took))
    assert.ok(ms < longestAllowedMs, `${name} held the thread for ${ms} ms`)
})

test('a long rehearsal ends after ten seconds with advice, or when its client disconnects', async (t) => {
  const { world, account_id, api, key } = await startTest(t)
  await addContacts(world, account_id, 30_000)
  const { id } = (
    await api.post(
      '/v1/campaigns',
      campaignTo([], { audience: { type: 'tags', tags: ['a'] }, message: heavyMessage, merge_fallbacks }),
    )
  ).body
  const readsAre = (count: number) =>
    until(
      `${count} reads to be under way`,
      () => world.platform.reads.use().in_use,
      (inUse) => inUse === count,
    )

  let answer: Awaited<ReturnType<typeof api.post>> | undefined
  const asked = api.post(`/v1/campaigns/${id}/rehearse`).then((answered) => (answer = answered))
  await until(
    'ten seconds to have passed since it began',
    async () => await world.clock.advance(10_000),
    () => answer !== undefined,
  )
  const { status, body } = await asked
  assert.deepEqual([status, body.error?.code], [503, 'upstream_unavailable'])
  assert.match(body.error.message, /10 seconds.*fewer merge tags/)

  const away = new AbortController()
  const left = request(`${world.base_url}/v1/campaigns/${id}/rehearse`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    signal: away.signal,
  }).catch(() => null)
  await readsAre(1)
  away.abort()
  await left
  await readsAre(0)
})
