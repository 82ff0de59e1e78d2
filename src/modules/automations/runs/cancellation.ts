/**
 * What becomes of waiting runs when their automation or source changes (behaviour: integrations 5.6): most of them follow before it, in transactions of their own, and the rest in the transaction of the change.
 * One that held the source for as long as a hundred thousand runs take would hold everything up that is reported; and whatever dies when, nothing is left behind.
 */
import type { Tenant } from '../../../api/caller.ts'
import { cancelStopped, listStopped } from './due-repository.ts'
import { type CancelReason, cancelRuns, listWaiting, type WaitingOf } from './repository.ts'
import type { Db, Transaction } from '../../../platform/database/sql.ts'
import type { PeriodicJob, Platform } from '../../../platform/platform.ts'

/** What is done with waiting runs. */
export interface Cancellation {
  /** Before the change is made: leaves few to be done with it. */
  before(sql: Db): Promise<void>
  /** In the transaction of the change, which keeps new ones away. */
  within(tx: Transaction): Promise<void>
}

/** Runs of one transaction. */
const runsAtOnce = 1000
/** While runs are made faster than that: what is left then is done with the change, however long it takes. */
const passesMax = 5

/** Cancels what waits. */
export const cancelWaitingOf = (tenant: Tenant, of: WaitingOf, reason: CancelReason): Cancellation => ({
  async before(sql) {
    for (let pass = 1; pass <= passesMax; pass++) {
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

export const cancellingLeftovers = ({ pool }: Pick<Platform, 'pool'>): PeriodicJob => ({
  name: 'runs of what is stopped',
  every_ms: 10_000,
  async run() {
    let cancelled = 0
    for (const automation of await listStopped(pool, automationsAtOnce)) {
      for (let some = runsAtOnce; some === runsAtOnce; cancelled += some)
        some = await cancelStopped(pool, automation, runsAtOnce)
    }
    return cancelled
  },
})
