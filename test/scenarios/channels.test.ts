/** Connecting channels; limits on channels and endpoints (behaviour: channels 2, 3; webhooks 2). */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Answered } from '../support/api.ts'
import { startWorld } from '../support/world.ts'

const codeOf = (answer: Answered) => [answer.status, answer.body.error?.code]
const sender = (identifier: string, more: object = {}) => ({
  type: 'sms',
  provider: 'simulator',
  name: 'Sender',
  identifier,
  credentials: {},
  ...more,
})

test('a connected channel is shown without its credentials and reported as an event', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live' })

  const created = await api.post(
    '/v1/channels',
    sender('+15005550199', { credentials: { callback_secret: 'very-secret-indeed' } }),
  )
  const read = await api.get(`/v1/channels/${created.body.id}`)
  const listed = await api.get('/v1/channels')
  const events = await api.get('/v1/events?type=channel.connected')

  assert.equal(created.status, 201)
  assert.deepEqual(read.body, created.body)
  assert.deepEqual(listed.body.data, [created.body])
  assert.deepEqual([created.body.status, created.body.connection_status], ['active', 'connected'])
  assert.doesNotMatch(JSON.stringify([created.body, events.body]), /very-secret/)
  assert.deepEqual(
    events.body.data.map((event: { data: { object: { id: string } } }) => event.data.object.id),
    [created.body.id],
  )
})

test('refused credentials create nothing, and a duplicate sender is found before they are tested', async (t) => {
  const world = await startWorld(t)
  const one = await world.account({ mode: 'live' })
  const other = await world.account({ mode: 'live' })
  await one.api.post('/v1/channels', sender('+15005550199'))

  const refused = await one.api.post('/v1/channels', sender('+15005550198', { credentials: { refuse: true } }))
  const taken = await other.api.post('/v1/channels', sender('+15005550199', { credentials: { refuse: true } }))
  const listed = await one.api.get('/v1/channels')

  assert.deepEqual(
    [codeOf(refused), codeOf(taken)],
    [
      [422, 'upstream_rejected'],
      [409, 'channel_identifier_taken'],
    ],
  )
  assert.equal(listed.body.data.length, 1)
})

test('all errors of a new channel are reported at once', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live' })

  const refused = await api.post(
    '/v1/channels',
    sender('?', {
      credentials: { refuse: 'yes', callback_secret: 7 },
      settings: { max_messages_per_second: 0, mms: 'yes' },
    }),
  )

  assert.deepEqual(
    [refused.status, refused.body.error.code, refused.body.error.param],
    [400, 'parameter_invalid', 'identifier'],
  )
  assert.deepEqual(
    refused.body.error.details.map(({ param, code }: { param: string; code: string }) => `${param} ${code}`),
    [
      'identifier invalid_format',
      'credentials.refuse invalid_type',
      'credentials.callback_secret invalid_type',
      'settings.max_messages_per_second invalid_value',
      'settings.mms invalid_type',
    ],
  )
})

test('an unsupported channel type is refused by name, whatever else is missing', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live' })

  for (const type of ['messenger', 'instagram', 'viber', 'rcs', 'email', 'pigeon']) {
    const { status, body } = await api.post('/v1/channels', { type })
    assert.deepEqual([status, body.error.code], [400, 'parameter_invalid'], type)
    assert.ok(
      body.error.details.some(
        (detail: { param: string; code: string }) => detail.param === 'type' && detail.code === 'invalid_value',
      ),
      type,
    )
  }
})

test('a disabled channel accepts no message, and a deleted one does not exist', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const { body: channel } = await api.post('/v1/channels', sender('+15005550199'))
  const send = () =>
    api.post('/v1/messages', { channel: channel.id, to: '+19995550006', type: 'text', text: { body: 'Hi' } })

  await api.patch(`/v1/channels/${channel.id}`, { status: 'disabled' })
  const disabled = await send()
  await api.patch(`/v1/channels/${channel.id}`, { status: 'active' })
  const active = await send()
  const deleted = await api.delete(`/v1/channels/${channel.id}`)
  const gone = await send()
  const again = await api.delete(`/v1/channels/${channel.id}`)

  assert.deepEqual(
    [codeOf(disabled), codeOf(gone), codeOf(again)],
    [
      [422, 'channel_not_connected'],
      [404, 'resource_missing'],
      [404, 'resource_missing'],
    ],
  )
  assert.equal(active.status, 202)
  assert.deepEqual([deleted.status, deleted.body], [200, { id: channel.id, object: 'channel', deleted: true }])
})

test('credentials appear in clear text in no answer, event, database row or replayed answer', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live' })
  const secret = 'S3CRET-of-the-provider'
  const creation = sender('+15005550199', { credentials: { callback_secret: secret } })
  const key = { 'idempotency-key': 'connect-1' }

  const created = await api.post('/v1/channels', creation, key)
  const path = `/v1/channels/${created.body.id}`
  const answers = [
    created,
    await api.post('/v1/channels', creation, key),
    await api.post('/v1/channels', creation),
    await api.post('/v1/channels', sender('+15005550198', { credentials: { callback_secret: secret, refuse: true } })),
    await api.post('/v1/channels', sender('+15005550197', { credentials: { callback_secret: [secret] } })),
    await api.get(path),
    await api.get('/v1/channels'),
    await api.patch(path, { settings: { max_messages_per_second: 5 } }),
    await api.post(`${path}/reconnect`),
    await api.get('/v1/events'),
  ]
  const tables = await world.pool<
    { name: string }[]
  >`select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await world.pool.unsafe(
      `select 1 from ${name} x where x::text like '%${secret}%' or x::text like '%${Buffer.from(secret).toString('hex')}%' limit 1`,
    )
    if (rows.length > 0) found.push(name)
  }

  assert.deepEqual(answers.map(codeOf), [
    [201, undefined],
    [201, undefined],
    [409, 'channel_identifier_taken'],
    [422, 'upstream_rejected'],
    [400, 'parameter_invalid'],
    [200, undefined],
    [200, undefined],
    [200, undefined],
    [200, undefined],
    [200, undefined],
  ])
  assert.doesNotMatch(JSON.stringify(answers.map(({ body, headers }) => [body, headers])), new RegExp(secret))
  assert.deepEqual(found, [])
  await world.invariants()
})

test('an account has a limited number of webhook endpoints per mode, each with a public address', async (t) => {
  const world = await startWorld(t, { settings: { webhook_endpoint_limit: 1 } })
  const account = await world.account()
  const live = await world.services.accounts.createKey({ account_id: account.id, mode: 'live' })
  const endpoint = (url: string) => ({ url, events: ['*'] })

  const answers = [
    await account.api.post('/v1/webhook_endpoints', endpoint('http://example.com/')),
    await account.api.post('/v1/webhook_endpoints', endpoint('https://10.0.0.1/')),
    await account.api.post('/v1/webhook_endpoints', endpoint('https://example.com/')),
    await account.api.post('/v1/webhook_endpoints', endpoint('https://example.com/')),
    await world.api(live.key).post('/v1/webhook_endpoints', endpoint('https://example.com/')),
  ]

  assert.deepEqual(answers.map(codeOf), [
    [400, 'webhook_url_not_public'],
    [400, 'webhook_url_not_public'],
    [201, undefined],
    [400, 'webhook_endpoint_limit_reached'],
    [201, undefined],
  ])
})
