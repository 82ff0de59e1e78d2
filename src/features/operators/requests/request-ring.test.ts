/** The request log: what is in it, what never is, and what it costs those who answer: nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWorld, type World } from '../../../../test/kit/world.ts'

const logged = async ({ pool }: World) => [
  ...(await pool<
    { id: string; method: string; path: string; operation: string | null; status: number; code: string | null; key_id: string }[]
  >`select id, method, path, operation, status, code, key_id from request_log order by id`),
]

test('refusals and changes are logged with what they were answered, reads and accepted sends are not', async (t) => {
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
    rows.map(({ method, path, operation, status, code, key_id }) => ({ method, path, operation, status, code, known: key_id === account.key_id })),
    [
      { method: 'POST', path: '/v1/contact_lists', operation: 'contact_lists.create', status: 201, code: null, known: true },
      { method: 'POST', path: '/v1/messages', operation: 'messages.send', status: 400, code: 'parameter_invalid', known: true },
      { method: 'GET', path: '/v1/nothing', operation: null, status: 404, code: 'resource_missing', known: true },
    ].map((row, at) => ({ ...row, code: row.code === null ? null : [list, refused, unknown][at]!.body['error'].code })),
  )
  assert.deepEqual(
    rows.map(({ id }) => id),
    [list, refused, unknown].map(({ headers }) => headers['x-request-id']),
  )
})

test('what came without a valid key belongs to nobody and is not logged', async (t) => {
  const world = await startWorld(t)
  await world.api('svc_test_nobody').get('/v1/messages')
  await world.api().get('/v1/messages')
  await world.tick('request-log')
  assert.deepEqual(await logged(world), [])
})

test('a process that ends writes what it has noted, and what is seven days old is forgotten', async (t) => {
  const world = await startWorld(t)
  const api = world.api(await world.account())
  await api.post('/v1/contact_lists', { name: 'Customers' })
  await world.app.services.operators.stop()
  assert.equal((await logged(world)).length, 1)

  await world.clock.advance(7 * 24 * 3600_000 + 1000)
  await world.chores()
  assert.equal((await logged(world)).length, 0)
})
