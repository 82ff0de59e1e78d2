/** SQL fragments that charge messages in the statement that accepts them. `charge.ts` has the same rule in memory. */
import type { Db } from '../../platform/database/sql.ts'

export const usableAt = (sql: Db, at: string) =>
  sql`credits_remaining > 0 and expired_at is null and (expires_at is null or expires_at > ${at})`

export const paysFor = (sql: Db, channel_type: ReturnType<Db>) =>
  sql`(channel_types = '{}' or ${channel_type} = any (channel_types))`

export const orderOfUse = (sql: Db) => sql`expires_at nulls last, id`

export interface ChargeMoment {
  readonly at: string
  /** balance.low is recorded again for wallets that had it before this time. */
  readonly low_cutoff: string
  readonly several: boolean
}

/**
 * CTEs that debit the rows of `checked` (account_id, channel_type, price, verdict) without a verdict. They end in
 * `fund` (account_id, channel_type, grant_id, covered, balance_before, sequence_before, entry_at), to be joined where
 * `price > 0`. Not covered, and charged under locks by `charge.ts`: too little money, a wallet that falls below its
 * threshold without credits, a grant that would run empty. Wallets are locked in account order.
 */
export const fundsFor = (sql: Db, { at, low_cutoff, several }: ChargeMoment) => sql`
    ${pricedSources(sql, at)},
    debit as (
      update wallets w set
        balance_micros = w.balance_micros - need.total,
        last_sequence = w.last_sequence + need.messages,
        last_entry_at = greatest(w.last_entry_at, ${at})
      from (
        select account_id, coalesce(sum(total) filter (where grant_id is null), 0)::bigint as total,
          sum(messages)::bigint as messages
        from source
        ${several ? sql`join (${walletsOfSource(sql)}) locked using (account_id)` : sql``}
        group by account_id
      ) need
      where w.account_id = need.account_id
        and (
          need.total = 0
          or w.balance_micros >= need.total
          and (w.balance_micros - need.total >= w.low_balance_micros or w.low_balance_at > ${low_cutoff} or ${hasCredits(sql, at)})
        )
      returning w.account_id, w.balance_micros + need.total as balance_before,
        w.last_sequence - need.messages as sequence_before,
        case when (w.last_entry_at at time zone 'utc')::date = ${at.slice(0, 10)}::date then w.last_entry_at else ${at} end as entry_at
    ),
    credit as (
      update grants g set credits_remaining = g.credits_remaining - need.credits
      from (
        select account_id, grant_id, sum(messages)::bigint as credits
        from source s
        where grant_id is not null
          and exists (select from debit d where d.account_id = s.account_id)
        group by account_id, grant_id
      ) need
      where g.account_id = need.account_id
        and g.id = need.grant_id
        and g.credits_remaining > need.credits
        and g.expired_at is null
      returning g.account_id, g.id as grant_id
    ),
    fund as materialized (
      select s.account_id, s.channel_type, s.grant_id, d.balance_before, d.sequence_before, d.entry_at,
        d.account_id is not null and (s.grant_id is null or g.grant_id is not null) as covered
      from source s
      left join debit d on d.account_id = s.account_id
      left join credit g on g.account_id = s.account_id and g.grant_id = s.grant_id
    )`

/** The charge of each account and channel type, and the grant that pays first. */
const pricedSources = (sql: Db, at: string) => sql`
    source as materialized (
      select p.*, g.id as grant_id
      from (
        select account_id, channel_type, sum(price)::bigint as total, count(*) as messages
        from checked
        where verdict is null and price > 0
        group by account_id, channel_type
      ) p
      left join lateral (
        select id
        from grants
        where account_id = p.account_id
          and ${usableAt(sql, at)}
          and ${paysFor(sql, sql`p.channel_type`)}
        order by ${orderOfUse(sql)}
        limit 1
      ) g on true
    )`

/**
 * Whether the account of wallet `w` has credits left. The statement may wait for the wallet and still see a grant that
 * was emptied meanwhile: grants count only if the wallet has no entry newer than the statement saw.
 */
const hasCredits = (sql: Db, at: string) => sql`exists (
            select from wallets seen
            join grants using (account_id)
            where seen.account_id = w.account_id
              and seen.last_sequence = w.last_sequence
              and ${usableAt(sql, at)}
          )`

const walletsOfSource = (sql: Db) => sql`
          select account_id
          from wallets
          where account_id in (select account_id from source)
          order by account_id
          for update`

/**
 * From `decided` (n, account_id, id, txn, price, accepted, and from `fund` grant_id, balance_before, sequence_before
 * and entry_at).
 */
export const chargesFrom = (sql: Db) => sql`
      insert into ledger_entries
        (account_id, id, sequence, type, unit, debit, credit, amount, package_grant_id, message_id,
        balance_after_micros, created_at)
      select account_id, txn, sequence_before + row_number() over posted, 'message_charge',
        case when grant_id is null then 'usd_micros' else 'credits' end,
        coalesce('grant:' || grant_id, 'wallet'), 'usage',
        case when grant_id is null then price else 1 end,
        grant_id, id,
        balance_before - sum(case when grant_id is null then price else 0 end) over posted,
        entry_at
      from decided
      where accepted and price > 0
      window posted as (partition by account_id order by n)`

/** Of accepted rows of `decided` (account_id, mode, channel_type, channel_id, price, grant_id). */
export const usageFrom = (sql: Db, at: string) => sql`
      insert into usage_rows (account_id, mode, day, channel_type, channel_id, messages, package_credits,
        wallet_micros)
      select account_id, mode, ${at.slice(0, 10)}::date, channel_type, channel_id, count(*), count(grant_id),
        coalesce(sum(price) filter (where grant_id is null), 0)
      from decided
      where accepted
      group by account_id, mode, channel_type, channel_id`
