/** The packages of Standard Webhooks verify deliveries unchanged (behaviour: webhooks 4.5). */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import { deliveries, message, advanceAndSettle, start, subscribe } from '../support/subscribing.ts'

interface Received {
  readonly body: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

const standardHeaders = ({ headers }: Received) =>
  Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]),
  )

/** Checks with all packages, at the machine's time. */
function isGenuine(t: TestContext, received: Received, secret: string, now: number): boolean {
  t.mock.timers.enable({ apis: ['Date'], now })
  const verdicts = [StandardWebhook, SvixWebhook].map((Webhook) => {
    try {
      new Webhook(secret).verify(received.body, standardHeaders(received))
      return true
    } catch {
      return false
    }
  })
  t.mock.timers.reset()
  assert.equal(verdicts[0], verdicts[1])
  return verdicts[0]!
}

test('the packages of Standard Webhooks, Svix and Stripe verify every delivery, retry and test event', async (t) => {
  const { world, account, receiver } = await start(t)
  receiver.always({ status: 500 })
  const endpoint = await subscribe(account, receiver, { events: ['message.delivered'] })
  await account.api.post('/v1/messages', message())
  await advanceAndSettle(world, 10_000)
  receiver.always({ status: 200 })
  await advanceAndSettle(world, 60_000)
  await account.api.post(`/v1/webhook_endpoints/${endpoint.id}/test`)

  const [delivery] = (await deliveries(account, endpoint.id)).filter(
    (one: { event_type: string }) => one.event_type === 'message.delivered',
  )
  const [first, retried, tested] = receiver.received
  assert.equal(receiver.received.length, 3)
  for (const received of receiver.received) {
    const at = Number(received.headers['webhook-timestamp']) * 1000
    assert.equal(received.headers['webhook-id'], received.json.id)
    assert.equal(isGenuine(t, received, endpoint.secret, at), true)
    assert.equal(isGenuine(t, { ...received, body: received.body.replace('evt_', 'evt-') }, endpoint.secret, at), false)
    assert.equal(isGenuine(t, received, endpoint.secret, at + 301_000), false)
    assert.equal(
      Stripe.webhooks.constructEvent(
        received.body,
        String(received.headers['service-signature']),
        endpoint.secret,
        300,
        undefined,
        at,
      ).id,
      received.json.id,
    )
  }
  assert.equal(delivery.attempts, 2)
  assert.equal(first!.headers['webhook-id'], retried!.headers['webhook-id'])
  assert.ok(
    Number(retried!.headers['webhook-timestamp']) >= Number(first!.headers['webhook-timestamp']) + 30,
    'a retry is signed afresh',
  )
  assert.equal(tested!.json.type, 'webhook.test')
})

test('during a rotation both secrets sign, and then only the new one', async (t) => {
  const { world, account, receiver } = await start(t)
  const endpoint = await subscribe(account, receiver)
  const rolled = await account.api.post(`/v1/webhook_endpoints/${endpoint.id}/roll_secret`, {
    expire_previous_in_seconds: 60,
  })
  const verdicts = (index: number) =>
    [endpoint.secret, rolled.body.secret].map((secret) =>
      isGenuine(
        t,
        receiver.received[index]!,
        secret,
        Number(receiver.received[index]!.headers['webhook-timestamp']) * 1000,
      ),
    )

  await account.api.post(`/v1/webhook_endpoints/${endpoint.id}/test`)
  await world.clock.advance(60_000)
  await account.api.post(`/v1/webhook_endpoints/${endpoint.id}/test`)

  assert.match(
    String(receiver.received[0]!.headers['webhook-signature']),
    /^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/,
  )
  assert.deepEqual(
    [verdicts(0), verdicts(1)],
    [
      [true, true],
      [false, true],
    ],
  )
})
