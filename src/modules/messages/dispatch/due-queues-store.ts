/** SQL that finds the queues in which something is due. Workers work across tenants. */
import type { Db } from '../../../platform/database/sql.ts'
import type { DueQueue } from './repository.ts'

/** Queues with due jobs, in order, and the queue behind which the next look begins: '' when all were looked at. */
export interface DueQueues {
  readonly due: DueQueue[]
  readonly next: string
}

/**
 * The queues behind `after` that have due jobs in nobody's hand, at most `queues_max`, by a loose scan of the index. At most `scanned_max` queues are looked at: those in which all is due
 * later count too, and may be many.
 */
export async function listDueQueues(
  sql: Db,
  at: string,
  after: string,
  { queues_max, scanned_max }: { queues_max: number; scanned_max: number },
): Promise<DueQueues> {
  // the last queue looked at is told even where nothing in it is due: behind it the next look begins
  const rows = await sql<(DueQueue & { readonly number: number; readonly is_due: boolean })[]>`
    with recursive q(queue, number) as (
      (select queue, 1 from dispatch_jobs where process_id is null and queue > ${after} order by queue limit 1)
      union all
      select (select j.queue from dispatch_jobs j where j.process_id is null and j.queue > q.queue order by j.queue limit 1), number + 1 from q where q.queue is not null and number < ${scanned_max}
    )
    select q.queue, q.number, d.account_id is not null as is_due, d.account_id, d.mode, d.channel_id from q left join lateral (
      select j.account_id, j.mode, j.channel_id from (values (0::smallint), (1::smallint), (2::smallint)) p(priority)
      cross join lateral (select * from dispatch_jobs where process_id is null and queue = q.queue and priority = p.priority and next_run_at <= ${at} order by next_run_at limit 1) j limit 1
    ) d on true where q.queue is not null and (d.account_id is not null or q.number = ${scanned_max})
    limit ${queues_max}`
  const last = rows.at(-1)
  return {
    due: rows.filter(({ is_due }) => is_due),
    next: last !== undefined && (rows.length === queues_max || last.number === scanned_max) ? last.queue : '',
  }
}
