/** Webhook deliveries in the console (behaviour: console-records 3). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedInOwner } from '../support/console-api.ts'
import { deliveries, message, advanceAndSettle, start, subscribe } from '../support/subscribing.ts'
import { until } from '../support/waiting.ts'

const code = (answer: { body: { error?: { code: string } } }) => answer.body.error?.code

test('a message shows the deliveries of its events to every endpoint', async (t) => {
  const { world, account, receiver } = await start(t)
  const client = await signedInOwner(world)
  const endpoints = [
    await subscribe(account, receiver),
    await subscribe(account, receiver, { events: ['message.delivered'] }),
  ]
  const sent = await account.api.post('/v1/messages', message())
  await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)

  const listed = await client.send('GET', `/messages/${sent.body.id}/deliveries`)
  assert.equal(listed.status, 200, JSON.stringify(listed.body))
  const all = (await Promise.all(endpoints.map(({ id }) => deliveries(account, id)))).flat()
  const ofMessage = new Set(
    receiver.received.filter(({ json }) => json.data.object.id === sent.body.id).map(({ json }) => json.id),
  )
  const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)
  assert.deepEqual(
    listed.body.data.toSorted(byId),
    all.filter(({ event_id }: { event_id: string }) => ofMessage.has(event_id)).toSorted(byId),
  )
  assert.equal(listed.body.data.length, 3)
  client.mode = 'live'
  assert.equal(code(await client.send('GET', `/messages/${sent.body.id}/deliveries`)), 'resource_missing')
})

test('deliveries of an endpoint are found however many newer ones were created and deleted', async (t) => {
  const { world, account, receiver } = await start(t)
  const client = await signedInOwner(world)
  const endpoint = await subscribe(account, receiver, { events: ['message.delivered'] })
  const sent = await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)
  await world.pool`
    insert into webhook_endpoints (account_id, mode, id, url, description, events, status, filters, metadata, created_by, secret, created_at, deleted_at)
    select account_id, mode, 'we_z' || n, url, '', events, 'disabled', '{}', '{}', created_by, '', created_at, created_at
    from webhook_endpoints, generate_series(1, 800) n`

  const [delivery] = await deliveries(account, endpoint.id)
  const listed = await client.send('GET', `/messages/${sent.body.id}/deliveries`)

  assert.equal(receiver.received.length, 1)
  assert.deepEqual(listed.body.data, [delivery])
})

test('a replayed delivery is pending until its attempt has ended', async (t) => {
  const { world, account, receiver } = await start(t, { webhook_retry_delays: [] })
  const client = await signedInOwner(world)
  receiver.always({ status: 500 })
  const endpoint = await subscribe(account, receiver, { events: ['message.delivered'] })
  await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)
  const progress = async () => {
    const { pending, failed } = (await client.send('GET', `/deliveries/retry?endpoint=${endpoint.id}`)).body
    return { pending, failed }
  }
  receiver.answerNext('hang')
  assert.equal((await client.send('POST', '/deliveries/retry', { endpoint: endpoint.id })).body.count, 1)
  assert.deepEqual(await progress(), { pending: 1, failed: 0 })
  const attempt = world.tick('deliver')
  await until(
    'the receiver to have it',
    () => receiver.received.length,
    (count) => count === 2,
  )
  assert.deepEqual(await progress(), { pending: 1, failed: 0 })
  await world.clock.advance(60_000)
  await attempt
  assert.deepEqual(await progress(), { pending: 0, failed: 1 })
})

test('failed deliveries are replayed at once, one attempt each, and counted before', async (t) => {
  const { world, account, receiver } = await start(t, { webhook_retry_delays: [] })
  const client = await signedInOwner(world)
  receiver.always({ status: 500 })
  const endpoint = await subscribe(account, receiver, { events: ['message.delivered'] })
  for (let n = 0; n < 3; n++) await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)
  const failed = await deliveries(account, endpoint.id, '?status=failed')
  assert.deepEqual([failed.length, receiver.received.length], [3, 3])
  const retry = async (more = {}) =>
    await client.send('POST', '/deliveries/retry', { endpoint: endpoint.id, status: 'failed', ...more })

  assert.deepEqual((await retry({ dry_run: true })).body, { object: 'delivery_retry', count: 3 })
  assert.equal(receiver.received.length, 3)
  receiver.answerNext({ status: 200 })
  assert.deepEqual((await retry()).body, { object: 'delivery_retry', count: 3 })
  assert.deepEqual((await retry()).body.count, 0)
  const progress = async (more = '') =>
    (await client.send('GET', `/deliveries/retry?endpoint=${endpoint.id}${more}`)).body
  const begun = await progress()
  assert.deepEqual(begun, {
    object: 'delivery_retry_progress',
    pending: 3,
    failed: 0,
    created_until: begun.created_until,
  })
  await advanceAndSettle(world, 10_000)
  // a later failure is not part of the replay
  await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)
  const ended = await progress(`&created_until=${begun.created_until}`)
  assert.deepEqual([ended.pending, ended.failed, ended.created_until], [0, 2, begun.created_until])
  assert.equal((await progress()).failed, 3)
  assert.equal(receiver.received.length, 7)
  assert.deepEqual(
    [
      (await deliveries(account, endpoint.id, '?status=delivered')).length,
      (await deliveries(account, endpoint.id, '?status=failed')).length,
    ],
    [1, 3],
  )

  const actions = (await client.send('GET', '/audit_entries')).body.data.map(({ action }: { action: string }) => action)
  assert.equal(actions.filter((action: string) => action === 'deliveries.retry').length, 2)
  await account.api.patch(`/v1/webhook_endpoints/${endpoint.id}`, { status: 'disabled' })
  const refused = await retry()
  assert.deepEqual([refused.status, code(refused)], [409, 'delivery_state_invalid'])
  assert.match(refused.body.error.message, /active/)
  client.mode = 'live'
  assert.equal(code(await retry()), 'resource_missing')
  await advanceAndSettle(world, 86_400_000)
  assert.equal(receiver.received.length, 7)
  await world.invariants()
})
