/** Stripe's payment webhooks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tenantOf } from '../../src/api/caller.ts'
import { simulateStripe } from '../support/simulators/stripe.ts'
import { startWorld } from '../support/world.ts'

const never = new AbortController().signal

test('a payment webhook of Stripe is credited once, and other callers change nothing', async (t) => {
  let now = () => 0
  const stripe = await simulateStripe(t, () => now())
  const { url, secret_key, webhook_secret } = stripe
  const world = await startWorld(t, { settings: { stripe: { url, secret_key, webhook_secret } } })
  now = world.clock.now
  const account = await world.account({ mode: 'live' })
  const { topUps } = world.services.billing
  await topUps.begin(
    tenantOf({ account_id: account.id, mode: 'live' }),
    { amount_micros: 5_000_000, account_name: 'One', user_id: 'usr_1' },
    never,
    async () => undefined,
  )
  const { body, signature } = stripe.event('checkout.session.completed', stripe.sessions[0]!)
  const callBack = async (path: string, init: RequestInit) =>
    await fetch(`${world.base_url}${path}`, { method: 'POST', ...init })

  const forged = await world.api().send('POST', '/hooks/payments/stripe', { 'stripe-signature': 't=1,v1=00' }, body)
  assert.deepEqual([forged.status, forged.body.error.code], [400, 'signature_invalid'])
  assert.equal(
    (await callBack('/hooks/payments/paypal', { body, headers: { 'stripe-signature': signature } })).status,
    404,
  )
  assert.equal((await fetch(`${world.base_url}/hooks/payments/stripe`)).status, 404)
  const twice = await Promise.all(
    [1, 2].map(() =>
      callBack('/hooks/payments/stripe', {
        body,
        headers: { 'stripe-signature': signature, 'content-type': 'application/json' },
      }),
    ),
  )

  assert.deepEqual(
    twice.map(({ status }) => status),
    [200, 200],
  )
  assert.equal((await world.api(account).get('/v1/balance')).body['wallet_micros'], 5_000_000)
  await world.invariants()
})

test('without its secrets the webhook does not exist', async (t) => {
  const world = await startWorld(t)
  const answer = await fetch(`${world.base_url}/hooks/payments/stripe`, { method: 'POST', body: '{}' })
  assert.equal(answer.status, 404)
})
