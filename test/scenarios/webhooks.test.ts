/** Webhook endpoints and the delivery of events (behaviour: webhooks 2, 4, 5, 6, 7). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import Stripe from 'stripe'
import { recordEvents } from '../../src/platform/events/outbox.ts'
import { signedInOwner } from '../support/console-api.ts'
import { holdOpen } from '../support/open-transactions.ts'
import { deliveries, message, advanceAndSettle, start, subscribe } from '../support/subscribing.ts'
import type { Receiver } from '../support/receiver.ts'
import { until } from '../support/waiting.ts'

const fullSchedule = [30, 120, 600, 1800, 7200, 21_600, 43_200, 86_400]

test('every change of a message reaches the endpoint, signed over the raw body', async (t) => {
  const { world, account, receiver } = await start(t)
  const endpoint = await subscribe(account, receiver)

  const sent = await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)

  // separate connections may arrive in any order
  assert.deepEqual(receiver.received.map(({ json }) => json.type as string).toSorted(), [
    'message.delivered',
    'message.sent',
  ])
  for (const { headers, body, json } of receiver.received) {
    assert.equal(json.data.object.id, sent.body.id)
    assert.deepEqual([json.object, json.mode], ['event', 'test'])
    assert.equal(headers['service-event-id'], json.id)
    assert.equal(headers['service-event-type'], json.type)
    assert.equal(headers['user-agent'], 'Service-Webhooks/1.0')
    assert.equal(headers['content-type'], 'application/json')
    const at = Number(/^t=(\d+),v1=[0-9a-f]{64}$/.exec(headers['service-signature'] as string)![1])
    const event = Stripe.webhooks.constructEvent(
      body,
      headers['service-signature'] as string,
      endpoint.secret,
      300,
      undefined,
      at * 1000,
    )
    assert.equal(event.id, json.id)
  }
  const [second, first] = await deliveries(account, endpoint.id)
  assert.deepEqual(
    [first.event_type, first.status, first.attempts, first.response_status, first.error, first.next_attempt_at],
    ['message.sent', 'delivered', 1, 200, null, null],
  )
  assert.equal(second.object, 'webhook_delivery')
  const delivered = receiver.received.find(({ headers }) => headers['service-event-id'] === first.event_id)
  assert.deepEqual((await account.api.get(`/v1/events/${first.event_id}`)).body, delivered?.json)
  await world.invariants()
})

test('a failing delivery is retried eight times at the documented delays, with the same body and a fresh signature', async (t) => {
  const { world, account, receiver } = await start(t)
  receiver.always({ status: 500 })
  const endpoint = await subscribe(account, receiver, { events: ['message.delivered'] })
  await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)
  const bodies = () => new Set(receiver.received.map(({ body }) => body))
  const [first] = await deliveries(account, endpoint.id)
  assert.deepEqual([first.status, first.attempts, first.error], ['pending', 1, 'status_500'])

  for (const [index, delay] of fullSchedule.entries()) {
    const attempted = world.clock.now()
    const next = Date.parse((await deliveries(account, endpoint.id))[0].next_attempt_at)
    assert.ok(
      next >= attempted + delay * 1000 && next <= attempted + delay * 1000 + Math.min(delay * 100, 5_000),
      `delay ${index}`,
    )
    await advanceAndSettle(world, next - attempted - 1)
    assert.equal(receiver.received.length, index + 1, `before delay ${index}`)
    await advanceAndSettle(world, 1)
    assert.equal(receiver.received.length, index + 2, `after delay ${index}`)
  }
  await advanceAndSettle(world, 7 * 86_400_000)

  assert.equal(receiver.received.length, 9)
  assert.equal(bodies().size, 1)
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['service-signature'])).size, 9)
  const [last] = await deliveries(account, endpoint.id, '?status=failed')
  assert.deepEqual(
    [last.status, last.attempts, last.response_status, last.error, last.next_attempt_at],
    ['failed', 9, 500, 'status_500', null],
  )
  await world.invariants()
})

test('an endpoint receives subscribed and filtered events of its mode from its creation on', async (t) => {
  const { world, account } = await start(t)
  const [delivered, filtered, all] = [world.receiver(), world.receiver(), world.receiver()]
  await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)
  const live = await world.account({ mode: 'live' })
  const foreign = world.receiver()
  await subscribe(live, foreign)
  await subscribe(account, delivered, { events: ['message.delivered', 'message.failed'] })
  await subscribe(account, filtered, { filters: { channel_types: ['whatsapp'], directions: [] } })
  await subscribe(account, all, {
    filters: { channel_types: ['sms'], directions: ['outbound'], channels: ['ch_test_sms', 'ch_test_whatsapp'] },
  })

  await account.api.post('/v1/messages', message())
  await account.api.post('/v1/messages', { ...message('+15005550006'), channel: 'ch_test_whatsapp' })
  await advanceAndSettle(world, 10_000)

  const types = (receiver: Receiver) => receiver.received.map(({ json }) => json.type as string).toSorted()
  assert.deepEqual(types(delivered), ['message.delivered', 'message.delivered'])
  assert.ok(filtered.received.length >= 2)
  assert.ok(filtered.received.every(({ json }) => json.data.object.channel_type === 'whatsapp'))
  assert.deepEqual(types(all), ['message.delivered', 'message.sent'])
  assert.deepEqual(foreign.received, [])
})

test('events of a disabled endpoint are never sent, and pending deliveries are dropped', async (t) => {
  const { world, account, receiver } = await start(t)
  receiver.always({ status: 503 })
  const endpoint = await subscribe(account, receiver, { events: ['message.delivered'] })
  await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)

  const disabled = await account.api.patch(`/v1/webhook_endpoints/${endpoint.id}`, { status: 'disabled' })
  const [dropped] = await deliveries(account, endpoint.id)
  await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)
  receiver.always({ status: 200 })
  receiver.received.length = 0
  await account.api.patch(`/v1/webhook_endpoints/${endpoint.id}`, { status: 'active' })
  await advanceAndSettle(world, 86_400_000)
  assert.deepEqual(receiver.received, [])
  await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)

  assert.equal(disabled.body.status, 'disabled')
  assert.deepEqual([dropped.status, dropped.error, dropped.attempts], ['failed', 'endpoint_disabled', 1])
  assert.equal(receiver.received.length, 1)
  await world.invariants()
})

test('fifty failures in a row disable an endpoint, and the owner gets an e-mail', async (t) => {
  const { world, account, receiver } = await start(t)
  await world.services.accounts.update(account.id, { owner_email: 'owner@example.com' })
  receiver.always({ status: 500 })
  const endpoint = await subscribe(account, receiver, { events: ['message.delivered'] })
  for (let i = 0; i < 60; i++) await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)
  assert.equal(receiver.received.length, 5)
  const statuses: string[] = []

  for (let second = 0; second < 50; second++) {
    const before = receiver.received.length
    await advanceAndSettle(world, 1_000)
    assert.ok(receiver.received.length - before <= 1)
    statuses.push((await account.api.get(`/v1/webhook_endpoints/${endpoint.id}`)).body.status)
  }

  assert.equal(receiver.received.length, 50)
  assert.equal(statuses.at(-1), 'disabled')
  assert.deepEqual(await deliveries(account, endpoint.id, '?status=pending'), [])
  const emails = await world.pool`select recipient, subject, body from emails where account_id = ${account.id}`
  assert.equal(emails.length, 1)
  assert.equal(emails[0]!['recipient'], 'owner@example.com')
  assert.match(emails[0]!['body'] as string, new RegExp(endpoint.id))
  await world.invariants()
})

test('each owner of an account gets an e-mail about a disabled endpoint', async (t) => {
  const { world, account, receiver } = await start(t, { webhook_disable_after: 3 })
  await signedInOwner(world)
  receiver.always({ status: 500 })
  const endpoint = await subscribe(account, receiver, { events: ['message.delivered'] })
  for (let i = 0; i < 3; i++) await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)

  assert.equal((await account.api.get(`/v1/webhook_endpoints/${endpoint.id}`)).body.status, 'disabled')
  const emails = await world.pool<
    { recipient: string }[]
  >`select recipient from emails where subject like 'A webhook endpoint was disabled%'`
  assert.deepEqual(
    emails.map(({ recipient }) => recipient),
    ['owner@example.com'],
  )
})

test('one success closes the circuit breaker and resets the count', async (t) => {
  const { world, account, receiver } = await start(t, { webhook_disable_after: 8 })
  receiver.always({ status: 500 })
  const endpoint = await subscribe(account, receiver, { events: ['message.delivered'] })
  for (let i = 0; i < 12; i++) await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)
  await advanceAndSettle(world, 1_000)
  receiver.always({ status: 200 })

  await advanceAndSettle(world, 1_000)
  await advanceAndSettle(world, 1_000)
  const after = receiver.received.length
  receiver.always({ status: 500 })
  for (let i = 0; i < 7; i++) await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 5_000)

  assert.ok(after >= 12, `the rest followed at once: ${after}`)
  assert.equal((await account.api.get(`/v1/webhook_endpoints/${endpoint.id}`)).body.status, 'active')
  await world.invariants()
})

test('a test event is delivered to its endpoint only and answered with the delivery; a disabled endpoint receives nothing', async (t) => {
  const { world, account, receiver } = await start(t)
  const other = world.receiver()
  const endpoint = await subscribe(account, receiver, {
    events: ['campaign.started'],
    verification_token: 'token-1234',
  })
  await subscribe(account, other)

  const tested = await account.api.post(`/v1/webhook_endpoints/${endpoint.id}/test`)
  await world.settle()
  await account.api.patch(`/v1/webhook_endpoints/${endpoint.id}`, { status: 'disabled' })
  const refused = await account.api.post(`/v1/webhook_endpoints/${endpoint.id}/test`)

  assert.equal(tested.status, 200)
  assert.deepEqual(
    [tested.body.object, tested.body.status, tested.body.attempts, tested.body.event_type, tested.body.response_status],
    ['webhook_delivery', 'delivered', 1, 'webhook.test', 200],
  )
  assert.match(tested.body.id, /^whd_/)
  assert.equal(receiver.received.length, 1)
  assert.equal(receiver.received[0]!.headers['service-verification-token'], 'token-1234')
  assert.equal(receiver.received[0]!.json.data.object.id, endpoint.id)
  assert.equal(receiver.received[0]!.json.data.object.secret, undefined)
  assert.deepEqual(other.received, [])
  assert.deepEqual([refused.body.status, refused.body.error, refused.body.attempts], ['failed', 'endpoint_disabled', 0])
  await world.invariants()
})

test('a failed test is retried like any other delivery', async (t) => {
  const { world, account, receiver } = await start(t)
  const endpoint = await subscribe(account, receiver)
  receiver.answerNext({ status: 500 })

  const tested = await account.api.post(`/v1/webhook_endpoints/${endpoint.id}/test`)
  await advanceAndSettle(world, 35_000)

  assert.deepEqual([tested.body.status, tested.body.attempts, tested.body.error], ['pending', 1, 'status_500'])
  assert.equal(receiver.received.length, 2)
  assert.equal((await deliveries(account, endpoint.id))[0].status, 'delivered')
})

test('attempts on request during a short outage do not disable an endpoint, scheduled ones do', async (t) => {
  const { world, account, receiver } = await start(t, { webhook_disable_after: 8 })
  const endpoint = await subscribe(account, receiver)
  receiver.always({ status: 500 })
  const status = async () => (await account.api.get(`/v1/webhook_endpoints/${endpoint.id}`)).body.status

  for (let n = 0; n < 10; n++) await account.api.post(`/v1/webhook_endpoints/${endpoint.id}/test`)
  assert.deepEqual([receiver.received.length, await status()], [10, 'active'])

  for (let second = 0; second < 40; second++) await advanceAndSettle(world, 1_000)
  assert.deepEqual([receiver.received.length, await status()], [13, 'disabled'])
})

test('an ended delivery can be retried once on request, and a pending one is 409', async (t) => {
  const { world, account, receiver } = await start(t, { webhook_retry_delays: [30] })
  receiver.always({ status: 500 })
  const endpoint = await subscribe(account, receiver, { events: ['message.delivered'] })
  await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)
  const [delivery] = await deliveries(account, endpoint.id)
  const path = `/v1/webhook_endpoints/${endpoint.id}/deliveries/${delivery.id}/retry`
  const tooEarly = await account.api.post(path)
  await advanceAndSettle(world, 40_000)

  const failedAgain = await account.api.post(path)
  receiver.always({ status: 201 })
  const delivered = await account.api.post(path, undefined, { 'idempotency-key': 'once' })
  const replayed = await account.api.post(path, undefined, { 'idempotency-key': 'once' })

  assert.deepEqual([tooEarly.status, tooEarly.body.error.code], [409, 'delivery_state_invalid'])
  assert.deepEqual(
    [failedAgain.status, failedAgain.body.status, failedAgain.body.attempts, failedAgain.body.next_attempt_at],
    [200, 'failed', 3, null],
  )
  assert.deepEqual(
    [delivered.body.status, delivered.body.attempts, delivered.body.response_status],
    ['delivered', 4, 201],
  )
  assert.equal(replayed.headers['idempotent-replayed'], 'true')
  assert.equal(receiver.received.length, 4)
  assert.equal((await account.api.post(path.replace(delivery.id, 'whd_nope'))).status, 404)
  await world.invariants()
})

test('a delivery shows no next attempt during a test or retry on request', async (t) => {
  const { world, account, receiver } = await start(t, { webhook_retry_delays: [30] })
  const endpoint = await subscribe(account, receiver, { events: ['campaign.started'] })
  const path = `/v1/webhook_endpoints/${endpoint.id}`
  const answeredEarly = async (asked: string) => {
    receiver.received.length = 0
    receiver.answerNext('hang')
    const answer = account.api.post(asked)
    await until('the receiver to have it', () => receiver.received.length === 1)
    await world.clock.advance(5_000)
    return (await answer).body
  }

  const tested = await answeredEarly(`${path}/test`)
  const [listed] = await deliveries(account, endpoint.id)
  await world.clock.advance(5_000)
  await until('the attempt to have ended', async () => (await deliveries(account, endpoint.id))[0].attempts === 1)
  const [waiting] = await deliveries(account, endpoint.id)
  receiver.always({ status: 500 })
  await advanceAndSettle(world, 40_000)
  const retried = await answeredEarly(`${path}/deliveries/${tested.id}/retry`)

  assert.deepEqual([tested.status, tested.attempts, tested.next_attempt_at], ['pending', 0, null])
  assert.deepEqual(listed, tested)
  assert.deepEqual([waiting.status, waiting.error], ['pending', 'timeout'])
  assert.ok(Date.parse(waiting.next_attempt_at) > Date.parse(waiting.created_at) + 30_000)
  assert.deepEqual(
    [retried.status, retried.attempts, retried.error, retried.next_attempt_at],
    ['pending', 2, 'status_500', null],
  )
  assert.deepEqual((await account.api.get(`${path}/deliveries/${tested.id}`)).body, retried)
})

test('a new secret signs at once, and during an overlap both do', async (t) => {
  const { world, account, receiver } = await start(t)
  const endpoint = await subscribe(account, receiver)
  const verify = (index: number, secret: string) => {
    const { body, headers } = receiver.received[index]!
    const signature = headers['service-signature'] as string
    try {
      return Stripe.webhooks.constructEvent(body, signature, secret, 300, undefined, world.clock.now()) !== undefined
    } catch {
      return false // thrown for a wrong signature
    }
  }
  const rolled = await account.api.post(`/v1/webhook_endpoints/${endpoint.id}/roll_secret`)
  await account.api.post(`/v1/webhook_endpoints/${endpoint.id}/test`)
  const overlapping = await account.api.post(`/v1/webhook_endpoints/${endpoint.id}/roll_secret`, {
    expire_previous_in_seconds: 60,
  })
  await account.api.post(`/v1/webhook_endpoints/${endpoint.id}/test`)
  const first = [verify(0, endpoint.secret), verify(0, rolled.body.secret)]
  const during = [verify(1, rolled.body.secret), verify(1, overlapping.body.secret)]
  await world.clock.advance(60_000)
  await account.api.post(`/v1/webhook_endpoints/${endpoint.id}/test`)

  assert.match(rolled.body.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.deepEqual(first, [false, true])
  assert.deepEqual(during, [true, true])
  assert.match(receiver.received[1]!.headers['service-signature'] as string, /^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
  assert.deepEqual([verify(2, rolled.body.secret), verify(2, overlapping.body.secret)], [false, true])
  assert.equal((await account.api.get(`/v1/webhook_endpoints/${endpoint.id}`)).body.secret, undefined)
})

test('loaded deliveries of a disabled endpoint are not sent, even if it is enabled again at once', async (t) => {
  const { world, account, receiver } = await start(t)
  receiver.always({ status: 500 })
  const endpoint = await subscribe(account, receiver, { events: ['message.delivered'] })
  for (let i = 0; i < 10; i++) await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)
  const before = receiver.received.length
  receiver.always({ status: 200 })

  for (const status of ['disabled', 'active'])
    await account.api.patch(`/v1/webhook_endpoints/${endpoint.id}`, { status })
  await advanceAndSettle(world, 60_000)

  assert.equal(before, 5)
  assert.equal(receiver.received.length, before)
  assert.equal((await deliveries(account, endpoint.id, '?status=failed')).length, 10)
  await world.invariants()
})

test('no delivery that was pending when an endpoint was disabled is sent after it is enabled', async (t) => {
  const { world, account, receiver } = await start(t)
  receiver.always({ status: 500 })
  const endpoint = await subscribe(account, receiver, { events: ['message.delivered'] })
  await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)
  await world.pool`
    insert into webhook_retries (endpoint_id, id, account_id, mode, event_id, event_type, attempts, next_run_at, created_at)
    select endpoint_id, left(id, 20) || lpad(n::text, 10, '0'), account_id, mode, event_id, event_type, attempts, next_run_at, created_at
    from webhook_retries, generate_series(1, 10100) n`
  receiver.always({ status: 200 })
  receiver.received.length = 0

  for (const status of ['disabled', 'active'])
    await account.api.patch(`/v1/webhook_endpoints/${endpoint.id}`, { status })
  await advanceAndSettle(world, 60_000)

  assert.equal(receiver.received.length, 0)
  await world.invariants()
})

test('a delivery whose event is deleted ends as failed', async (t) => {
  const { world, account, receiver } = await start(t)
  receiver.always({ status: 500 })
  const endpoint = await subscribe(account, receiver, { events: ['message.delivered'] })
  await account.api.post('/v1/messages', message())
  await world.settle()
  await advanceAndSettle(world, 10_000)
  assert.equal((await world.pool`select 1 from webhook_retries`).length, 1)
  await world.pool`delete from events`
  await world.pool`update webhook_retries set event_id = 'evt_gone'`

  await advanceAndSettle(world, 60_000)

  assert.deepEqual(
    [(await deliveries(account, endpoint.id))[0].status, (await deliveries(account, endpoint.id))[0].error],
    ['failed', 'event_expired'],
  )
})

test('an endpoint that another process is acquiring is left to it', async (t) => {
  const { world, account, receiver } = await start(t)
  const endpoint = await subscribe(account, receiver)
  const event = {
    account_id: account.id as `acc_${string}`,
    mode: 'test',
    type: 'message.sent',
    object_id: 'msg_1',
    object: {},
  } as const
  await recordEvents(world.pool, [{ ...event, id: world.platform.ids('evt'), created_at: world.clock.iso() }])
  await world.settle('fan-out')
  assert.equal((await deliveries(account, endpoint.id)).length, 1)

  await holdOpen(world.pool, async (other) => {
    await other`select 1 from webhook_leases for update`
    await world.tick('deliver')
  })
  const meanwhile = receiver.received.length
  await world.settle()

  assert.equal(meanwhile, 0)
  assert.equal(receiver.received.length, 1)
})
