import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isoTime } from '../../lib/clock.ts'
import { transact, type Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { billingInvariants } from './invariants.ts'
import { billingService, usageOfCharge, type BillingService, type ChargeItem, type RefundedMessage } from './service.ts'
import { billingPeriodicJobs } from './periodic-jobs.ts'
import { effort } from '../../../test/support/effort.ts'

type Action =
  | {
      readonly do: 'charge'
      readonly account: number
      readonly prices: readonly number[]
      readonly type: string
      readonly crash: boolean
    }
  | { readonly do: 'charge-both'; readonly prices: readonly number[]; readonly crash: boolean }
  | { readonly do: 'refund'; readonly picks: readonly number[]; readonly crash: boolean }
  | { readonly do: 'top-up'; readonly account: number; readonly amount: number }
  | {
      readonly do: 'grant'
      readonly account: number
      readonly credits: number
      readonly types: readonly string[]
      readonly days: number | null
    }
  | { readonly do: 'periodic-jobs' }

const account = fc.nat({ max: 1 })
const prices = fc.array(fc.constantFrom(0, 1, 30, 75, 5000), { minLength: 1, maxLength: 8 })
const crash = fc.nat({ max: 4 }).map((die) => die === 0)
const type = fc.constantFrom('sms', 'whatsapp')
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('charge' as const), account, prices, type, crash }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('charge-both' as const), prices, crash }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('refund' as const),
      picks: fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 6 }),
      crash,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('top-up' as const), account, amount: fc.integer({ min: 1, max: 6000 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('grant' as const),
      account,
      credits: fc.integer({ min: 1, max: 5 }),
      types: fc.constantFrom([], ['sms'], ['whatsapp', 'sms']),
      days: fc.constantFrom(null, 1, 2, 9),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'periodic-jobs' as const }) },
)
/** Steps are sequential, a day may pass before one; the actions of a step run at the same time. */
const steps = fc.array(
  fc.record({ days: fc.constantFrom(0, 0, 1), actions: fc.array(action, { minLength: 1, maxLength: 6 }) }),
  { minLength: 1, maxLength: 6 },
)

class Crash extends Error {}

test('any interleaving of charges, batches, refunds, top-ups, grants, expiries and crashes keeps every balance the sum of its entries', async (t) => {
  const world = await startPlatform(t)

  await fc.assert(
    fc.asyncProperty(steps, async (run) => {
      const bank = await openBank(world.platform)
      for (const step of run) {
        await world.clock.advance(step.days * 24 * 3600_000)
        await Promise.all(step.actions.map((one) => bank.perform(one)))
        assert.deepEqual(await bank.breaches(), [])
      }
    }),
    { numRuns: effort(20, 120), interruptAfterTimeLimit: 60_000, markInterruptAsFailure: false },
  )
})

test('two hundred concurrent messages with money for 120 are charged exactly 120 times', async (t) => {
  const world = await startPlatform(t)
  const bank = await openBank(world.platform)
  await bank.perform({ do: 'top-up', account: 0, amount: 120 * 30 })

  await Promise.all(
    Array.from({ length: 200 }, () =>
      bank.perform({ do: 'charge', account: 0, prices: [30], type: 'sms', crash: false }),
    ),
  )

  assert.equal(bank.charged.length, 120)
  assert.equal(
    (await bank.billing.balance(world.platform.pool, { account_id: bank.accounts[0]!, mode: 'live' })).wallet_micros,
    0,
  )
  assert.deepEqual(await bank.breaches(), [])
})

async function openBank(platform: Platform) {
  const { pool, clock, ids } = platform
  const billing = billingService(platform)
  const periodicJobs = billingPeriodicJobs(platform)
  const accounts = [ids('acc'), ids('acc')]
  for (const id of accounts)
    await pool`insert into accounts (id, name, created_at) values (${id}, 'Bank', ${isoTime(clock.now())})`
  const charged: RefundedMessage[] = []

  const items = (owners: readonly string[], amounts: readonly number[], channel_type: string): ChargeItem[] =>
    amounts.map((price_micros, at) => ({
      message_id: ids('msg'),
      account_id: owners[at % owners.length]!,
      mode: 'live',
      channel_type,
      channel_id: 'ch_1',
      price_micros,
      created_at: isoTime(clock.now()),
    }))
  const charge = async (wanted: readonly ChargeItem[], crashes: boolean): Promise<void> => {
    const accepted = await transact(pool, async (tx) => {
      const paid = await chargeAndCount(billing, tx, wanted)
      if (crashes) throw new Crash()
      return paid
    }).catch(unlessCrash([]))
    charged.push(...accepted)
  }
  const perform = async (one: Action): Promise<void> => {
    if (one.do === 'charge') return await charge(items([accounts[one.account]!], one.prices, one.type), one.crash)
    if (one.do === 'charge-both') return await charge(items(accounts.toReversed(), one.prices, 'sms'), one.crash)
    if (one.do === 'top-up') return void (await billing.creditWallet(pool, accounts[one.account]!, one.amount, null))
    if (one.do === 'periodic-jobs')
      return void (await Promise.all(periodicJobs.map((periodicJob) => periodicJob.run())))
    if (one.do === 'refund') {
      const failed = one.picks.flatMap((pick) => charged[pick] ?? [])
      return await transact(pool, async (tx) => {
        await billing.refund(tx, failed, isoTime(clock.now()))
        if (one.crash) throw new Crash()
      }).catch(unlessCrash(undefined))
    }
    const expires_at = one.days === null ? null : isoTime(clock.now() + one.days * 24 * 3600_000)
    await billing.grantPackage(pool, {
      account_id: accounts[one.account]!,
      credits: one.credits,
      channel_types: one.types,
      expires_at,
      name: '',
    })
  }
  const breaches = async () =>
    (await Promise.all(billingInvariants.map((invariant) => invariant.breaches(pool)))).flat()
  return { billing, accounts, charged, perform, breaches }
}

async function chargeAndCount(
  billing: BillingService,
  tx: Db,
  items: readonly ChargeItem[],
): Promise<RefundedMessage[]> {
  const charges = await billing.chargeInOrder(tx, items)
  const paid = items.flatMap((item, at) => {
    const charge = charges[at]!
    return charge.outcome === 'charged' ? [{ item, charge }] : []
  })
  await billing.addUsage(
    tx,
    paid.map(({ item, charge }) => usageOfCharge(item, charge)),
  )
  return paid.map(({ item, charge }) => ({
    ...item,
    billing_source: charge.source,
    amount_micros: charge.amount_micros,
    package_grant_id: charge.package_grant_id,
  }))
}

const unlessCrash =
  <T>(value: T) =>
  (error: unknown): T => {
    if (error instanceof Crash) return value
    throw error
  }
