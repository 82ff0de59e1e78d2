/** Reported events and their receipts (behaviour: integrations 3.1, 3.3, 3.5, 3.7). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startProcess } from '../support/process.ts'
import { startWorld, type World } from '../support/world.ts'

const shipped = {
  type: 'order.shipped',
  event_id: 'shipped-1001',
  data: { order: { id: '1001', number: '#1001', total: '59.99' } },
}

async function shopWorld(t: TestContext, settings: object = {}) {
  const world = await startWorld(t)
  const account = await world.account()
  const source = (
    await account.api.post('/v1/integration_sources', { platform: 'woocommerce', external_id: 'shop.example.com' })
  ).body
  if (Object.keys(settings).length > 0) await account.api.patch(`/v1/integration_sources/${source.id}`, { settings })
  const report = (event: object, headers: Record<string, string> = {}) =>
    account.api.post('/v1/automation_events', { source: source.id, ...event }, headers)
  return { world, account, api: account.api, source, report }
}

const receiptsOf = async (world: World): Promise<number> => {
  const [row] = await world.pool<{ count: number }[]>`select count(*)::int as count from automation_events`
  return row!.count
}

test('an event without an automation is stored as ignored', async (t) => {
  const { world, api, source, report } = await shopWorld(t)

  const answer = await report({ ...shipped, occurred_at: '2026-01-31T10:30:00+01:00', customer: null, consent: null })
  const read = await api.get(`/v1/automation_events/${answer.body.id}`)
  const bare = await report({ type: 'custom.Quiz-done.2', event_id: 'x' })

  assert.equal(answer.status, 202)
  assert.deepEqual(answer.body, {
    id: answer.body.id,
    object: 'automation_event',
    mode: 'test',
    source_id: source.id,
    type: 'order.shipped',
    event_id: 'shipped-1001',
    origin: 'api',
    status: 'ignored',
    reason: 'no_automation',
    contact_id: null,
    runs: [],
    data: shipped.data,
    occurred_at: '2026-01-31T09:30:00.000Z',
    created_at: world.clock.iso(),
  })
  assert.deepEqual([read.status, read.body], [200, answer.body])
  assert.deepEqual([bare.status, bare.body.data, bare.body.occurred_at], [202, {}, world.clock.iso()])
  assert.equal((await api.get(`/v1/integration_sources/${source.id}`)).body.last_event_at, bare.body.created_at)
})

test('a repeated event is answered with the first receipt; the same event ID of another source is a new event', async (t) => {
  const { world, api, report } = await shopWorld(t)
  const other = (await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'other' })).body
  const first = await report(shipped)

  const again = await report({ ...shipped, data: {}, type: 'order.delivered' })
  const elsewhere = await report({ ...shipped, source: other.id })
  const read = await api.get(`/v1/automation_events/${first.body.id}`)

  assert.deepEqual([again.status, again.body], [200, { ...first.body, status: 'duplicate' }])
  assert.deepEqual([elsewhere.status, elsewhere.body.source_id], [202, other.id])
  assert.equal(read.body.status, 'ignored')
  assert.equal(await receiptsOf(world), 2)
})

test('an event reported many times at once to two processes has one receipt', async (t) => {
  const { world, account, api, source } = await shopWorld(t)
  const sibling = (await startProcess(t, world, 'sibling')).api(account.key)

  const answers = await Promise.all(
    Array.from({ length: 18 }, (_, n) =>
      (n % 2 === 0 ? api : sibling).post('/v1/automation_events', {
        source: source.id,
        ...shipped,
        event_id: `e${n % 3}`,
      }),
    ),
  )

  assert.deepEqual(answers.filter(({ status }) => status === 202).length, 3)
  assert.ok(answers.every(({ status }) => status === 202 || status === 200))
  assert.equal(new Set(answers.map(({ body }) => body.id)).size, 3)
  assert.equal(await receiptsOf(world), 3)
})

test('an Idempotency-Key is replayed before the event is looked up', async (t) => {
  const { world, report } = await shopWorld(t)

  const first = await report(shipped, { 'idempotency-key': 'k' })
  const replayed = await report(shipped, { 'idempotency-key': 'k' })
  const reused = await report({ ...shipped, event_id: 'other' }, { 'idempotency-key': 'k' })
  const again = await report(shipped, { 'idempotency-key': 'l' })
  const againReplayed = await report(shipped, { 'idempotency-key': 'l' })

  assert.deepEqual(
    [first.status, replayed.status, replayed.body, replayed.headers['idempotent-replayed']],
    [202, 202, first.body, 'true'],
  )
  assert.deepEqual([reused.status, reused.body.error.code], [409, 'idempotency_key_reused'])
  assert.deepEqual([again.status, again.body.status, 'idempotent-replayed' in again.headers], [200, 'duplicate', false])
  assert.deepEqual(
    [againReplayed.status, againReplayed.body, againReplayed.headers['idempotent-replayed']],
    [200, again.body, 'true'],
  )
  assert.equal(await receiptsOf(world), 1)
})

test('an invalid event is refused with every failure, and nothing is stored', async (t) => {
  const { world, report } = await shopWorld(t)
  const code = async (event: object) => {
    const { status, body } = await report(event)
    return [status, body.error.code, body.error.param]
  }

  const wrong = await report({
    type: 1,
    event_id: '',
    occurred_at: 'yesterday',
    customer: { phone: 5, tags: 'vip' },
    consent: { marketing: 'yes' },
    data: [],
  })

  assert.deepEqual(wrong.body.error.details.map(({ param }: { param: string }) => param).toSorted(), [
    'consent.marketing',
    'customer.phone',
    'customer.tags',
    'data',
    'event_id',
    'occurred_at',
    'type',
  ])
  assert.deepEqual(await code({ ...shipped, source: null }), [400, 'parameter_invalid', 'source'])
  assert.deepEqual(await code({ type: 'order.vanished', event_id: 'x' }), [400, 'parameter_invalid', 'type'])
  assert.deepEqual(await code({ type: 'custom.', event_id: 'x' }), [400, 'parameter_invalid', 'type'])
  assert.deepEqual(await code({ type: 'order.paid' }), [400, 'parameter_missing', 'event_id'])
  assert.deepEqual(await code({ type: 'order.paid', event_id: 'x'.repeat(256) }), [
    400,
    'parameter_invalid',
    'event_id',
  ])
  assert.deepEqual(await code({ ...shipped, data: { text: 'x'.repeat(256 * 1024) } }), [
    413,
    'payload_too_large',
    undefined,
  ])
  assert.equal((await report({ ...shipped, data: { text: 'x'.repeat(255 * 1024) } })).status, 202)
  assert.equal(await receiptsOf(world), 1)
})

test('a source that is disabled, unknown or of another account cannot report events', async (t) => {
  const { world, api, source, report } = await shopWorld(t)
  const stranger = await world.account()
  const live = await world.account({ mode: 'live' })
  const code = async (answer: ReturnType<typeof report>) => {
    const { status, body } = await answer
    return [status, body.error.code]
  }
  await report(shipped)

  await api.patch(`/v1/integration_sources/${source.id}`, { status: 'disabled' })
  const disabled = [await code(report(shipped)), await code(report({ ...shipped, event_id: 'new' }))]
  await api.patch(`/v1/integration_sources/${source.id}`, { status: 'active' })
  const enabled = await report(shipped)
  const foreign = [
    await code(stranger.api.post('/v1/automation_events', { source: source.id, ...shipped })),
    await code(live.api.post('/v1/automation_events', { source: source.id, ...shipped })),
    await code(report({ ...shipped, source: 'src_01kg9p6je0e6z9vsnhtbf6d24v' })),
    await code(report({ ...shipped, source: 'shop' })),
  ]

  assert.deepEqual(disabled, Array(2).fill([403, 'source_disabled']))
  assert.deepEqual([enabled.status, enabled.body.status], [200, 'duplicate'])
  assert.deepEqual(foreign, Array(4).fill([404, 'resource_missing']))
  assert.equal(await receiptsOf(world), 1)
})

test('receipts are listed newest first by source, type, status and time, and deleted with their source', async (t) => {
  const { world, api, source, report } = await shopWorld(t)
  const other = (await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'other' })).body
  const ids: string[] = []
  const times: string[] = []
  for (const [n, type] of ['order.paid', 'order.shipped', 'order.paid'].entries()) {
    ids.unshift((await report({ type, event_id: String(n), ...(n === 2 ? { source: other.id } : {}) })).body.id)
    times.unshift(world.clock.iso())
    await world.clock.advance(60_000)
  }
  const list = async (query: string) =>
    (await api.get(`/v1/automation_events${query}`)).body.data.map(({ id }: { id: string }) => id)

  const all = await api.get('/v1/automation_events?limit=2')

  assert.deepEqual(
    [all.body.data.map(({ id }: { id: string }) => id), all.body.has_more, all.body.next_cursor],
    [ids.slice(0, 2), true, ids[1]],
  )
  assert.deepEqual(await list(`?starting_after=${ids[1]}`), [ids[2]])
  assert.deepEqual(await list('?type=order.paid'), [ids[0], ids[2]])
  assert.deepEqual(await list(`?source=${source.id}&type=order.paid`), [ids[2]])
  assert.deepEqual(await list('?source=src_01kg9p6je0e6z9vsnhtbf6d24v'), [])
  assert.deepEqual(await list('?status=ignored&limit=1'), [ids[0]])
  assert.deepEqual([await list('?status=accepted'), await list('?status=duplicate')], [[], []])
  assert.deepEqual(await list(`?created_after=${times[2]}&created_before=${times[0]}`), [ids[1]])
  assert.deepEqual(await list(`?source=${source.id}&created_before=${times[1]}`), [ids[2]])
  for (const query of [
    'status=lost',
    'created_after=then',
    'starting_after=aev_01kg9p6je0e6z9vsnhtbf6d24v',
    'kind=order.paid',
  ])
    assert.deepEqual([(await api.get(`/v1/automation_events?${query}`)).status, query], [400, query])

  await api.delete(`/v1/integration_sources/${source.id}`)
  const left = await list(`?starting_after=${ids[0]}`)

  assert.deepEqual([await list(''), left], [[ids[0]], []])
  assert.equal((await api.get(`/v1/automation_events/${ids[1]}`)).status, 404)
  assert.equal((await report({ ...shipped, source: source.id })).status, 404)
  await world.periodicJobs()
  assert.equal(await receiptsOf(world), 1)
})

test('a page of receipts with much data ends before its limit, and the pages together contain all receipts', async (t) => {
  const { api, report } = await shopWorld(t)
  const ids: string[] = []
  for (let n = 0; n < 20; n++)
    ids.unshift(
      (await report({ type: 'order.paid', event_id: String(n), data: { text: 'x'.repeat(n === 10 ? 10 : 250_000) } }))
        .body.id,
    )

  const pages: { data: { id: string }[]; has_more: boolean; next_cursor: string | null }[] = []
  for (let cursor: string | null = ''; cursor !== null; cursor = pages.at(-1)!.next_cursor)
    pages.push(
      (await api.get(`/v1/automation_events?limit=100${cursor === '' ? '' : `&starting_after=${cursor}`}`)).body,
    )

  assert.deepEqual(
    pages.map(({ data, has_more }) => [data.length, has_more]),
    [
      [17, true],
      [3, false],
    ],
  )
  assert.deepEqual(
    pages.flatMap(({ data }) => data.map(({ id }) => id)),
    ids,
  )
})
