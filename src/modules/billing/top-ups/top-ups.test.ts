import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { openAccount } from '../../../../test/support/bank.ts'
import { simulateStripe } from '../../../../test/support/simulators/stripe.ts'
import { fakeClock } from '../../../../test/support/clock.ts'
import { billingService } from '../service.ts'
import type { NewTopUp } from './top-ups.ts'
import { effort } from '../../../../test/support/effort.ts'

const page = { limit: 100, starting_after: undefined }
const never = new AbortController().signal
const onStored = async () => undefined

async function openBank(t: TestContext) {
  let now = fakeClock().now
  const stripe = await simulateStripe(t, () => now())
  const { url, secret_key, webhook_secret } = stripe
  const bank = await openAccount(t, { settings: { stripe: { url, secret_key, webhook_secret } } })
  now = bank.clock.now
  const { billing, tenant, ids } = bank
  const { topUps } = billing
  const request = (amount_micros: number): NewTopUp => ({ amount_micros, account_name: 'One', user_id: ids('usr') })
  const begin = async (amount_micros: number) => await topUps.begin(tenant, request(amount_micros), never, onStored)
  const send = async (type: string, at = stripe.sessions.length - 1, fields: Record<string, unknown> = {}) => {
    const { signature, body } = stripe.event(type, stripe.sessions[at]!, fields)
    await topUps.receiveWebhook(signature, Buffer.from(body))
  }
  const wallet = async () => (await billing.balance(bank.pool, tenant)).wallet_micros
  return { ...bank, stripe, topUps, begin, send, wallet, request }
}

test('a top-up is open at the payment provider, and credited once it is paid', async (t) => {
  const { begin, send, wallet, topUps, stripe, tenant, pool, billing, proven } = await openBank(t)

  const begun = await begin(25_000_000)

  assert.equal(begun.status, 'open')
  assert.equal(begun.url, stripe.sessions[0]!.url)
  const { request } = stripe.sessions[0]!
  assert.equal(request['line_items[0][price_data][unit_amount]'], '2500')
  assert.equal(request['client_reference_id'], begun.id)
  assert.match(request['success_url']!, new RegExp(`/console/${tenant.account_id}/live/billing$`))
  assert.equal(await wallet(), 0)

  await send('checkout.session.completed')

  assert.equal(await wallet(), 25_000_000)
  const [paid] = await topUps.list(pool, tenant, page)
  assert.deepEqual([paid!.status, paid!.url], ['paid', null])
  const [entry, ...more] = await billing.transactions(pool, tenant, {}, page)
  assert.deepEqual(more, [])
  assert.equal(entry!.type, 'top_up')
  assert.equal(entry!.top_up_id, begun.id)
  assert.match(entry!.payment_reference!, /^pi_/)
  await proven()
})

test('a checkout is credited once, however often and in whichever order events arrive at two processes', async (t) => {
  const { begin, wallet, stripe, topUps, platform, proven } = await openBank(t)
  const other = billingService(platform).topUps
  t.after(() => other.close())
  const paidTypes = ['checkout.session.completed', 'checkout.session.async_payment_succeeded']
  const allTypes = [...paidTypes, 'checkout.session.expired', 'checkout.session.async_payment_failed']
  let credited = 0

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...allTypes), { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      async (types, together) => {
        await begin(5_000_000)
        const session = stripe.sessions.at(-1)!
        const deliveries = types.map((type, at) => async () => {
          const { signature, body } = stripe.event(type, session)
          await (at % 2 === 0 ? topUps : other).receiveWebhook(signature, Buffer.from(body))
        })
        if (together) await Promise.all(deliveries.map((deliver) => deliver()))
        else for (const deliver of deliveries) await deliver()
        if (types.some((type) => type === paidTypes[0] || type === paidTypes[1])) credited += 5_000_000
        assert.equal(await wallet(), credited)
      },
    ),
    { numRuns: effort(10, 50) },
  )
  await proven()
})

