/** Cancels and withdraws messages with their refunds (behaviour: messages 8.4). */
import type { Tenant } from '../../api/caller.ts'
import { Problem } from '../../api/problem.ts'
import { isoTime } from '../../lib/clock.ts'
import { type Db, transact } from '../../platform/database/sql.ts'
import { endJobs } from './dispatch/repository.ts'
import type { Withdrawing } from './dispatch/in-progress.ts'
import { getMessage } from './queries.ts'
import type { MessageRow } from './message.ts'
import { applyTransitions, type TransitionDeps } from './transitions.ts'
import { lockWithdrawable } from './repository.ts'

export type CancellingDeps = TransitionDeps & Withdrawing

const cancelled = {
  code: 'cancelled',
  message: 'The message was cancelled before it was sent.',
  provider_code: null,
}

/** Throws `resource_missing` and `message_state_invalid`. */
export async function cancelMessage(deps: CancellingDeps, sql: Db, tenant: Tenant, id: string): Promise<MessageRow> {
  const { clock } = deps.platform
  const { status } = await getMessage(sql, tenant, id)
  if (status !== 'queued') throw notCancelled(status)
  if (deps.withdraw([id]).has(id)) throw notCancelled('being sent')
  const row = await transact(sql, async (tx) => {
    const { account_id, mode } = tenant
    const changed = await applyTransitions(deps, tx, [
      { account_id, mode, message_id: id, transition: 'cancel', at: isoTime(clock.now()), error: cancelled },
    ])
    if (changed.size > 0) await endJobs(tx, [id])
    return changed.get(id)
  })
  if (row === undefined) throw notCancelled((await getMessage(sql, tenant, id)).status)
  deps.platform.notify('fan-out')
  deps.projections.wake([row])
  return row
}

const notCancelled = (state: string): Problem =>
  new Problem('message_state_invalid', `The message is ${state}; only a queued message can be cancelled.`)

const withdrawn = {
  code: 'cancelled',
  message: 'The message was withdrawn before it was sent.',
  provider_code: null,
}

/**
 * Skips messages that are in progress, have unknown outcomes or are locked. Resolves to the ids of the withdrawn ones.
 */
export async function withdrawMessages(
  deps: CancellingDeps,
  tx: Db,
  tenant: Tenant,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const locked = await lockWithdrawable(tx, tenant, ids)
  const inProgress = deps.withdraw(locked.flatMap(({ id, status }) => (status === 'queued' ? [id] : [])))
  const at = isoTime(deps.platform.clock.now())
  const { account_id, mode } = tenant
  const changed = await applyTransitions(
    deps,
    tx,
    locked
      .filter(({ id }) => !inProgress.has(id))
      .map(({ id, status }) => ({
        account_id,
        mode,
        message_id: id,
        transition: status === 'queued' ? ('cancel' as const) : ('refuse' as const),
        at,
        error: withdrawn,
      })),
  )
  await endJobs(tx, [...changed.keys()])
  return new Set(changed.keys())
}
