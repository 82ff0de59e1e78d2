/** SQL of message counts per day. */
import type { Tenant } from '../../api/caller.ts'
import type { Db } from '../../platform/database/sql.ts'

/** A `bucket` is the first eight base-32 characters of an id: its time in units of 1.024 s. */
export const quarterOf = (sql: Db) => sql`
  select date_bin(
    '15 minutes',
    to_timestamp(sum((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(bucket, i, 1)) - 1)::bigint << (5 * (8 - i))) * 1.024),
    'epoch'
  ) as quarter
  from generate_series(1, 8) i`

export interface DayCounts {
  readonly date: string
  readonly sent: number
  readonly delivered: number
  readonly failed: number
}

/** Oldest first, up to the day of `now`. */
export async function countDays(
  sql: Db,
  { account_id, mode }: Tenant,
  timezone: string,
  now: string,
  days: number,
): Promise<DayCounts[]> {
  return await sql<DayCounts[]>`
    with day as materialized (
      select d::date as date, d at time zone ${timezone}::text as begins,
        (d + interval '1 day') at time zone ${timezone}::text as ends
      from generate_series(
        ((${now}::timestamptz at time zone ${timezone}::text)::date - ${days - 1}::int)::timestamp,
        (${now}::timestamptz at time zone ${timezone}::text)::date::timestamp, '1 day'
      ) d
    ), fresh as materialized (
      select q.quarter, status, sum(n) as n
      from message_status_counts
      cross join lateral (${quarterOf(sql)}) q
      where not folded and account_id = ${account_id} and mode = ${mode} group by 1, 2
    )
    select day.date::text as date,
      coalesce(
        sum(c.n) filter (where c.status in ('sent', 'delivered', 'read', 'failed_after_sent')), 0
      )::bigint as sent,
      coalesce(sum(c.n) filter (where c.status in ('delivered', 'read')), 0)::bigint as delivered,
      coalesce(sum(c.n) filter (where c.status = 'failed'), 0)::bigint as failed
    from day
    left join lateral (
      select status, n from message_quarter_counts
      where account_id = ${account_id}
        and mode = ${mode}
        and quarter >= day.begins
        and quarter < day.ends
      union all
      select status, n from fresh where quarter >= day.begins and quarter < day.ends
    ) c on true
    group by day.date order by day.date`
}
