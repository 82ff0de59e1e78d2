/** SQL of the end of messages: from which on they are kept, and what is derived from those before. */
import type { Db } from '../../platform/database/sql.ts'
import { quarterOf } from './counts-repository.ts'

/** The id from which on messages are kept, as an expression: those before may be gone, and whoever knows of them does not miss them. */
export const keptFrom = (sql: Db) => sql`coalesce((select kept_from from message_retention), '')`

/** Whether a message with a smaller id still waits to be sent. */
export async function waitsBefore(sql: Db, id: string): Promise<boolean> {
  const [job] = await sql`select from dispatch_jobs where message_id < ${id} limit 1`
  return job !== undefined
}

/** Says that messages with smaller ids are forgotten. What was said stays said, also where they are to be kept for longer now. */
export async function keepFrom(sql: Db, id: string): Promise<void> {
  await sql`
    insert into message_retention as r (kept_from) values (${id})
    on conflict (only_row) do update set kept_from = greatest(r.kept_from, excluded.kept_from)`
}

/**
 * Deletes counts of seconds before one, `rows_max` at most, and takes them out of the quarters of an hour; returns how many. Only what is folded: what is not is
 * folded within seconds. Takes away just what it deleted itself, so that both agree whatever is folded beside it.
 */
export async function forgetCounts(sql: Db, bucket: string, rows_max: number): Promise<number> {
  const [row] = await sql<{ gone: number }[]>`
    with gone as (
      delete from message_status_counts
      where ctid = any(array(select ctid from message_status_counts where folded and bucket < ${bucket} limit ${rows_max})) and folded
      returning account_id, mode, status, bucket, n
    ), by_quarter as (
      select account_id, mode, quarter, status, sum(n) as n from gone cross join lateral (${quarterOf(sql)}) q group by 1, 2, 3, 4
    ), less as (
      update message_quarter_counts c set n = c.n - q.n from by_quarter q
      where c.account_id = q.account_id and c.mode = q.mode and c.quarter = q.quarter and c.status = q.status
    )
    select count(*)::int as gone from gone`
  return row!.gone
}

/** Deletes quarters of an hour before a time that count nothing any more, `rows_max` at most; returns how many. */
export async function forgetQuarters(sql: Db, before: string, rows_max: number): Promise<number> {
  const { count } = await sql`
    delete from message_quarter_counts
    where ctid = any(array(select ctid from message_quarter_counts where n = 0 and quarter < ${before} limit ${rows_max})) and n = 0`
  return count
}
