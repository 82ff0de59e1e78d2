/** SQL of top-ups. Live mode only. */
import type { TopUpStatus } from '../../../api/resources/top-up.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { Page } from '../../../platform/http/paging.ts'

export interface TopUpRow {
  readonly account_id: string
  readonly id: string
  readonly amount_micros: number
  readonly status: TopUpStatus
  readonly checkout_id: string
  readonly url: string
  readonly user_id: string
  readonly created_at: string
}

export async function insertTopUp(sql: Db, row: TopUpRow): Promise<void> {
  await sql`
    insert into top_ups (account_id, id, amount_micros, status, checkout_id, url, user_id, created_at)
    values (${row.account_id}, ${row.id}, ${row.amount_micros}, ${row.status}, ${row.checkout_id}, ${row.url}, ${row.user_id}, ${row.created_at})`
}

/** An account's top-ups, newest first, one more than the page holds. */
export async function listTopUps(sql: Db, account_id: string, page: Page): Promise<TopUpRow[]> {
  return await sql<TopUpRow[]>`
    select account_id, id, amount_micros, status, checkout_id, url, user_id, created_at
    from top_ups
    where account_id = ${account_id} ${page.starting_after === undefined ? sql`` : sql`and id < ${page.starting_after}`}
    order by id desc
    limit ${page.limit + 1}`
}

export async function topUpExists(sql: Db, account_id: string, id: string): Promise<boolean> {
  const [row] = await sql`select from top_ups where account_id = ${account_id} and id = ${id}`
  return row !== undefined
}

/** Locks the top-up of this checkout until the transaction ends; null where nobody began it. */
export async function lockTopUp(tx: Db, checkout_id: string): Promise<TopUpRow | null> {
  const [row] = await tx<TopUpRow[]>`
    select account_id, id, amount_micros, status, checkout_id, url, user_id, created_at from top_ups where checkout_id = ${checkout_id} for update`
  return row ?? null
}

export async function moveTopUp(tx: Db, row: TopUpRow, status: TopUpStatus, at: string): Promise<void> {
  await tx`update top_ups set status = ${status}, ended_at = ${at} where account_id = ${row.account_id} and id = ${row.id}`
}

export interface TopUpBreach {
  readonly account_id: string
  readonly id: string
  readonly status: TopUpStatus | null
  readonly paid: number
  readonly entries: number
}

/** Paid top-ups that the ledger does not have once and in full, and entries of top-ups that are not paid: 20 of them at most. */
export async function topUpBreaches(sql: Db): Promise<TopUpBreach[]> {
  return await sql<TopUpBreach[]>`
    select account_id, id, t.status, coalesce(t.amount_micros, 0) as paid, coalesce(e.amount, 0)::bigint as entries
    from (select account_id, id, status, case when status = 'paid' then amount_micros else 0 end as amount_micros from top_ups) t
    full join (
      select account_id, top_up_id as id, sum(amount) as amount from ledger_entries where top_up_id is not null group by account_id, top_up_id
    ) e using (account_id, id)
    where coalesce(t.amount_micros, 0) <> coalesce(e.amount, 0)
    order by account_id, id limit 20`
}