test('a payment that takes days leaves the top-up open, and is credited when it arrives', async (t) => {
  const { begin, send, wallet, topUps, pool, tenant } = await openBank(t)
  await begin(5_000_000)

  await send('checkout.session.completed', 0, { payment_status: 'unpaid' })
  assert.equal((await topUps.list(pool, tenant, page))[0]!.status, 'open')
  assert.equal(await wallet(), 0)

  await send('checkout.session.async_payment_succeeded')
  assert.equal(await wallet(), 5_000_000)
})

test('nothing is credited for an unknown checkout, or for another amount or currency', async (t) => {
  const { begin, send, wallet, stripe, topUps, proven } = await openBank(t)
  await begin(5_000_000)

  await send('checkout.session.completed', 0, { amount_total: 50 })
  await send('checkout.session.completed', 0, { currency: 'jpy' })
  await send('checkout.session.completed', 0, { id: 'cs_live_of_somebody_else' })
  await send('payment_intent.succeeded')
  const nonsense = stripe.event('checkout.session.completed', stripe.sessions[0]!, { id: ['cs'] })
  await topUps.receiveWebhook(nonsense.signature, Buffer.from(nonsense.body))

  assert.equal(await wallet(), 0)
  await send('checkout.session.completed')
  assert.equal(await wallet(), 5_000_000)
  await proven()
})

test('a webhook with a wrong signature, or one older than five minutes, is refused', async (t) => {
  const { begin, wallet, stripe, topUps, clock } = await openBank(t)
  await begin(5_000_000)
  const { signature, body } = stripe.event('checkout.session.completed', stripe.sessions[0]!)
  const refused = { code: 'signature_invalid' }

  await assert.rejects(topUps.receiveWebhook(undefined, Buffer.from(body)), refused)
  await assert.rejects(topUps.receiveWebhook('t=1,v1=', Buffer.from(body)), refused)
  await assert.rejects(topUps.receiveWebhook(signature, Buffer.from(`${body} `)), refused)
  await clock.advance(5 * 60_000 + 1000)
  await assert.rejects(topUps.receiveWebhook(signature, Buffer.from(body)), refused)

  assert.equal(await wallet(), 0)
})

test('amounts are whole cents from 5 to 10,000 dollars, and test mode has no top-ups', async (t) => {
  const { topUps, request, tenant, begin } = await openBank(t)

  for (const amount of [0, -5_000_000, 4_990_000, 5_000_001, 10_000_010_000])
    await assert.rejects(begin(amount), { code: 'parameter_invalid', param: 'amount_micros' })
  assert.equal((await begin(10_000_000_000)).amount_micros, 10_000_000_000)
  await assert.rejects(topUps.begin({ ...tenant, mode: 'test' }, request(5_000_000), never, onStored), {
    code: 'live_mode_required',
  })
})

test('when the payment provider is unreachable or rejects the key, nothing is stored and the error says so', async (t) => {
  const { topUps, begin, stripe, pool, tenant } = await openBank(t)

  for (const odd of [
    'reset',
    'half',
    { status: 500 },
    { status: 200, body: { id: 'cs_1' } },
    { status: 401, body: { error: {} } },
  ] as const) {
    stripe.answerNext(odd)
    await assert.rejects(begin(5_000_000), (error: Error & { code: string }) => {
      assert.equal(error.code, 'upstream_unavailable')
      assert.doesNotMatch(error.message, /sk_test/)
      return true
    })
  }
  assert.deepEqual(await topUps.list(pool, tenant, page), [])
})

test('without a payment provider there are no top-ups', async (t) => {
  const { billing, tenant, pool } = await openAccount(t)

  assert.equal(billing.topUps.configured, false)
  await assert.rejects(billing.topUps.list(pool, tenant, page), { code: 'resource_missing' })
  await assert.rejects(billing.topUps.receiveWebhook('t=1,v1=00', Buffer.from('{}')), { code: 'resource_missing' })
})
