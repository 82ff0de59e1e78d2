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
    values (${row.account_id}, ${row.id}, ${row.amount_micros}, ${row.status}, ${row.checkout_id}, ${row.url},
      ${row.user_id}, ${row.created_at})`
}

export async function listTopUps(sql: Db, account_id: string, page: Page): Promise<TopUpRow[]> {
  return await sql<TopUpRow[]>`
    select account_id, id, amount_micros, status, checkout_id, url, user_id, created_at
    from top_ups
    where account_id = ${account_id}
      ${page.starting_after === undefined ? sql`` : sql`and id < ${page.starting_after}`}
    order by id desc
    limit ${page.limit + 1}`
}

export async function topUpExists(sql: Db, account_id: string, id: string): Promise<boolean> {
  const [row] = await sql`select from top_ups where account_id = ${account_id} and id = ${id}`
  return row !== undefined
}

export async function lockTopUp(tx: Db, checkout_id: string): Promise<TopUpRow | null> {
  const [row] = await tx<TopUpRow[]>`
    select account_id, id, amount_micros, status, checkout_id, url, user_id, created_at
    from top_ups
    where checkout_id = ${checkout_id} for update`
  return row ?? null
}

export async function updateTopUpStatus(tx: Db, row: TopUpRow, status: TopUpStatus, at: string): Promise<void> {
  await tx`
    update top_ups
    set status = ${status}, ended_at = ${at}
    where account_id = ${row.account_id} and id = ${row.id}`
}
