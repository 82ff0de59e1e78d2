/** The reaction to an opt-out: every message to that recipient that still waits on that channel type is cancelled and refunded, in the transaction of the opt-out. */
import type { ConsentFact } from '../../../contract/facts.ts'
import { isoTime } from '../../../lib/clock.ts'
import { jsonRows, type Db } from '../../../platform/database/sql.ts'
import { addressKeyOf, recipientsOf } from '../../contacts/service.ts'
import { applyTransitions, type TransitionDeps } from '../transitions/transitions.ts'
import { endJobs } from '../dispatch/completer.ts'
import type { ConsentLooks } from '../dispatch/eligibility.ts'
import type { Withdrawing } from '../dispatch/unpersisted-sends.ts'

const blocked = { code: 'recipient_blocked', message: 'The recipient opted out before the message was handed over.', provider_code: null }

export const cancelForOptOut =
  (deps: TransitionDeps & Withdrawing & Pick<ConsentLooks, 'doubt'>) =>
  async (sql: Db, facts: readonly ConsentFact[]): Promise<void> => {
    for (const { account_id } of facts) deps.doubt(account_id)
    const recipients = facts.flatMap(({ account_id, mode, channel_type, address }) =>
      recipientsOf(addressKeyOf(channel_type, address)).map((to) => ({ account_id, mode, channel_type, to })),
    )
    const waiting = await sql<{ account_id: `acc_${string}`; mode: 'live' | 'test'; id: string }[]>`
    select m.account_id, m.mode, m.id
    from json_to_recordset(${jsonRows(recipients)}::text::json) as t(account_id text, mode text, channel_type text, "to" text)
    join messages m on m.account_id = t.account_id and m.mode = t.mode and m."to" = t."to" and m.channel_type = t.channel_type
    where m.status = 'queued' and m.origin_type <> 'inbound'
    order by m.id`
    const handedOver = deps.withdraw(waiting.map(({ id }) => id))
    const at = isoTime(deps.platform.clock.now())
    const moved = await applyTransitions(
      deps,
      sql,
      waiting
        .filter(({ id }) => !handedOver.has(id))
        .map(({ account_id, mode, id }) => ({ account_id, mode, message_id: id, transition: 'cancel' as const, at, error: blocked })),
    )
    await endJobs(sql, [...moved.keys()])
  }
