/** SQL of the search for messages that expire while their queue waits. Workers work across tenants. */
import { limits } from '../../../api/limits.ts'
import { textColumn, type Db } from '../../../platform/database/sql.ts'
import { pickedByProcess, type ClaimedRow } from './repository.ts'

/** A queue's jobs of one priority (its rank), and the job behind which they are looked through. */
export interface SearchPosition {
  readonly queue: string
  readonly rank: number
  readonly next_run_at: string
  readonly message_id: string
}

/** A position before all jobs of the queue and priority. */
export const searchStart = (queue: string, rank: number): SearchPosition => ({
  queue,
  rank,
  next_run_at: '-infinity',
  message_id: '0',
})

export interface Search {
  readonly from: readonly SearchPosition[]
  readonly at: string
  /** The time by which messages age that were not made after it (docs/decisions/clock-jumps.md). */
  readonly aged: string
  /** Of each queue and priority. */
  readonly looked_max: number
  readonly found_max: number
}

export interface Found {
  /** Messages that have outlived their validity. */
  readonly message_ids: readonly string[]
  /** Where the look ended in those queues in which there may be more. */
  readonly reached: readonly SearchPosition[]
}

/** Looks through the due jobs in nobody's hand, the oldest first, for messages that have outlived their validity. */
export async function findExpired(sql: Db, { from, at, aged, looked_max, found_max }: Search): Promise<Found> {
  const column = (of: (position: SearchPosition) => string | number) => textColumn(from.map(of))
  const [row] = await sql<Found[]>`
    with looked as materialized (
      select j.* from (
        select unnest(text_column(${column(({ queue }) => queue)})) as queue, unnest(text_column(${column(({ rank }) => rank)}))::smallint as priority,
          unnest(text_column(${column(({ next_run_at }) => next_run_at)}))::timestamptz as next_run_at, unnest(text_column(${column(({ message_id }) => message_id)})) as message_id
      ) r
      cross join lateral (
        select account_id, mode, message_id, queue, priority, next_run_at from dispatch_jobs
        where process_id is null and queue = r.queue and priority = r.priority and next_run_at <= ${at} and (next_run_at, message_id) > (r.next_run_at, r.message_id)
        order by next_run_at, message_id limit ${looked_max}
      ) j
    ),
    ends as (
      select distinct on (queue, priority) queue, priority as rank, next_run_at, message_id, count(*) over (partition by queue, priority) as jobs
      from looked order by queue, priority, next_run_at desc, message_id desc
    )
    select (select coalesce(json_agg(json_build_object('queue', queue, 'rank', rank, 'next_run_at', next_run_at, 'message_id', message_id)), '[]') from ends where jobs = ${looked_max}) as reached,
      array(
        select l.message_id from looked l cross join lateral (
          select from messages m where m.account_id = l.account_id and m.mode = l.mode and m.id = l.message_id
            and coalesce(m.expires_at, greatest(m.created_at, m.send_at) + ${limits.message_validity_ms}::int * interval '1 ms')
              <= case when m.created_at > ${aged} then ${at}::timestamptz else ${aged}::timestamptz end
          limit 1
        ) m limit ${found_max}
      ) as message_ids`
  return row!
}

/** Claims those of these messages that nobody has in hand. */
export async function claimFound(
  sql: Db,
  claim: { message_ids: readonly string[]; lease_until: string; process_id: string },
): Promise<ClaimedRow[]> {
  if (claim.message_ids.length === 0) return []
  return await sql<ClaimedRow[]>`
    with picked as materialized (
      select message_id, next_run_at from dispatch_jobs where message_id = any(${[...claim.message_ids]}::text[]) and process_id is null for update skip locked
    ),
    ${pickedByProcess(sql, claim)}`
}
