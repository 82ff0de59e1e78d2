/** SQL of the request log. */
import type { Mode, Tenant } from '../../../api/caller.ts'
import { type Db, jsonRows } from '../../../platform/database/sql.ts'
import type { Page } from '../../../platform/http/paging.ts'

export interface RequestRow {
  readonly account_id: string
  readonly mode: Mode
  readonly id: string
  readonly method: string
  readonly path: string
  /** null for unknown paths. */
  readonly operation: string | null
  readonly status: number
  readonly code: string | null
  /** null for requests from the console. */
  readonly key_id: string | null
  readonly user_id: string | null
  readonly duration_ms: number
  readonly created_at: string
}

/** Existing rows stay: an interrupted write is repeated. */
export async function insertRequests(sql: Db, rows: readonly RequestRow[]): Promise<void> {
  await sql`
    insert into request_log (account_id, mode, id, method, path, operation, status, code, key_id, user_id,
      duration_ms, created_at)
    select account_id, mode, id, method, path, operation, status, code, key_id, user_id, duration_ms,
      created_at
    from json_to_recordset(${jsonRows(rows)}::text::json)
      as t(account_id text, mode text, id text, method text, path text, operation text, status integer,
      code text, key_id text, user_id text, duration_ms integer, created_at timestamptz)
    on conflict do nothing`
}

export interface RequestFilters {
  readonly method: string | null
  readonly code: string | null
  readonly refused: boolean | null
}

export async function listRequests(
  sql: Db,
  { account_id, mode }: Tenant,
  filters: RequestFilters,
  page: Page,
): Promise<RequestRow[]> {
  const { method, code, refused } = filters
  return await sql<RequestRow[]>`
    select account_id, mode, id, method, path, operation, status, code, key_id, user_id, duration_ms,
      created_at
    from request_log
    where account_id = ${account_id} and mode = ${mode}
      ${page.starting_after === undefined ? sql`` : sql`and id < ${page.starting_after}`}
      ${method === null ? sql`` : sql`and method = ${method}`}
      ${code === null ? sql`` : sql`and code = ${code}`}
      ${refused === null ? sql`` : refused ? sql`and status >= 400` : sql`and status < 400`}
    order by id desc
    limit ${page.limit + 1}`
}

export async function findRequest(sql: Db, { account_id, mode }: Tenant, id: string): Promise<RequestRow | null> {
  const [row] = await sql<RequestRow[]>`
    select account_id, mode, id, method, path, operation, status, code, key_id, user_id, duration_ms,
      created_at
    from request_log where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return row ?? null
}

export type ChangeRow = Pick<RequestRow, 'account_id' | 'mode' | 'id'>

const changesMax = 20

export async function listChanges(sql: Db, tenants: readonly Tenant[], from: string): Promise<ChangeRow[]> {
  return await sql<ChangeRow[]>`
    select t.account_id, t.mode, r.id
    from json_to_recordset(${jsonRows(tenants.map(({ account_id, mode }) => ({ account_id, mode })))}::text::json) as t(account_id text,
      mode text)
    cross join lateral (
      select id
      from request_log
      where account_id = t.account_id and mode = t.mode and id >= ${from} and status < 400
      order by id desc
      limit ${changesMax}
    ) r`
}
