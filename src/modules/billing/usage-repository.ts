/** SQL of usage: delta rows, which a periodic job folds into one row per day and channel. */
import { advisoryLocks } from '../../platform/database/locks.ts'
import { jsonRows, type Db } from '../../platform/database/sql.ts'
import type { Tenant } from '../../api/caller.ts'
import type { UsageGroup } from '../../api/resources/usage.ts'
import type { UsageDelta, UsageSum } from './usage.ts'

export async function insertUsage(sql: Db, deltas: readonly UsageDelta[]): Promise<void> {
  if (deltas.length === 0) return
  await sql`
    insert into usage_rows
      (account_id, mode, day, channel_type, channel_id, messages, package_credits, wallet_micros,
      refunded_credits, refunded_micros)
    select account_id, mode, day, channel_type, channel_id, messages, package_credits, wallet_micros,
      refunded_credits, refunded_micros
    from json_to_recordset(${jsonRows(deltas)}::text::json)
      as t(account_id text, mode text, day date, channel_type text, channel_id text, messages bigint,
      package_credits bigint, wallet_micros bigint, refunded_credits bigint, refunded_micros bigint)`
}

export async function sumUsage(
  sql: Db,
  tenant: Tenant,
  days: { from: string; to: string },
  group_by: UsageGroup,
): Promise<UsageSum[]> {
  return await sql<UsageSum[]>`
    select
      case ${group_by}::text
        when 'day' then day::text
        when 'month' then date_trunc('month', day)::date::text
      end as day,
      case when ${group_by}::text in ('channel_type', 'channel') then channel_type end as channel_type,
      case when ${group_by}::text = 'channel' then channel_id end as channel_id,
      sum(messages)::bigint as messages, sum(package_credits)::bigint as package_credits,
      sum(wallet_micros)::bigint as wallet_micros, sum(refunded_credits)::bigint as refunded_credits,
      sum(refunded_micros)::bigint as refunded_micros
    from usage_rows
    where account_id = ${tenant.account_id}
      and mode = ${tenant.mode}
      and day between ${days.from}::text::date and ${days.to}::text::date
    group by 1, 2, 3
    order by 1 desc, 2, 3`
}

/**
 * The number of folded deltas; 0 while another process folds. Sums only rows that it deleted itself, so nothing is lost
 * or counted twice.
 */
export async function foldUsage(sql: Db, rows_max: number): Promise<number> {
  const [row] = await sql<{ deltas: number }[]>`
    with alone as materialized (
      select pg_try_advisory_xact_lock(${advisoryLocks.fold_usage}) as locked
    ),
    delta as (
      delete from usage_rows
      where ctid = any(array(
        select ctid from usage_rows where not folded and (select locked from alone) limit ${rows_max}))
        and not folded
      returning *
    ),
    touched as (
      select distinct account_id, mode, day, channel_type, channel_id from delta
    ),
    base as (
      delete from usage_rows u using touched t
      where u.folded and u.account_id = t.account_id and u.mode = t.mode and u.day = t.day
        and u.channel_type = t.channel_type and u.channel_id = t.channel_id
      returning u.*
    ),
    folded as (
      insert into usage_rows
        (account_id, mode, day, channel_type, channel_id, messages, package_credits, wallet_micros,
        refunded_credits, refunded_micros, folded)
      select account_id, mode, day, channel_type, channel_id, sum(messages), sum(package_credits),
        sum(wallet_micros), sum(refunded_credits), sum(refunded_micros), true
      from (select * from delta union all select * from base) as every_row
      group by account_id, mode, day, channel_type, channel_id
    )
    select count(*) as deltas from delta`
  return row!.deltas
}
