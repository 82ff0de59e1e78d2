import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAccount } from '../../../test/support/bank.ts'
import type { Tenant } from '../../api/caller.ts'
import { transact } from '../../platform/database/sql.ts'
import { billingInvariants } from './invariants.ts'
import { billingService } from './service.ts'

const dayMs = 24 * 3600_000
const page = { limit: 100, starting_after: undefined }

test('an account has an empty wallet from its creation', async (t) => {
  const { billing, tenant, pool } = await openAccount(t)

  assert.deepEqual(await billing.balance(pool, tenant), {
    object: 'balance',
    mode: 'live',
    currency: 'USD',
    wallet_micros: 0,
    packages: [],
    credits_remaining: 0,
  })
})

test('a top-up appears in the wallet and in the transactions', async (t) => {
  const { billing, tenant, pool, clock } = await openAccount(t)

  const balance = await billing.creditWallet(pool, tenant.account_id, 20_000, 'Invoice 31')

  assert.equal(balance.wallet_micros, 20_000)
  const [top_up, ...more] = await billing.transactions(pool, tenant, {}, page)
  assert.deepEqual(more, [])
  assert.deepEqual(
    { ...top_up, id: '' },
    {
      id: '',
      object: 'balance_transaction',
      mode: 'live',
      type: 'top_up',
      amount_micros: 20_000,
      credits: 0,
      currency: 'USD',
      package_grant_id: null,
      message_id: null,
      top_up_id: null,
      payment_reference: null,
      note: 'Invoice 31',
      balance_after_micros: 20_000,
      created_at: clock.iso(),
    },
  )
})

test('top-ups and packages are refused for unknown accounts, invalid amounts and past expiries', async (t) => {
  const { billing, tenant, pool, ids, clock } = await openAccount(t)
  const grant = { account_id: tenant.account_id, credits: 1, channel_types: [], expires_at: null, name: '' }

  const missing = { code: 'resource_missing' }
  const refused = { code: 'parameter_invalid' }
  await assert.rejects(billing.creditWallet(pool, ids('acc'), 1, null), missing)
  await assert.rejects(billing.creditWallet(pool, tenant.account_id, 0, null), refused)
  await assert.rejects(billing.creditWallet(pool, tenant.account_id, Number.MAX_SAFE_INTEGER + 1, null), refused)
  await assert.rejects(billing.creditWallet(pool, tenant.account_id, 1, 'a\0b'), refused)
  await assert.rejects(billing.grantPackage(pool, { ...grant, account_id: ids('acc') }), missing)
  await assert.rejects(billing.grantPackage(pool, { ...grant, credits: 0.5 }), refused)
  await assert.rejects(billing.grantPackage(pool, { ...grant, channel_types: ['pigeon'] }), refused)
  await assert.rejects(billing.grantPackage(pool, { ...grant, expires_at: clock.iso() }), refused)
  await assert.rejects(billing.setLowBalance(pool, ids('acc'), 1), missing)
  assert.deepEqual(await billing.transactions(pool, tenant, {}, page), [])
})

test('a message is refunded once, however often and concurrently it is requested', async (t) => {
  const { billing, tenant, pool, charge, clock, proven } = await openAccount(t)
  await billing.creditWallet(pool, tenant.account_id, 10_000, null)
  const paid = await charge(7500)

  await Promise.all([1, 2, 3, 4].map(() => transact(pool, (tx) => billing.refund(tx, [...paid, ...paid], clock.iso()))))

  assert.equal((await billing.balance(pool, tenant)).wallet_micros, 10_000)
  assert.deepEqual(
    (await billing.transactions(pool, tenant, { message_id: paid[0]!.message_id }, page)).map((one) => one.type),
    ['message_refund', 'message_charge'],
  )
  await proven()
})

test('a refund counts in the usage of its own day; the day of the message stays gross', async (t) => {
  const { billing, tenant, pool, charge, clock, proven } = await openAccount(t)
  await billing.creditWallet(pool, tenant.account_id, 10_000, null)
  const paid = await charge(7500)
  await clock.advance(dayMs)

  await transact(pool, (tx) => billing.refund(tx, paid, clock.iso()))

  const usage = await billing.usage(pool, tenant, {})
  assert.deepEqual(
    usage.map((one) => [one.period_start, one.messages, one.wallet_micros, one.refunded_micros]),
    [
      ['2026-02-01T00:00:00.000Z', 0, 0, 7500],
      ['2026-01-31T00:00:00.000Z', 1, 7500, 0],
    ],
  )
  await proven()
})

