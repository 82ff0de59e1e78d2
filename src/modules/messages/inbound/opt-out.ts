/** Handles an opt-out: every message to that recipient that still waits on that channel type is cancelled and refunded, in the transaction of the opt-out. */
import type { ConsentEvent } from '../../../api/domain-events.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { addressKeyOf, recipientsOf } from '../../contacts/service.ts'
import { applyTransitions, type TransitionDeps } from '../transitions.ts'
import type { ConsentRecheck } from '../dispatch/consent.ts'
import { endJobs } from '../dispatch/repository.ts'
import type { Withdrawing } from '../dispatch/unpersisted-sends.ts'
import { listWaiting } from './repository.ts'

const blocked = {
  code: 'recipient_blocked',
  message: 'The recipient opted out before the message was handed over.',
  provider_code: null,
}

export const cancelForOptOut =
  (deps: TransitionDeps & Withdrawing & Pick<ConsentRecheck, 'recheck'>) =>
  async (sql: Db, events: readonly ConsentEvent[]): Promise<void> => {
    for (const { account_id } of events) deps.recheck(account_id)
    const recipients = events.flatMap(({ account_id, mode, channel_type, address }) =>
      recipientsOf(addressKeyOf(channel_type, address)).map((to) => ({ account_id, mode, channel_type, to })),
    )
    const waiting = await listWaiting(sql, recipients)
    const handedOver = deps.withdraw(waiting.map(({ id }) => id))
    const at = isoTime(deps.platform.clock.now())
    const cancelled = await applyTransitions(
      deps,
      sql,
      waiting
        .filter(({ id }) => !handedOver.has(id))
        .map(({ account_id, mode, id }) => ({
          account_id,
          mode,
          message_id: id,
          transition: 'cancel' as const,
          at,
          error: blocked,
        })),
    )
    await endJobs(sql, [...cancelled.keys()])
  }
