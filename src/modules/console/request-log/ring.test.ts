import type { FastifyReply, FastifyRequest } from 'fastify'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedInOwner } from '../../../../test/support/console-api.ts'
import type { Api } from '../../../../test/support/api.ts'
import { startPlatform, startWorld, type World } from '../../../../test/support/world.ts'
import { requestRing, type RequestRing } from './ring.ts'

const logged = async ({ pool }: World) => [
  ...(await pool<
    {
      id: string
      method: string
      path: string
      operation: string | null
      status: number
      code: string | null
      key_id: string
    }[]
  >`select id, method, path, operation, status, code, key_id from request_log order by id`),
]

test('refused requests and changes are logged with their status, reads and accepted sends are not', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const api = world.api(account)

  await api.get('/v1/messages')
  await api.post('/v1/messages', { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'Hello' } })
  const list = await api.post('/v1/contact_lists', { name: 'Customers' })
  const refused = await api.post('/v1/messages?secret=1', { type: 'text' })
  const unknown = await api.get('/v1/nothing?token=hidden')
  await world.tick('request-log')

  const rows = await logged(world)
  assert.deepEqual(
    rows.map(({ method, path, operation, status, code, key_id }) => ({
      method,
      path,
      operation,
      status,
      code,
      known: key_id === account.key_id,
    })),
    [
      {
        method: 'POST',
        path: '/v1/contact_lists',
        operation: 'contact_lists.create',
        status: 201,
        code: null,
        known: true,
      },
      {
        method: 'POST',
        path: '/v1/messages',
        operation: 'messages.send',
        status: 400,
        code: 'parameter_invalid',
        known: true,
      },
      { method: 'GET', path: '/v1/nothing', operation: null, status: 404, code: 'resource_missing', known: true },
    ].map((row, at) => ({ ...row, code: row.code === null ? null : [list, refused, unknown][at]!.body['error'].code })),
  )
  assert.deepEqual(
    rows.map(({ id }) => id),
    [list, refused, unknown].map(({ headers }) => headers['x-request-id']),
  )
})

test('requests without a valid key are not logged', async (t) => {
  const world = await startWorld(t)
  await world.api('svc_test_nobody').get('/v1/messages')
  await world.api().get('/v1/messages')
  await world.tick('request-log')
  assert.deepEqual(await logged(world), [])
})

test('a stopping process writes its buffer, and rows older than seven days are deleted', async (t) => {
  const world = await startWorld(t)
  const api = world.api(await world.account())
  await api.post('/v1/contact_lists', { name: 'Customers' })
  await world.app.services.operators.stop()
  assert.equal((await logged(world)).length, 1)

  await world.clock.advance(7 * 24 * 3600_000 + 1000)
  await world.periodicJobs()
  assert.equal((await logged(world)).length, 0)
})

test('a process that stops during a write writes each row once', async (t) => {
  const { platform, pool } = await startPlatform(t)
  const ring = requestRing(platform)
  for (let n = 0; n < 1_500; n++) note(ring, n)

  await Promise.all([ring.worker.tick(), ring.flush()])

  assert.deepEqual(
    [...(await pool`select count(*)::int as rows, count(distinct id)::int as ids from request_log`)],
    [{ rows: 1_500, ids: 1_500 }],
  )
})

async function statements(pool: World['pool']): Promise<number> {
  const [row] = await pool<{ count: number }[]>`select count(distinct xmin::text)::int as count from request_log`
  return row!.count
}

function note(ring: RequestRing, n: number): void {
  const caller = { account_id: 'acc_1', mode: 'live', key_id: 'key_1', user_id: null }
  const prepared = { route: { method: 'PATCH', operation: 'contacts.update' } }
  const request = {
    caller,
    prepared,
    id: `req_${n}`,
    method: 'PATCH',
    url: '/v1/contacts/ct_1?token=hidden',
    refused: null,
  }
  ring.note(request as unknown as FastifyRequest, { statusCode: 200, elapsedTime: 1.4 } as unknown as FastifyReply)
}

const unlogged = async ({ metrics }: World['platform']) => (await metrics.requests_unlogged.get()).values[0]!.value

test('a process buffers ten thousand requests; further ones are counted and dropped', async (t) => {
  const { platform, pool } = await startPlatform(t)
  const ring = requestRing(platform)
  for (let n = 0; n < 10_003; n++) note(ring, n)
  assert.equal(await unlogged(platform), 3)

  const before = await statements(pool)
  assert.equal(await ring.worker.tick(), 10_000)
  assert.equal((await statements(pool)) - before, 10)
  note(ring, 10_004)
  assert.equal(await ring.worker.tick(), 1)
  assert.equal(await unlogged(platform), 3)
  assert.deepEqual([ring.worker.pause_ms, ring.worker.poll_every_ms], [1000, 0])
})

