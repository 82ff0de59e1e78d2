/** How an account's rows read where they leave for another installation: its feed counts otherwise, and it knows nothing of what processes have in hand here (behaviour: backup 3.3). */
import type { Db } from '../../platform/database/sql.ts'

/** SQL in the place of columns, and rows beside those of the table: an expression for each of its columns, and where they come from. */
export interface MovedRows {
  readonly columns?: Readonly<Record<string, string>>
  readonly beside?: { readonly columns: Readonly<Record<string, string>>; readonly from: string }
}

/** By table. `account_id` is one of ours: letters, digits and `_`. */
export async function movedRows(sql: Db, account_id: string): Promise<Readonly<Record<string, MovedRows>>> {
  const [place] = await sql<
    { position: string; id: string }[]
  >`select position::text as position, id from webhook_fan_out`
  const { position, id } = place ?? { position: '0', id: '' }
  return {
    // what is fanned out lies before all that the other feed will ever hold, in its order; the rest is fanned out there
    events: {
      columns: {
        position: `case when (position, id) <= (${position}, '${id}') then position - ${position} - 1 else position end`,
      },
    },
    webhook_subscriptions: { columns: { since_position: '0', since_snapshot: `'1:1:'::pg_snapshot` } },
    webhook_queue: { beside: inHand(account_id) },
  }
}

/** Handed off to a process, and not settled: pending there. */
const inHand = (account_id: string) => ({
  columns: {
    endpoint_id: 'd.endpoint_id',
    id: 'd.id',
    account_id: 'e.account_id',
    mode: 'e.mode',
    event_id: 'd.event_id',
    event_type: 'd.event_type',
    attempts: '0',
    response_status: 'null::int',
    duration_ms: 'null::int',
    error: 'null::text',
    error_message: 'null::text',
    scheduled: 'true',
    next_run_at: 's.created_at',
    created_at: 's.created_at',
  },
  from: `webhook_handoffs s cross join lateral webhook_handoff_deliveries(s.endpoints, s.deliveries) d join webhook_endpoints e on e.id = d.endpoint_id
    where e.account_id = '${account_id}' and d.endpoint_id <> all (s.dropped)
      and not exists (select from webhook_deliveries w where w.account_id = e.account_id and w.mode = e.mode and w.endpoint_id = d.endpoint_id and w.id = d.id)
      and not exists (select from webhook_retries r where r.endpoint_id = d.endpoint_id and r.id = d.id)
      and not exists (select from webhook_queue q where q.endpoint_id = d.endpoint_id and q.id = d.id)`,
})
