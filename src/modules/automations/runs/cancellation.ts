/**
 * Cancels waiting runs when their automation or source changes (behaviour: integrations 5.6). Most are cancelled before
 * the change, to lock the source only briefly.
 */
import type { Tenant } from '../../../api/caller.ts'
import { cancelRunsOfStopped, listStoppedAutomations } from './due-repository.ts'
import { type CancelReason, cancelRuns, listWaiting, type WaitingOf } from './repository.ts'
import type { Db, Transaction } from '../../../platform/database/sql.ts'
import type { PeriodicJob, Platform } from '../../../platform/platform.ts'

export interface Cancellation {
  before(sql: Db): Promise<void>
  /** In the transaction of the change, which prevents new runs. */
  within(tx: Transaction): Promise<void>
}

const runsAtOnce = 1000
const roundsMax = 5

export const cancelWaitingOf = (tenant: Tenant, of: WaitingOf, reason: CancelReason): Cancellation => ({
  async before(sql) {
    for (let round = 1; round <= roundsMax; round++) {
      const ids = await listWaiting(sql, tenant, of)
      if (ids.length <= runsAtOnce) return
      for (let from = 0; from < ids.length; from += runsAtOnce)
        await cancelRuns(sql, tenant, ids.slice(from, from + runsAtOnce), reason)
    }
  },
  async within(tx) {
    const ids = await listWaiting(tx, tenant, of)
    if (ids.length > 0) await cancelRuns(tx, tenant, ids, reason)
  },
})

const automationsAtOnce = 100

export const cancelStoppedRuns = ({ pool }: Pick<Platform, 'pool'>): PeriodicJob => ({
  name: 'cancel-stopped-runs',
  every_ms: 10_000,
  async run() {
    let cancelFound = 0
    for (const automation of await listStoppedAutomations(pool, automationsAtOnce)) {
      for (let some = runsAtOnce; some === runsAtOnce; cancelFound += some)
        some = await cancelRunsOfStopped(pool, automation, runsAtOnce)
    }
    return cancelFound
  },
})
