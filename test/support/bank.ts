/** Helpers for billing. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Tenant } from '../../src/api/caller.ts'
import type { Id } from '../../src/api/ids.ts'
import { billingInvariants } from '../../src/modules/billing/invariants.ts'
import {
  billingService,
  usageOfCharge,
  type ChargeItem,
  type RefundedMessage,
} from '../../src/modules/billing/service.ts'
import { billingPeriodicJobs } from '../../src/modules/billing/periodic-jobs.ts'
import { transact } from '../../src/platform/database/sql.ts'
import { closing } from './closing.ts'
import { startPlatform, type PlatformOptions } from './world.ts'

export async function openAccount(t: TestContext, options: PlatformOptions = {}) {
  const { platform, pool, clock } = await startPlatform(t, options)
  const { ids } = platform
  const billing = billingService(platform)
  closing(t, () => billing.topUps.close())
  const tenant: Tenant = { account_id: ids('acc'), mode: 'live' }
  await pool`insert into accounts (id, name, created_at) values (${tenant.account_id}, 'One', ${clock.iso()})`

  const chargeAs = async (mode: 'live' | 'test', ...prices: number[]): Promise<RefundedMessage[]> => {
    const items = prices.map((price_micros): ChargeItem => ({
      message_id: ids('msg'),
      ...tenant,
      mode,
      channel_type: 'sms',
      channel_id: 'ch_1',
      price_micros,
      created_at: clock.iso(),
    }))
    return await transact(pool, async (tx) => {
      const charges = await billing.chargeInOrder(tx, items)
      const paid = items.flatMap((item, at) => {
        const charge = charges[at]!
        return charge.outcome === 'charged' ? [{ ...item, ...charge, billing_source: charge.source }] : []
      })
      await billing.addUsage(
        tx,
        paid.map((item) => usageOfCharge(item, item)),
      )
      return paid
    })
  }
  const charge = Object.assign((...prices: number[]) => chargeAs('live', ...prices), { as: chargeAs })
  const periodicJobs = async () => {
    for (const periodicJob of billingPeriodicJobs(platform)) await periodicJob.run()
  }
  const events = async () => [
    ...(await pool<
      { type: string; object_id: string; object: Record<string, unknown> }[]
    >`select type, object_id, object::json as object from events order by position, id`),
  ]
  const proven = async () => {
    for (const invariant of billingInvariants) assert.deepEqual(await invariant.breaches(pool), [], invariant.name)
  }
  return {
    billing,
    tenant: tenant as Tenant & { account_id: Id<'acc'> },
    platform,
    pool,
    clock,
    ids,
    charge,
    periodicJobs,
    events,
    proven,
  }
}
