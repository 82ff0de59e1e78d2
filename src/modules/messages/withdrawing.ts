/** Withdrawing messages that were not handed over, in the transaction of whoever submitted them (docs/decisions/campaigns.md). */
import type { Tenant } from '../../api/caller.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { CancellingDeps } from './cancellation.ts'
import { endJobs } from './dispatch/repository.ts'
import { applyTransitions } from './transitions.ts'
import { lockWithdrawable } from './withdrawing-store.ts'

const withdrawn = {
  code: 'cancelled',
  message: 'The message was withdrawn before it was handed over.',
  provider_code: null,
}

/**
 * Fails and refunds those of these messages that are with no provider: `queued`, or refused for the time being and waiting to be handed over again. One that is being handed over, of which
 * nobody knows whether it arrived, or that another transaction holds, stays as it is. Resolves to the ids of those that were withdrawn, none of which goes out any more.
 */
export async function withdrawMessages(
  deps: CancellingDeps,
  tx: Db,
  tenant: Tenant,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const locked = await lockWithdrawable(tx, tenant, ids)
  const handedOver = deps.withdraw(locked.flatMap(({ id, status }) => (status === 'queued' ? [id] : [])))
  const at = isoTime(deps.platform.clock.now())
  const { account_id, mode } = tenant
  const changed = await applyTransitions(
    deps,
    tx,
    locked
      .filter(({ id }) => !handedOver.has(id))
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