test('the first twenty refusals of a second and key are whole, further ones are one row a code with a count', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const other = await world.account()
  const client = await signedInOwner(world)
  const refused = async (times: number, api: Api, path = '/v1/nothing') => {
    for (let n = 0; n < times; n++) await api.get(path)
  }
  const rows = async () => [
    ...(await world.pool<{ key_id: string | null; code: string; requests: number; rows: number }[]>`
      select key_id, code, sum(count)::int as requests, count(*)::int as rows
      from request_log
      where status >= 400
      group by key_id, code
      order by key_id, code`),
  ]

  await refused(25, account.api)
  await refused(5, account.api, '/v1/messages?limit=x')
  await refused(3, other.api)
  for (let n = 0; n < 22; n++) await client.send('GET', '/v1/messages?limit=x')
  await account.api.post('/v1/contact_lists', { name: 'A change' })
  await world.tick('request-log')
  const whole = await rows()
  await world.clock.advance(1_000)
  await refused(1, account.api)
  await world.tick('request-log')
  const counted = await rows()

  const order = [account.key_id, other.key_id].toSorted()
  const inOrder = (first: object[], second: object) =>
    order[0] === account.key_id ? [...first, second] : [second, ...first]
  const ofOther = { key_id: other.key_id, code: 'resource_missing', requests: 3, rows: 3 }
  assert.deepEqual(whole, [
    ...inOrder([{ key_id: account.key_id, code: 'resource_missing', requests: 20, rows: 20 }], ofOther),
    { key_id: null, code: 'parameter_invalid', requests: 20, rows: 20 },
  ])
  assert.deepEqual(counted, [
    ...inOrder(
      [
        { key_id: account.key_id, code: 'parameter_invalid', requests: 5, rows: 1 },
        { key_id: account.key_id, code: 'resource_missing', requests: 26, rows: 22 },
      ],
      ofOther,
    ),
    { key_id: null, code: 'parameter_invalid', requests: 22, rows: 21 },
  ])
  const { body } = await client.send('GET', '/requests?code=parameter_invalid&limit=1')
  assert.deepEqual([body.data[0].count, body.data[0].method], [2, 'GET'])
})

test('a stopping process writes the count of refusals of the running second', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  for (let n = 0; n < 30; n++) await api.get('/v1/nothing')
  await world.app.services.operators.stop()
  assert.deepEqual(
    [...(await world.pool`select count(*)::int as rows, sum(count)::int as requests from request_log`)],
    [{ rows: 21, requests: 30 }],
  )
})

test('an account that exceeds its size loses its oldest requests with the next write', async (t) => {
  const world = await startWorld(t, { settings: { request_log_bytes_max: 65_536 } })
  const { api } = await world.account()
  const neighbour = await world.account()
  await neighbour.api.post('/v1/contact_lists', { name: 'Theirs' })
  for (let n = 0; n < 120; n++) {
    await api.post('/v1/contact_lists', { name: `List ${n}` })
    if (n % 10 === 0) await world.clock.advance(1_000)
  }
  await world.tick('request-log')

  const bytes = await world.pool<{ bytes: number }[]>`
    select sum(bytes)::int as bytes from request_log_sizes group by account_id order by 1 desc`
  const rows = await logged(world)
  assert.ok(bytes[0]!.bytes <= 65_536 * 0.9 && bytes[0]!.bytes > 50_000, `${bytes[0]!.bytes} bytes`)
  assert.ok(rows.length > 80 && rows.length < 120, `${rows.length} rows`)
})

test('rows that could not be written are written once when the database is back', async (t) => {
  const world = await startWorld(t)
  const api = world.api(await world.account())
  await world.pool`alter table request_log add constraint refused check (false) not valid`
  await api.post('/v1/contact_lists', { name: 'Customers' })
  await assert.rejects(world.tick('request-log'))
  await world.pool`alter table request_log drop constraint refused`
  assert.equal(await world.tick('request-log'), 1)
  assert.equal(await world.tick('request-log'), 0)
  assert.equal((await logged(world)).length, 1)
})

test('the request log is searched by mode, method, code and ID, and shows no secrets', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const client = await signedInOwner(world)
  const foreign = await world.account()
  const message = { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'a secret' } }

  await client.send('POST', '/v1/messages', message)
  await client.send('POST', '/v1/messages/batch', { messages: [message] })
  await client.send('GET', '/v1/messages?reference=secret')
  await account.api.post('/v1/messages/batch', { messages: [message] })
  const list = await client.send('POST', '/v1/contact_lists', { name: 'secret' })
  const wrong = await account.api.post('/v1/messages', { ...message, channel: 'ch_secret' })
  const read = await account.api.get('/v1/messages/msg_01m7z10y8texgrjk0p9bvk2cq6')
  await foreign.api.post('/v1/contact_lists', { name: 'Theirs' })
  client.mode = 'live'
  const live = await client.send('POST', '/v1/contact_lists', { name: 'Live' })
  await world.tick('request-log')

  const me = (await client.send('GET', '/me')).body.id
  const ids = async (query: string) =>
    (await client.send('GET', `/requests${query}`)).body.data.map(({ id }: { id: string }) => id)
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-request-id']
  assert.deepEqual(await ids(''), [idOf(live)])
  assert.equal((await client.send('GET', `/requests/${idOf(list)}`)).status, 404)
  client.mode = 'test'
  assert.deepEqual(await ids(''), [read, wrong, list].map(idOf))
  assert.deepEqual(await ids('?refused=true'), [read, wrong].map(idOf))
  assert.deepEqual(await ids('?refused=false'), [idOf(list)])
  assert.deepEqual(await ids('?method=GET'), [idOf(read)])
  assert.deepEqual(await ids(`?code=${wrong.body.error.code}&method=POST`), [idOf(wrong)])
  assert.deepEqual(await ids(`?limit=1&starting_after=${idOf(read)}`), [idOf(wrong)])

  const { body: one } = await client.send('GET', `/requests/${idOf(list)}`)
  assert.deepEqual(one, {
    ...one,
    object: 'request',
    mode: 'test',
    method: 'POST',
    operation: 'contact_lists.create',
    status: 201,
    code: null,
    key_id: null,
    user_id: me,
  })
  const { body: other } = await client.send('GET', `/requests/${idOf(wrong)}`)
  assert.deepEqual(
    [other.path, other.status, other.code, other.key_id, other.user_id],
    ['/v1/messages', 404, 'resource_missing', account.key_id, null],
  )
  assert.ok(Number.isInteger(one.duration_ms))
  assert.doesNotMatch(JSON.stringify(await world.pool`select * from request_log`), /secret/)
})