test('unused credits are written off at the expiry, and a credit refunded later is written off at once', async (t) => {
  const { billing, tenant, pool, charge, periodicJobs, clock, proven } = await openAccount(t)
  const { id } = await billing.grantPackage(pool, {
    account_id: tenant.account_id,
    credits: 5,
    channel_types: [],
    expires_at: clock.iso(dayMs),
    name: '',
  })
  const [first, second] = await charge(7500, 7500)
  await clock.advance(dayMs)
  await transact(pool, (tx) => billing.refund(tx, [first!], clock.iso()))

  await periodicJobs()
  await transact(pool, (tx) => billing.refund(tx, [second!], clock.iso()))

  const moved = await billing.transactions(pool, tenant, { package_grant_id: id }, page)
  assert.deepEqual(
    moved.map((one) => [one.type, one.credits]),
    [
      ['package_expiry', -1],
      ['message_refund', 1],
      ['package_expiry', -4],
      ['message_refund', 1],
      ['message_charge', -1],
      ['message_charge', -1],
      ['package_grant', 5],
    ],
  )
  assert.deepEqual(
    (await billing.balance(pool, tenant)).packages.map((one) => [one.status, one.credits_remaining]),
    [['expired', 0]],
  )
  await proven()
})

test('packages are listed in the order of their use, followed by ended ones for 30 days', async (t) => {
  const { billing, tenant, pool, charge, periodicJobs, clock } = await openAccount(t)
  const give = (name: string, expires_at: string | null, credits = 5) =>
    billing.grantPackage(pool, { account_id: tenant.account_id, credits, channel_types: [], expires_at, name })
  await give('never', null)
  await give('late', clock.iso(60 * dayMs))
  await give('ends', clock.iso(dayMs))
  await give('used', clock.iso(1000), 1)
  await charge(7500)
  const names = async () => (await billing.balance(pool, tenant)).packages.map((one) => one.name)

  assert.deepEqual(await names(), ['ends', 'late', 'never', 'used'])
  assert.equal((await billing.balance(pool, tenant)).credits_remaining, 15)
  await clock.advance(dayMs)
  await periodicJobs()
  assert.deepEqual(await names(), ['late', 'never', 'ends', 'used'])
  await clock.advance(30 * dayMs)
  assert.deepEqual(await names(), ['late', 'never'])
})

test('test mode costs nothing, posts nothing and still counts its messages', async (t) => {
  const { billing, tenant, pool, charge, clock, proven } = await openAccount(t)
  const sandbox: Tenant = { ...tenant, mode: 'test' }
  await billing.creditWallet(pool, tenant.account_id, 10_000, null)

  const accepted = await charge.as('test', 7500, 7500)
  await transact(pool, (tx) => billing.refund(tx, accepted, clock.iso()))

  assert.deepEqual(
    accepted.map((one) => [one.billing_source, one.amount_micros, one.package_grant_id]),
    [
      ['wallet', 0, null],
      ['wallet', 0, null],
    ],
  )
  assert.deepEqual(await billing.balance(pool, sandbox), {
    object: 'balance',
    mode: 'test',
    currency: 'USD',
    wallet_micros: 0,
    packages: [],
    credits_remaining: 0,
  })
  assert.deepEqual(await billing.transactions(pool, sandbox, {}, page), [])
  assert.deepEqual(
    (await billing.usage(pool, sandbox, {})).map((one) => [one.messages, one.wallet_micros, one.refunded_micros]),
    [[2, 0, 0]],
  )
  assert.deepEqual(await billing.usage(pool, tenant, {}), [])
  await proven()
})

test('folding does not change usage, in any grouping', async (t) => {
  const { billing, tenant, pool, charge, periodicJobs, clock } = await openAccount(t)
  await billing.creditWallet(pool, tenant.account_id, 1_000_000, null)
  await charge(10, 20)
  await clock.advance(dayMs)
  await charge(30)
  const all = async () =>
    await Promise.all(
      (['day', 'month', 'channel_type', 'channel'] as const).map((group_by) =>
        billing.usage(pool, tenant, { group_by }),
      ),
    )

  const before = await all()
  await periodicJobs()
  await charge(40)
  await periodicJobs()

  assert.deepEqual(
    before.map((records) => records.map((one) => one.wallet_micros)),
    [[30, 30], [30, 30], [60], [60]],
  )
  assert.deepEqual(
    (await all()).map((records) => records.map((one) => one.wallet_micros)),
    [[70, 30], [70, 30], [100], [100]],
  )
  assert.equal((await pool`select from usage_rows`).length, 2)
  assert.deepEqual(
    before[1]!.map((one) => [one.period_start, one.period_end]),
    [
      ['2026-02-01T00:00:00.000Z', '2026-02-02T00:00:00.000Z'],
      ['2026-01-03T00:00:00.000Z', '2026-02-01T00:00:00.000Z'],
    ],
  )
})

