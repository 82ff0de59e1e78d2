/** SQL of `integration_redactions`: customers whose data must be deleted, and the progress of each. */
import { type Tenant, tenantOf } from '../../../api/caller.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { Redaction } from '../../../sources/event.ts'

export interface RedactionRow extends Tenant, Redaction {
  /** The ID of the request's receipt: only older receipts are redacted. */
  readonly id: string
  readonly source_id: string
  /** Receipts before this ID remain; null while contacts remain. */
  readonly before_id: string | null
}

export type NewRedaction = Omit<RedactionRow, 'before_id'> & { readonly created_at: string }

/** In the transaction of its receipt, so that an answered request cannot be lost. */
export async function insertRedaction(sql: Db, row: NewRedaction): Promise<void> {
  await sql`
    insert into integration_redactions (account_id, mode, id, source_id, external_id, phone, email, order_ids,
      created_at)
    values (${row.account_id}, ${row.mode}, ${row.id}, ${row.source_id}, ${row.external_id}, ${row.phone},
      ${row.email}, ${row.order_ids as string[]}::text[], ${row.created_at})
    on conflict do nothing`
}

export async function listRedactions(sql: Db, but: readonly string[], rows_max: number): Promise<RedactionRow[]> {
  return await sql<RedactionRow[]>`
    select * from (
      select distinct on (account_id) account_id, mode, id, source_id, external_id, phone, email, order_ids,
        before_id
      from integration_redactions
      where id <> all (${but as string[]}::text[]) order by account_id, id
    ) first order by id limit ${rows_max}`
}

export async function advanceRedaction(sql: Db, row: RedactionRow, before_id: string): Promise<void> {
  const { account_id, mode } = tenantOf(row)
  await sql`
    update integration_redactions
    set before_id = ${before_id}
    where account_id = ${account_id} and mode = ${mode} and id = ${row.id}`
}

export async function deleteRedaction(sql: Db, row: RedactionRow): Promise<void> {
  const { account_id, mode } = tenantOf(row)
  await sql`
    delete from integration_redactions where account_id = ${account_id} and mode = ${mode} and id = ${row.id}`
}

export async function firstRedaction(sql: Db): Promise<string | null> {
  const [row] = await sql<
    { created_at: string | null }[]
  >`select min(created_at) as created_at from integration_redactions`
  return row!.created_at
}

export async function listRedactionsBefore(sql: Db, at: string, rows_max: number): Promise<{ id: string }[]> {
  return await sql<
    { id: string }[]
  >`select id from integration_redactions where created_at < ${at} order by id limit ${rows_max}`
}
