/** SQL that finds expired messages and queues with due jobs, across tenants. */
import { limits } from '../../../api/limits.ts'
import { type Db, textColumn, withinBytes } from '../../../platform/database/sql.ts'
import { type ClaimedPart, type DueQueue, type RawClaim, pickedByProcess } from './repository.ts'

/** The last job searched. */
export interface SearchPosition {
  readonly queue: string
  readonly rank: number
  readonly next_run_at: string
  readonly message_id: string
}

export const searchStart = (queue: string, rank: number): SearchPosition => ({
  queue,
  rank,
  next_run_at: '-infinity',
  message_id: '0',
})

export interface Search {
  readonly from: readonly SearchPosition[]
  readonly at: string
  /** Messages created earlier expire by this clock (docs/decisions/clock-jumps.md). */
  readonly aged: string
  /** Per queue and priority. */
  readonly scanned_max: number
  readonly found_max: number
}

export interface Found {
  readonly message_ids: readonly string[]
  /** Where the search ended in queues that may have more. */
  readonly reached: readonly SearchPosition[]
}

export async function findExpired(sql: Db, { from, at, aged, scanned_max, found_max }: Search): Promise<Found> {
  const column = (of: (position: SearchPosition) => string | number) => textColumn(from.map(of))
  const [row] = await sql<Found[]>`
    with looked as materialized (
      select j.* from (
        select unnest(text_column(${column(({ queue }) => queue)})) as queue,
          unnest(text_column(${column(({ rank }) => rank)}))::smallint as priority,
          unnest(text_column(${column(({ next_run_at }) => next_run_at)}))::timestamptz as next_run_at,
          unnest(text_column(${column(({ message_id }) => message_id)})) as message_id
      ) r
      cross join lateral (
        select account_id, mode, message_id, queue, priority, next_run_at from dispatch_jobs
        where process_id is null
          and queue = r.queue
          and priority = r.priority
          and next_run_at <= ${at}
          and (next_run_at, message_id) > (r.next_run_at, r.message_id)
        order by next_run_at, message_id limit ${scanned_max}
      ) j
    ),
    ends as (
      select distinct on (queue, priority) queue, priority as rank, next_run_at, message_id,
        count(*) over (partition by queue, priority) as jobs
      from looked order by queue, priority, next_run_at desc, message_id desc
    )
    select (
      select coalesce(
        json_agg(json_build_object('queue', queue, 'rank', rank, 'next_run_at', next_run_at, 'message_id', message_id)),
        '[]'
      )
      from ends
      where jobs = ${scanned_max}
    ) as reached,
      array(
        select l.message_id from looked l cross join lateral (
          select
          from messages m
          where m.account_id = l.account_id
            and m.mode = l.mode
            and m.id = l.message_id
            and coalesce(
              m.expires_at,
              greatest(m.created_at, m.send_at) + ${limits.message_validity_ms}::int * interval '1 ms'
            )
              <= case when m.created_at > ${aged} then ${at}::timestamptz else ${aged}::timestamptz end
          limit 1
        ) m limit ${found_max}
      ) as message_ids`
  return row!
}

export async function claimFound(
  sql: Db,
  claim: { message_ids: readonly string[]; lease_until: string; process_id: string },
  part: ClaimedPart,
): Promise<RawClaim[]> {
  if (claim.message_ids.length === 0) return []
  const locked = sql`
    select message_id, next_run_at, bytes
    from dispatch_jobs
    where message_id = any(${[...claim.message_ids]}::text[])
      and process_id is null
    for update skip locked`
  const order = sql`next_run_at, message_id`
  return await sql<RawClaim[]>`
    with picked as materialized (${withinBytes(sql, locked, { order, bytes_max: limits.claim_bytes_max })}),
    ${pickedByProcess(sql, claim, part)}`
}

/** `next`: where the next scan begins; empty after the last queue. */
export interface DueQueues {
  readonly due: DueQueue[]
  readonly next: string
}

/** After `after`, by a loose index scan. */
export async function listDueQueues(
  sql: Db,
  at: string,
  after: string,
  { queues_max, scanned_max }: { queues_max: number; scanned_max: number },
): Promise<DueQueues> {
  // the last queue scanned is returned even without due jobs, for `next`
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