test("an account's own price overrides the general price, which overrides the default", async (t) => {
  const { billing, tenant, pool, ids } = await openAccount(t)
  const { prices } = billing
  const other: Tenant = { account_id: ids('acc'), mode: 'live' }

  assert.deepEqual(await prices.pricesOf(tenant), [
    { channel_type: 'sms', amount_micros: 7500 },
    { channel_type: 'telegram', amount_micros: 0 },
    { channel_type: 'whatsapp', amount_micros: 5000 },
  ])
  await prices.setPrice(pool, null, 'sms', 7000)
  await prices.setPrice(pool, tenant.account_id, 'sms', 6000)
  await prices.setPrice(pool, tenant.account_id, 'telegram', 1)

  assert.equal(await prices.priceOf(tenant, 'sms'), 6000)
  assert.equal(await prices.priceOf(tenant, 'telegram'), 1)
  assert.equal(await prices.priceOf(other, 'sms'), 7000)
  assert.equal(await prices.priceOf({ ...tenant, mode: 'test' }, 'sms'), 0)
  await assert.rejects(prices.setPrice(pool, null, 'pigeon', 1), { code: 'parameter_invalid' })
  await assert.rejects(prices.setPrice(pool, null, 'sms', -1), { code: 'parameter_invalid' })
  await assert.rejects(prices.setPrice(pool, other.account_id, 'sms', 1), { code: 'resource_missing' })
})

test('a price set by another process applies within five seconds', async (t) => {
  const { billing, tenant, pool, platform, clock } = await openAccount(t)
  assert.equal(await billing.prices.priceOf(tenant, 'sms'), 7500)

  await billingService(platform).prices.setPrice(pool, tenant.account_id, 'sms', 1)
  await clock.advance(5000)

  assert.equal(await billing.prices.priceOf(tenant, 'sms'), 1)
})

test('transactions are paged newest first and filtered; an unknown cursor is refused', async (t) => {
  const { billing, tenant, pool, charge, ids, clock } = await openAccount(t)
  await billing.creditWallet(pool, tenant.account_id, 100_000, null)
  await clock.advance(1000)
  await charge(1, 2, 3)

  const first = await billing.transactions(pool, tenant, {}, { limit: 2, starting_after: undefined })
  assert.deepEqual(
    first.map((one) => one.amount_micros),
    [-3, -2, -1],
  )
  const second = await billing.transactions(pool, tenant, {}, { limit: 2, starting_after: first[1]!.id })
  assert.deepEqual(
    second.map((one) => one.amount_micros),
    [-1, 100_000],
  )
  assert.deepEqual(
    (await billing.transactions(pool, tenant, { type: 'top_up' }, page)).map((one) => one.amount_micros),
    [100_000],
  )
  assert.deepEqual(
    (await billing.transactions(pool, tenant, { created_before: clock.iso() }, page)).map((one) => one.amount_micros),
    [100_000],
  )
  assert.deepEqual(
    (await billing.transactions(pool, tenant, { created_after: clock.iso(-1), type: 'message_charge' }, page)).length,
    3,
  )
  assert.deepEqual(await billing.transactions(pool, tenant, { message_id: ids('msg') }, page), [])
  for (const starting_after of [ids('txn'), ids('msg'), 'x']) {
    await assert.rejects(billing.transactions(pool, tenant, {}, { limit: 2, starting_after }), {
      code: 'parameter_invalid',
      param: 'starting_after',
    })
  }
  await assert.rejects(
    billing.transactions(pool, { ...tenant, mode: 'test' }, {}, { limit: 2, starting_after: first[0]!.id }),
    { code: 'parameter_invalid' },
  )
})

test('doctor names every wallet, package, entry, refund, top-up and day that does not agree with the ledger', async (t) => {
  const { billing, tenant, pool, charge, clock, proven } = await openAccount(t)
  await billing.creditWallet(pool, tenant.account_id, 10_000, null)
  await billing.grantPackage(pool, {
    account_id: tenant.account_id,
    credits: 1,
    channel_types: [],
    expires_at: null,
    name: '',
  })
  await transact(pool, async (tx) => await billing.refund(tx, await charge(7500, 7500), clock.iso()))
  await proven()

  await pool`update wallets set balance_micros = balance_micros + 1`
  await pool`update grants set credits_remaining = 0`
  await pool`update ledger_entries set balance_after_micros = 1, top_up_id = 'top_none' where type = 'top_up'`
  await pool`update usage_rows set messages = 0, wallet_micros = 0`
  await pool`update ledger_entries set message_id = 'msg_none' where type = 'message_refund' and unit = 'credits'`

  const breaches = await Promise.all(billingInvariants.map((invariant) => invariant.breaches(pool)))
  assert.deepEqual(
    breaches.map((found) => found.length),
    [1, 1, 1, 1, 1, 1],
  )
  assert.match(breaches[0]![0]!, /holds 10001 micro-USD, but its ledger entries add up to 10000/)
})
