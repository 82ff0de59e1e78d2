/** SQL of the proofs: each statement passes the whole ledger once and returns at most 20 breaches, of every account. */
import type { Db } from '../../platform/database/sql.ts'

export interface SumBreach {
  readonly account_id: string
  readonly id: string
  readonly held: number
  readonly entries: number
}

/** Wallets that are not the sum of their entries or below zero, and money entries of accounts without a wallet. */
export async function walletBreaches(sql: Db): Promise<SumBreach[]> {
  return await sql<SumBreach[]>`
    select account_id, account_id as id, coalesce(w.balance_micros, 0) as held, coalesce(e.sum, 0)::bigint as entries
    from wallets w
    full join (
      select account_id, sum(case when credit = 'wallet' then amount else -amount end) as sum
      from ledger_entries where unit = 'usd_micros' group by account_id
    ) e using (account_id)
    where coalesce(w.balance_micros, 0) <> coalesce(e.sum, 0) or w.balance_micros < 0
    order by account_id limit 20`
}

/** Grants whose remaining credits are not the sum of their entries, and credit entries without a grant. */
export async function grantBreaches(sql: Db): Promise<SumBreach[]> {
  return await sql<SumBreach[]>`
    select account_id, id, coalesce(g.credits_remaining, 0) as held, coalesce(e.sum, 0)::bigint as entries
    from grants g
    full join (
      select account_id, package_grant_id as id, sum(case when credit = 'grant:' || package_grant_id then amount else -amount end) as sum
      from ledger_entries where unit = 'credits' group by account_id, package_grant_id
    ) e using (account_id, id)
    where coalesce(g.credits_remaining, 0) <> coalesce(e.sum, 0) or g.credits_remaining < 0
    order by account_id, id limit 20`
}

/** Entries whose `balance_after_micros` is not the sum of the account's entries up to them. */
export async function orderBreaches(sql: Db): Promise<SumBreach[]> {
  return await sql<SumBreach[]>`
    select account_id, id, held, entries from (
      select account_id, id, balance_after_micros as held,
             (sum(case when unit = 'credits' then 0 when credit = 'wallet' then amount else -amount end) over (partition by account_id order by sequence))::bigint as entries
      from ledger_entries
    ) e
    where held <> entries
    order by account_id, id limit 20`
}

/** Refunds without a charge, or of another amount, unit or grant than it. */
export async function refundBreaches(sql: Db): Promise<{ account_id: string; id: string; message_id: string }[]> {
  return await sql<{ account_id: string; id: string; message_id: string }[]>`
    select refund.account_id, refund.id, refund.message_id
    from ledger_entries refund
    left join ledger_entries charge on charge.message_id = refund.message_id and charge.type = 'message_charge'
    where refund.type = 'message_refund'
      and (charge.account_id, charge.unit, charge.amount, charge.debit, charge.credit)
        is distinct from (refund.account_id, refund.unit, refund.amount, refund.credit, refund.debit)
    order by refund.account_id, refund.id limit 20`
}

export interface UsageBreach {
  readonly account_id: string
  readonly day: string
  readonly counted: string
  readonly entries: string
}

/** Days whose usage is not what the ledger says of them: charges gross, refunds on their own day. */
export async function usageBreaches(sql: Db): Promise<UsageBreach[]> {
  return await sql<UsageBreach[]>`
    with counted as (
      select account_id, day, sum(wallet_micros) as micros, sum(package_credits) as credits,
             sum(refunded_micros) as refunded_micros, sum(refunded_credits) as refunded_credits
      from usage_rows where mode = 'live' group by account_id, day
    ), entries as (
      select account_id, (created_at at time zone 'utc')::date as day,
             sum(amount) filter (where type = 'message_charge' and unit = 'usd_micros') as micros,
             sum(amount) filter (where type = 'message_charge' and unit = 'credits') as credits,
             sum(amount) filter (where type = 'message_refund' and unit = 'usd_micros') as refunded_micros,
             sum(amount) filter (where type = 'message_refund' and unit = 'credits') as refunded_credits
      from ledger_entries where type in ('message_charge', 'message_refund') group by 1, 2
    ), compared as (
      select account_id, day,
             concat_ws(', ', coalesce(c.micros, 0), coalesce(c.credits, 0), coalesce(c.refunded_micros, 0), coalesce(c.refunded_credits, 0)) as counted,
             concat_ws(', ', coalesce(e.micros, 0), coalesce(e.credits, 0), coalesce(e.refunded_micros, 0), coalesce(e.refunded_credits, 0)) as entries
      from counted c full join entries e using (account_id, day)
    )
    select account_id, day, counted, entries from compared where counted <> entries order by account_id, day limit 20`
}

/** For proofs of others: the entries that name a message, as a select of id, account_id, message_id, type, unit, amount and package_grant_id. */
export const entriesOfMessages = (sql: Db) => sql`
  select id, account_id, message_id, type, unit, amount, package_grant_id from ledger_entries where message_id is not null`
