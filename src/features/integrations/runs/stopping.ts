/**
 * What becomes of waiting runs when their automation or source changes. However many there are, the change is written in a short transaction: one that held the source for as
 * long as a hundred thousand runs take would hold everything up that is reported.
 */
import type { Tenant } from '../../../contract/caller.ts'
import type { Db, Transaction } from '../../../platform/database/sql.ts'
import { cancelRuns, changeCancelOn, listWaiting, type CancelReason, type WaitingOf } from './store.ts'

/** What is left to be done once the change is committed, and before it is answered. */
export type Rest = (sql: Db) => Promise<void>

/** Runs of one transaction. */
const runsAtOnce = 1000

/** Cancels what waits now; the lane cancels what is left of it when it is due, should the process die before. */
export const cancelWaitingOf = (tx: Transaction, tenant: Tenant, of: WaitingOf, reason: CancelReason): Promise<Rest> =>
  slicewise(tx, tenant, of, (sql, ids) => cancelRuns(sql, tenant, ids, reason))

/** Has what waits of an automation cancelled by these types of event from now on. */
export const changeCancelOnOf = (tx: Transaction, tenant: Tenant, of: WaitingOf, cancel_on: readonly string[]): Promise<Rest> =>
  slicewise(tx, tenant, of, (sql, ids) => changeCancelOn(sql, tenant, ids, cancel_on))

async function slicewise(tx: Transaction, tenant: Tenant, of: WaitingOf, step: (sql: Db, ids: readonly string[]) => Promise<void>): Promise<Rest> {
  const ids = await listWaiting(tx, tenant, of)
  if (ids.length > 0) await step(tx, ids.slice(0, runsAtOnce))
  return async (sql) => {
    for (let from = runsAtOnce; from < ids.length; from += runsAtOnce) await step(sql, ids.slice(from, from + runsAtOnce))
  }
}
