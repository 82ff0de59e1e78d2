/** Webhook endpoints: fields, limits, errors, encrypted secrets, lists of deliveries. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWorld } from '../support/world.ts'

const url = 'https://203.0.113.7/hook'

test('an endpoint is created with its defaults, read, listed, changed and deleted', async (t) => {
  const world = await startWorld(t)
  const { api, key_id } = await world.account()

  const created = await api.post('/v1/webhook_endpoints', {
    url,
    events: ['message.sent', 'message.sent', 'webhook.test'],
  })
  const { secret, ...endpoint } = created.body
  const read = await api.get(`/v1/webhook_endpoints/${endpoint.id}`)
  const changed = await api.patch(`/v1/webhook_endpoints/${endpoint.id}`, {
    url: 'https://203.0.113.8/',
    events: ['*'],
    description: 'Shop',
    metadata: { a: [1] },
    filters: { channel_types: ['sms'], message_types: [] },
    verification_token: 'token-1234',
  })
  const cleared = await api.patch(`/v1/webhook_endpoints/${endpoint.id}`, {
    metadata: null,
    filters: null,
    verification_token: null,
  })
  const other = await api.post('/v1/webhook_endpoints', {
    url,
    events: ['*'],
    source: 'src_01kg9p6je0e6z9vsnhtbf6d24v',
  })
  const listed = await api.get('/v1/webhook_endpoints?limit=1')
  const deleted = await api.delete(`/v1/webhook_endpoints/${other.body.id}`)
  const rest = await api.get(`/v1/webhook_endpoints?starting_after=${other.body.id}`)

  assert.equal(created.status, 201)
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.deepEqual(endpoint, {
    id: endpoint.id,
    object: 'webhook_endpoint',
    mode: 'test',
    url,
    description: '',
    events: ['message.sent', 'webhook.test'],
    status: 'active',
    filters: {},
    metadata: {},
    source: null,
    created_by: { type: 'api_key', id: key_id },
    has_verification_token: false,
    created_at: world.clock.iso(),
  })
  assert.deepEqual(read.body, endpoint)
  assert.deepEqual(changed.body, {
    ...endpoint,
    url: 'https://203.0.113.8/',
    events: ['*'],
    description: 'Shop',
    metadata: { a: [1] },
    filters: { channel_types: ['sms'], message_types: [] },
    has_verification_token: true,
  })
  assert.deepEqual(
    [cleared.body.metadata, cleared.body.filters, cleared.body.has_verification_token, cleared.body.description],
    [{}, {}, false, 'Shop'],
  )
  assert.deepEqual(
    [listed.body.data[0].id, listed.body.has_more, listed.body.next_cursor],
    [other.body.id, true, other.body.id],
  )
  assert.equal(listed.body.data[0].source, 'src_01kg9p6je0e6z9vsnhtbf6d24v')
  assert.deepEqual(
    [deleted.status, deleted.body],
    [200, { id: other.body.id, object: 'webhook_endpoint', deleted: true }],
  )
  assert.equal((await api.delete(`/v1/webhook_endpoints/${other.body.id}`)).status, 404)
  assert.deepEqual(
    rest.body.data.map(({ id }: { id: string }) => id),
    [endpoint.id],
  )
  await world.invariants()
})

test('processes read an endpoint again after changes that affect deliveries only', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const { body } = await api.post('/v1/webhook_endpoints', { url, events: ['message.sent'] })
  const path = `/v1/webhook_endpoints/${body.id}`
  const version = async () =>
    (await world.pool`select version from webhook_endpoints where id = ${body.id}`)[0]!['version'] as number
  const versions = [await version()]
  for (const change of [
    { metadata: { a: 1 }, description: 'Shop' },
    { url, events: ['message.sent'], status: 'active', filters: {} },
    { url: 'https://203.0.113.8/' },
    { events: ['*'] },
    { filters: { channel_types: ['sms'] } },
    { verification_token: 'token-1234' },
    { status: 'disabled' },
    { status: 'active' },
  ]) {
    await api.patch(path, change)
    versions.push(await version())
  }
  await api.post(`${path}/roll_secret`, { expire_previous_in_seconds: 60 })
  versions.push(await version())

  assert.deepEqual(versions, [1, 1, 1, 2, 3, 4, 5, 6, 7, 8])
})

test('each invalid field is reported by name, before the url is checked', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const refusals: [object, string, string][] = [
    [{ url: 'http://127.0.0.1/', events: [] }, 'parameter_invalid', 'events'],
    [{ url, events: ['message.nope'] }, 'parameter_invalid', 'events[0]'],
    [{ url, events: ['*', 'message.sent'] }, 'parameter_invalid', 'events'],
    [{ url, events: '*' }, 'parameter_invalid', 'events'],
    [{ url }, 'parameter_missing', 'events'],
    [{ events: ['*'] }, 'parameter_missing', 'url'],
    [{ url: 'example.com/hook', events: ['*'] }, 'parameter_invalid', 'url'],
    [{ url: `https://example.com/${'x'.repeat(2048)}`, events: ['*'] }, 'parameter_invalid', 'url'],
    [{ url, events: ['*'], description: 'x'.repeat(501) }, 'parameter_invalid', 'description'],
    [{ url, events: ['*'], metadata: { x: 'y'.repeat(17_000) } }, 'parameter_invalid', 'metadata'],
    [{ url, events: ['*'], filters: { colour: ['red'] } }, 'parameter_invalid', 'filters.colour'],
    [{ url, events: ['*'], filters: { channel_types: ['pigeon'] } }, 'parameter_invalid', 'filters.channel_types[0]'],
    [{ url, events: ['*'], filters: { directions: 'inbound' } }, 'parameter_invalid', 'filters.directions'],
    [{ url, events: ['*'], verification_token: 'short' }, 'parameter_invalid', 'verification_token'],
    [{ url, events: ['*'], verification_token: 'line\nbreak' }, 'parameter_invalid', 'verification_token'],
    [{ url, events: ['*'], source: 'we_1' }, 'parameter_invalid', 'source'],
    [{ url: 'http://example.com/', events: ['*'], source: 'nope' }, 'parameter_invalid', 'source'],
    [{ url: 'http://example.com/', events: ['*'] }, 'webhook_url_not_public', 'url'],
    [{ url: 'https://localhost/', events: ['*'] }, 'webhook_url_not_public', 'url'],
    [{ url: 'https://0x7f.1/', events: ['*'] }, 'webhook_url_not_public', 'url'],
    [{ url: 'https://user@example.com/', events: ['*'] }, 'webhook_url_not_public', 'url'],
  ]

  for (const [body, code, param] of refusals) {
    const refused = await api.post('/v1/webhook_endpoints', body)
    assert.deepEqual(
      [refused.status, refused.body.error.code, refused.body.error.param],
      [400, code, param],
      JSON.stringify(body).slice(0, 100),
    )
  }
  const all = await api.post('/v1/webhook_endpoints', {
    url,
    events: ['*', '*'],
    description: 5,
    metadata: { x: 'y'.repeat(17_000) },
    source: 'nope',
  })
  assert.deepEqual(
    all.body.error.details.map((detail: { param: string }) => detail.param),
    ['description', 'events', 'metadata', 'source'],
  )
  const { body: endpoint } = await api.post('/v1/webhook_endpoints', { url, events: ['*'] })
  for (const [body, code] of [
    [{ status: 'paused' }, 'parameter_invalid'],
    [{ url: 'https://10.0.0.1/' }, 'webhook_url_not_public'],
    [{ events: ['*', '*'] }, 'parameter_invalid'],
  ] as const) {
    assert.equal(
      (await api.patch(`/v1/webhook_endpoints/${endpoint.id}`, body)).body.error.code,
      code,
      JSON.stringify(body),
    )
  }
})

test('the limit of endpoints per account and mode also applies to concurrent creations', async (t) => {
  const world = await startWorld(t, { settings: { webhook_endpoint_limit: 3 } })
  const { api } = await world.account()

  const made = await Promise.all(
    Array.from({ length: 8 }, () => api.post('/v1/webhook_endpoints', { url, events: ['*'] })),
  )
  const first = made.find(({ status }) => status === 201)!
  await api.delete(`/v1/webhook_endpoints/${first.body.id}`)

  assert.equal(made.filter(({ status }) => status === 201).length, 3)
  assert.ok(
    made
      .filter(({ status }) => status === 400)
      .every(({ body }) => body.error.code === 'webhook_endpoint_limit_reached'),
  )
  assert.equal((await api.post('/v1/webhook_endpoints', { url, events: ['*'] })).status, 201)
})

test('endpoints and deliveries of another account or mode are not found', async (t) => {
  const world = await startWorld(t)
  const [mine, other] = [await world.account(), await world.account()]
  const { body: endpoint } = await mine.api.post('/v1/webhook_endpoints', { url, events: ['*'] })
  const tested = await mine.api.post(`/v1/webhook_endpoints/${endpoint.id}/test`)
  const path = `/v1/webhook_endpoints/${endpoint.id}`

  for (const id of ['we_nope', 'msg_01kg9p6je0e6z9vsnhtbf6d24v', '%20'])
    assert.equal((await mine.api.get(`/v1/webhook_endpoints/${id}`)).status, 404)
  for (const [method, suffix] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/roll_secret'],
    ['POST', '/test'],
    ['GET', '/deliveries'],
    ['GET', `/deliveries/${tested.body.id}`],
    ['POST', `/deliveries/${tested.body.id}/retry`],
  ] as const) {
    const answered = await other.api.send(
      method,
      path + suffix,
      { 'content-type': 'application/json' },
      method === 'PATCH' ? '{}' : undefined,
    )
    assert.deepEqual([answered.status, answered.body.error?.code], [404, 'resource_missing'], `${method} ${suffix}`)
  }
  assert.equal(
    (await other.api.get(`/v1/webhook_endpoints?starting_after=${endpoint.id}`)).body.error.param,
    'starting_after',
  )
})

test('secrets are encrypted and never listed, and a replayed creation shows the same secret', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const body = { url, events: ['*'], verification_token: 'token-of-mine' }

  const created = await api.post('/v1/webhook_endpoints', body, { 'idempotency-key': 'k' })
  const replayed = await api.post('/v1/webhook_endpoints', body, { 'idempotency-key': 'k' })
  await api.post(
    `/v1/webhook_endpoints/${created.body.id}/roll_secret`,
    { expire_previous_in_seconds: 60 },
    { 'idempotency-key': 'k' },
  )

  assert.deepEqual(replayed.body, created.body)
  assert.equal((await api.get('/v1/webhook_endpoints')).body.data.length, 1)
  const stored = JSON.stringify([
    await world.pool`select * from webhook_endpoints`,
    await world.pool`select * from idempotency_keys`,
  ])
  assert.ok(!stored.includes('whsec_') && !stored.includes('token-of-mine'))
  assert.equal(
    (await api.post(`/v1/webhook_endpoints/${created.body.id}/roll_secret`, { expire_previous_in_seconds: 86_401 }))
      .body.error.param,
    'expire_previous_in_seconds',
  )
})

test('deliveries are listed newest first, filtered by status and paged without gaps', async (t) => {
  const world = await startWorld(t, { settings: { webhook_retry_delays: [] } })
  const { api } = await world.account()
  const receiver = world.receiver()
  receiver.always((request) => ({ status: Number(request.json.data.object.metadata?.n ?? 0) % 3 === 0 ? 500 : 200 }))
  const { body: endpoint } = await api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['message.sent'] })
  for (let n = 1; n <= 9; n++) {
    await api.post('/v1/messages', {
      channel: 'ch_test_sms',
      to: '+15005550005',
      type: 'text',
      text: { body: 'Hi' },
      metadata: { n },
    })
    await world.clock.advance(1_000)
    await world.settle()
  }
  const path = `/v1/webhook_endpoints/${endpoint.id}/deliveries`

  const all = (await api.get(path)).body.data as { id: string; status: string }[]
  const failed = (await api.get(`${path}?status=failed`)).body.data as { id: string }[]
  const paged: string[] = []
  for (let next: string | null = ''; next !== null;) {
    const { body } = await api.get(`${path}?limit=2${next === '' ? '' : `&starting_after=${next}`}`)
    paged.push(...body.data.map(({ id }: { id: string }) => id))
    next = body.next_cursor
  }

  assert.equal(all.length, 9)
  assert.deepEqual(
    all.map(({ id }) => id),
    all
      .map(({ id }) => id)
      .toSorted()
      .toReversed(),
  )
  assert.deepEqual(
    failed.map(({ id }) => id),
    all.filter(({ status }) => status === 'failed').map(({ id }) => id),
  )
  assert.equal(failed.length, 3)
  assert.equal((await api.get(`${path}?status=delivered`)).body.data.length, 6)
  assert.deepEqual(
    paged,
    all.map(({ id }) => id),
  )
  assert.deepEqual((await api.get(`${path}?status=pending`)).body.data, [])
  assert.equal((await api.get(`${path}?status=lost`)).body.error.param, 'status')
  assert.equal(
    (await api.get(`${path}?starting_after=whd_01kg9p6je0e6z9vsnhtbf6d24v`)).body.error.param,
    'starting_after',
  )
  await world.periodicJobs()
  await world.invariants()
})
