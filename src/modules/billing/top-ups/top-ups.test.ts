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
const keep = async () => undefined

async function openBank(t: TestContext) {
  let now = fakeClock().now
  const stripe = await simulateStripe(t, () => now())
  const { url, secret_key, webhook_secret } = stripe
  const bank = await openAccount(t, { settings: { stripe: { url, secret_key, webhook_secret } } })
  now = bank.clock.now
  const { billing, tenant, ids } = bank
  const { topUps } = billing
  const asked = (amount_micros: number): NewTopUp => ({ amount_micros, account_name: 'One', user_id: ids('usr') })
  const begin = async (amount_micros: number) => await topUps.begin(tenant, asked(amount_micros), never, keep)
  const tell = async (type: string, at = stripe.sessions.length - 1, fields: Record<string, unknown> = {}) => {
    const { signature, body } = stripe.event(type, stripe.sessions[at]!, fields)
    await topUps.take(signature, Buffer.from(body))
  }
  const wallet = async () => (await billing.balance(bank.pool, tenant)).wallet_micros
  return { ...bank, stripe, topUps, begin, tell, wallet, asked }
}

test('a top-up is open at the payment provider, and in the wallet once it is paid', async (t) => {
  const { begin, tell, wallet, topUps, stripe, tenant, pool, billing, proven } = await openBank(t)

  const begun = await begin(25_000_000)

  assert.equal(begun.status, 'open')
  assert.equal(begun.url, stripe.sessions[0]!.url)
  const { request } = stripe.sessions[0]!
  assert.equal(request['line_items[0][price_data][unit_amount]'], '2500')
  assert.equal(request['client_reference_id'], begun.id)
  assert.match(request['success_url']!, new RegExp(`/console/${tenant.account_id}/live/billing$`))
  assert.equal(await wallet(), 0)

  await tell('checkout.session.completed')

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

test('a checkout is credited once, however often and in whichever order it is told of, by two processes at once', async (t) => {
  const { begin, wallet, stripe, topUps, platform, proven } = await openBank(t)
  const other = billingService(platform).topUps
  t.after(() => other.close())
  const types = [
    'checkout.session.completed',
    'checkout.session.async_payment_succeeded',
    'checkout.session.expired',
    'checkout.session.async_payment_failed',
  ]
  let credited = 0

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...types), { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      async (told, together) => {
        await begin(5_000_000)
        const session = stripe.sessions.at(-1)!
        const tellers = told.map((type, at) => async () => {
          const { signature, body } = stripe.event(type, session)
          await (at % 2 === 0 ? topUps : other).take(signature, Buffer.from(body))
        })
        if (together) await Promise.all(tellers.map((teller) => teller()))
        else for (const teller of tellers) await teller()
        if (told.some((type) => type === types[0] || type === types[1])) credited += 5_000_000
        assert.equal(await wallet(), credited)
      },
    ),
    { numRuns: effort(10, 50) },
  )
  await proven()
})

test('a payment that takes days leaves the top-up open, and is credited when it has come', async (t) => {
  const { begin, tell, wallet, topUps, pool, tenant } = await openBank(t)
  await begin(5_000_000)

  await tell('checkout.session.completed', 0, { payment_status: 'unpaid' })
  assert.equal((await topUps.list(pool, tenant, page))[0]!.status, 'open')
  assert.equal(await wallet(), 0)

  await tell('checkout.session.async_payment_succeeded')
  assert.equal(await wallet(), 5_000_000)
})

test('nothing is credited for what nobody began here, nor for another amount or currency than was begun', async (t) => {
  const { begin, tell, wallet, stripe, topUps, proven } = await openBank(t)
  await begin(5_000_000)

  await tell('checkout.session.completed', 0, { amount_total: 50 })
  await tell('checkout.session.completed', 0, { currency: 'jpy' })
  await tell('checkout.session.completed', 0, { id: 'cs_live_of_somebody_else' })
  await tell('payment_intent.succeeded')
  const nonsense = stripe.event('checkout.session.completed', stripe.sessions[0]!, { id: ['cs'] })
  await topUps.take(nonsense.signature, Buffer.from(nonsense.body))

  assert.equal(await wallet(), 0)
  await tell('checkout.session.completed')
  assert.equal(await wallet(), 5_000_000)
  await proven()
})

test('a webhook that is not signed with the secret, or five minutes ago, is refused', async (t) => {
  const { begin, wallet, stripe, topUps, clock } = await openBank(t)
  await begin(5_000_000)
  const { signature, body } = stripe.event('checkout.session.completed', stripe.sessions[0]!)
  const refused = { code: 'signature_invalid' }

  await assert.rejects(topUps.take(undefined, Buffer.from(body)), refused)
  await assert.rejects(topUps.take('t=1,v1=', Buffer.from(body)), refused)
  await assert.rejects(topUps.take(signature, Buffer.from(`${body} `)), refused)
  await clock.advance(5 * 60_000 + 1000)
  await assert.rejects(topUps.take(signature, Buffer.from(body)), refused)

  assert.equal(await wallet(), 0)
})

test('amounts are whole cents from 5 to 10,000 dollars, and test mode tops nothing up', async (t) => {
  const { topUps, asked, tenant, begin } = await openBank(t)

  for (const amount of [0, -5_000_000, 4_990_000, 5_000_001, 10_000_010_000])
    await assert.rejects(begin(amount), { code: 'parameter_invalid', param: 'amount_micros' })
  assert.equal((await begin(10_000_000_000)).amount_micros, 10_000_000_000)
  await assert.rejects(topUps.begin({ ...tenant, mode: 'test' }, asked(5_000_000), never, keep), {
    code: 'live_mode_required',
  })
})

test('while the payment provider is out of reach or takes no key, nothing is begun and the refusal says so', async (t) => {
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
  await assert.rejects(billing.topUps.take('t=1,v1=00', Buffer.from('{}')), { code: 'resource_missing' })
})
