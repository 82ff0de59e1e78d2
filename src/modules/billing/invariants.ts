/**
 * Invariants of billing: balances, packages, refunds, top-ups and usage agree with the ledger (behaviour: billing 7.2).
 */
import type { TopUpStatus } from '../../api/resources/top-up.ts'
import type { Db } from '../../platform/database/sql.ts'
import { invariant, type Invariant } from '../../platform/platform.ts'

export const billingInvariants: readonly Invariant[] = [
  invariant(
    'wallet-equals-ledger',
    walletBreaches,
    (row) =>
      `The wallet of ${row.account_id} holds ${row.stored} micro-USD, but its ledger entries add up to ${row.entries}.`,
  ),
  invariant(
    'grant-equals-ledger',
    grantBreaches,
    (row) =>
      `Package ${row.id} of ${row.account_id} has ${row.stored} credits, but its ledger entries add up to ${row.entries}.`,
  ),
  invariant(
    'entries-in-order',
    orderBreaches,
    (row) =>
      `The entry ${row.id} of ${row.account_id} states a balance of ${row.stored} micro-USD, but the entries up to it add up to ${row.entries}.`,
  ),
  invariant(
    'refund-matches-charge',
    refundBreaches,
    (row) => `The refund ${row.id} of ${row.account_id} does not give back what message ${row.message_id} was charged.`,
  ),
  invariant(
    'top-ups-equal-ledger',
    topUpBreaches,
    (row) =>
      `The top-up ${row.id} of ${row.account_id} (${row.status ?? 'unknown'}) should have added ${row.paid} micro-USD, but its ledger entries add up to ${row.entries}.`,
  ),
  invariant(
    'usage-equals-ledger',
    usageBreaches,
    (row) =>
      `Usage of ${row.account_id} on ${row.day} counts ${row.counted}, but the ledger has ${row.entries} (wallet micros, credits, refunded micros, refunded credits).`,
  ),
]

// At most 20 breaches per query, across all accounts.

interface SumBreach {
  readonly account_id: string
  readonly id: string
  readonly stored: number
  readonly entries: number
}

/** Below zero or different from the sum of their entries; also money entries without a wallet. */
async function walletBreaches(sql: Db): Promise<SumBreach[]> {
  return await sql<SumBreach[]>`
    select account_id, account_id as id, coalesce(w.balance_micros, 0) as stored,
      coalesce(e.sum, 0)::bigint as entries
    from wallets w
    full join (
      select account_id, sum(case when credit = 'wallet' then amount else -amount end) as sum
      from ledger_entries where unit = 'usd_micros' group by account_id
    ) e using (account_id)
    where coalesce(w.balance_micros, 0) <> coalesce(e.sum, 0) or w.balance_micros < 0
    order by account_id limit 20`
}

/** Below zero or different from the sum of their entries; also credit entries without a grant. */
async function grantBreaches(sql: Db): Promise<SumBreach[]> {
  return await sql<SumBreach[]>`
    select account_id, id, coalesce(g.credits_remaining, 0) as stored, coalesce(e.sum, 0)::bigint as entries
    from grants g
    full join (
      select account_id, package_grant_id as id,
        sum(case when credit = 'grant:' || package_grant_id then amount else -amount end) as sum
      from ledger_entries where unit = 'credits' group by account_id, package_grant_id
    ) e using (account_id, id)
    where coalesce(g.credits_remaining, 0) <> coalesce(e.sum, 0) or g.credits_remaining < 0
    order by account_id, id limit 20`
}

/** `balance_after_micros` is not the sum of the account's entries up to it. */
async function orderBreaches(sql: Db): Promise<SumBreach[]> {
  return await sql<SumBreach[]>`
    select account_id, id, stored, entries from (
      select account_id, id, balance_after_micros as stored,
             (sum(case when unit = 'credits' then 0 when credit = 'wallet' then amount else -amount end) over (partition by account_id order by sequence))::bigint as entries
      from ledger_entries
    ) e
    where stored <> entries
    order by account_id, id limit 20`
}

/** Without a charge, or with another amount, unit or grant. */
async function refundBreaches(sql: Db): Promise<{ account_id: string; id: string; message_id: string }[]> {
  return await sql<{ account_id: string; id: string; message_id: string }[]>`
    select refund.account_id, refund.id, refund.message_id
    from ledger_entries refund
    left join ledger_entries charge on charge.message_id = refund.message_id
      and charge.type = 'message_charge'
    where refund.type = 'message_refund'
      and (charge.account_id, charge.unit, charge.amount, charge.debit, charge.credit)
        is distinct from (refund.account_id, refund.unit, refund.amount, refund.credit, refund.debit)
    order by refund.account_id, refund.id limit 20`
}

interface UsageBreach {
  readonly account_id: string
  readonly day: string
  readonly counted: string
  readonly entries: string
}

/** Usage has charges gross, refunds on their own day. */
async function usageBreaches(sql: Db): Promise<UsageBreach[]> {
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
             concat_ws(', ', coalesce(c.micros, 0), coalesce(c.credits, 0), coalesce(c.refunded_micros, 0),
             coalesce(c.refunded_credits, 0)) as counted,
             concat_ws(', ', coalesce(e.micros, 0), coalesce(e.credits, 0), coalesce(e.refunded_micros, 0),
             coalesce(e.refunded_credits, 0)) as entries
      from counted c full join entries e using (account_id, day)
    )
    select account_id, day, counted, entries
    from compared
    where counted <> entries
    order by account_id, day
    limit 20`
}

interface TopUpBreach {
  readonly account_id: string
  readonly id: string
  readonly status: TopUpStatus | null
  readonly paid: number
  readonly entries: number
}

/** Paid top-ups not in the ledger once and in full, and entries of unpaid ones. */
async function topUpBreaches(sql: Db): Promise<TopUpBreach[]> {
  return await sql<TopUpBreach[]>`
    select account_id, id, t.status, coalesce(t.amount_micros, 0) as paid,
      coalesce(e.amount, 0)::bigint as entries
    from (
      select account_id, id, status, case when status = 'paid' then amount_micros else 0 end as amount_micros
      from top_ups) t
    full join (
      select account_id, top_up_id as id, sum(amount) as amount
      from ledger_entries
      where top_up_id is not null
      group by account_id, top_up_id
    ) e using (account_id, id)
    where coalesce(t.amount_micros, 0) <> coalesce(e.amount, 0)
    order by account_id, id limit 20`
}
