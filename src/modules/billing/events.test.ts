import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAccount } from '../../../test/support/bank.ts'
import { transact } from '../../platform/database/sql.ts'

const dayMs = 24 * 3600_000

test('the last credit records package.exhausted once; a refund makes the package active again', async (t) => {
  const { billing, tenant, pool, charge, clock, events, proven } = await openAccount(t)
  await billing.creditWallet(pool, tenant.account_id, 5_000_000, null)
  await billing.grantPackage(pool, {
    account_id: tenant.account_id,
    credits: 2,
    channel_types: [],
    expires_at: null,
    name: 'Two',
  })

  const paid = await charge(7500, 7500, 7500)
  assert.deepEqual(
    paid.map((one) => one.billing_source),
    ['package', 'package', 'wallet'],
  )
  assert.deepEqual(
    (await billing.balance(pool, tenant)).packages.map((one) => one.status),
    ['exhausted'],
  )
  await transact(pool, (tx) => billing.refund(tx, paid.slice(0, 1), clock.iso()))
  assert.deepEqual(
    (await billing.balance(pool, tenant)).packages.map((one) => [one.status, one.credits_remaining]),
    [['active', 1]],
  )
  await charge(7500)

  const found = await events()
  assert.deepEqual(
    found.map((event) => event.type),
    ['package.exhausted'],
  )
  assert.deepEqual([found[0]!.object['status'], found[0]!.object['credits_remaining']], ['exhausted', 0])
  await proven()
})

test('balance.low is recorded when the wallet is below its threshold and no credits are left, at most once in 24 hours', async (t) => {
  const { billing, tenant, pool, charge, clock, events } = await openAccount(t)
  const lows = async () => (await events()).filter((event) => event.type === 'balance.low')
  await billing.setLowBalance(pool, tenant.account_id, 20_000)
  await billing.creditWallet(pool, tenant.account_id, 50_000, null)
  await billing.grantPackage(pool, {
    account_id: tenant.account_id,
    credits: 1,
    channel_types: ['whatsapp'],
    expires_at: clock.iso(30_000),
    name: '',
  })

  await charge(30_000)
  assert.deepEqual(await lows(), [], 'a wallet at its threshold is not below it')
  await charge(1000)
  assert.deepEqual(await lows(), [], 'credits are left for another channel type')
  await clock.advance(30_000)
  await charge(1000)
  await charge(1000)
  await clock.advance(dayMs - 1)
  await charge(1000)
  assert.deepEqual(
    (await lows()).map((event) => [event.type, event.object['wallet_micros']]),
    [['balance.low', 18_000]],
  )
  await clock.advance(1)
  await charge(1000)
  assert.deepEqual(
    (await lows()).map((event) => [event.type, event.object['wallet_micros']]),
    [
      ['balance.low', 18_000],
      ['balance.low', 15_000],
    ],
  )
})

test('package.expiring is recorded once, within 7 days of the expiry, for unused credits only', async (t) => {
  const { billing, tenant, pool, charge, periodicJobs, clock, events } = await openAccount(t)
  const grant = { account_id: tenant.account_id, channel_types: [], name: '' }
  await billing.grantPackage(pool, { ...grant, credits: 1, expires_at: clock.iso(8 * dayMs - 1) })
  const used = await billing.grantPackage(pool, { ...grant, credits: 3, expires_at: clock.iso(8 * dayMs) })
  await charge(7500)

  await periodicJobs()
  assert.deepEqual(
    (await events()).map((event) => event.type),
    ['package.exhausted'],
  )
  await clock.advance(dayMs)
  await periodicJobs()
  await periodicJobs()

  assert.deepEqual((await events()).map((event) => [event.type, event.object_id]).slice(1), [
    ['package.expiring', used.id],
  ])
})

test('a package granted for less than 7 days records package.expiring at once, and only once', async (t) => {
  const { billing, tenant, pool, periodicJobs, clock, events } = await openAccount(t)

  const { id } = await billing.grantPackage(pool, {
    account_id: tenant.account_id,
    channel_types: [],
    name: '',
    credits: 1,
    expires_at: clock.iso(1),
  })

  const once = [['package.expiring', id]]
  assert.deepEqual(
    (await events()).map((event) => [event.type, event.object_id]),
    once,
  )
  await periodicJobs()
  assert.deepEqual(
    (await events()).map((event) => [event.type, event.object_id]),
    once,
  )
})
