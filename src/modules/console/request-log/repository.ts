/** SQL of the request log. */
import type { Mode, Tenant } from '../../../api/caller.ts'
import { type Db, type Fragment, jsonRows, type Transaction } from '../../../platform/database/sql.ts'
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
  /** Requests that the row stands for. */
  readonly count: number
}

/** In bytes, with the row's entries in five indexes: an estimate that is the same when the row is written and deleted. */
const sizeOf = (sql: Db) =>
  sql`600 + octet_length(path) + octet_length(coalesce(operation, '')) + 3 * octet_length(coalesce(code, ''))`

/**
 * Existing rows stay: an interrupted write is repeated. Resolves to the accounts whose rows are larger than `bytes_max`
 * now.
 */
export async function insertRequests(sql: Db, rows: readonly RequestRow[], bytes_max: number): Promise<string[]> {
  const large = await sql<{ account_id: string }[]>`
    with written as (
      insert into request_log (account_id, mode, id, method, path, operation, status, code, key_id, user_id,
        duration_ms, created_at, count)
      select account_id, mode, id, method, path, operation, status, code, key_id, user_id, duration_ms,
        created_at, count
      from json_to_recordset(${jsonRows(rows)}::text::json)
        as t(account_id text, mode text, id text, method text, path text, operation text, status integer,
        code text, key_id text, user_id text, duration_ms integer, created_at timestamptz, count integer)
      on conflict do nothing
      returning account_id, (created_at at time zone 'UTC')::date as day, ${sizeOf(sql)} as bytes
    ), sizes as (
      insert into request_log_sizes (account_id, day, bytes)
      select account_id, day, sum(bytes)
      from written
      group by account_id, day
      order by account_id, day
      on conflict (account_id, day) do update set bytes = request_log_sizes.bytes + excluded.bytes
      returning account_id, day, bytes
    )
    select account_id
    from (select distinct account_id from sizes) a
    where (
      select coalesce(sum(bytes), 0)
      from request_log_sizes s
      where s.account_id = a.account_id and (s.account_id, s.day) not in (select account_id, day from sizes)
    ) + (select sum(bytes) from sizes s where s.account_id = a.account_id) > ${bytes_max}`
  return large.map(({ account_id }) => account_id)
}

const deletedAtOnce = 2_000

/** Of an account, in bytes. Keeps other transactions from changing it until this one ends. */
export async function lockSize(tx: Transaction, account_id: string): Promise<number> {
  const days = await tx<{ bytes: string }[]>`
    select bytes::text
    from request_log_sizes
    where account_id = ${account_id}
    order by day
    for update`
  return days.reduce((sum, { bytes }) => sum + Number(bytes), 0)
}

/** Deletes some of the oldest rows of an account, at most those that hold `excess` bytes; resolves to their number. */
export async function deleteOldestRequests(tx: Transaction, account_id: string, excess: number): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    with oldest as (
      select r.*
      from (values ('live'), ('test')) m(mode)
      cross join lateral (
        select mode, id, ${sizeOf(tx)} as bytes
        from request_log
        where account_id = ${account_id} and mode = m.mode
        order by id
        limit ${deletedAtOnce}
      ) r
      order by id
      limit ${deletedAtOnce}
    ), chosen as (
      select mode, id
      from (select mode, id, sum(bytes) over (order by id) - bytes as before from oldest) o
      where before < ${excess}
    ), deleted as (
      delete from request_log r
      using chosen c
      where r.account_id = ${account_id} and r.mode = c.mode and r.id = c.id
      returning (r.created_at at time zone 'UTC')::date as day, ${sizeOf(tx)} as bytes
    ), sizes as (
      update request_log_sizes s
      set bytes = s.bytes - d.bytes
      from (select day, sum(bytes) as bytes from deleted group by day) d
      where s.account_id = ${account_id} and s.day = d.day
    )
    select count(*)::int as count from deleted`
  return row!.count
}

/** Of days whose partitions were dropped. */
export async function forgetSizes(sql: Db, before: string): Promise<number> {
  return (await sql`delete from request_log_sizes where day < (${before}::timestamptz at time zone 'UTC')::date`).count
}

export interface RequestFilters {
  readonly method: string | null
  readonly code: string | null
  readonly refused: boolean | null
}

const columns = (sql: Db) =>
  sql`account_id, mode, id, method, path, operation, status, code, key_id, user_id, duration_ms, created_at, count`

/**
 * Newest first, one more than the page limit. Filters are written as `= any` and lead the order, so that only the
 * index that begins with them can answer.
 */
export async function listRequests(
  sql: Db,
  { account_id, mode }: Tenant,
  { method, code, refused }: RequestFilters,
  page: Page,
): Promise<RequestRow[]> {
  const matching = (filter: Fragment, order: Fragment) => sql<RequestRow[]>`
    select ${columns(sql)}
    from request_log
    where account_id = ${account_id}
      and mode = ${mode}
      ${page.starting_after === undefined ? sql`` : sql`and id < ${page.starting_after}`}
      ${filter}
    order by ${order}
    limit ${page.limit + 1}`
  if (code !== null) {
    // only refusals have a code
    if (refused === false) return []
    return method === null
      ? await matching(sql`and status >= 400 and code = any(array[${code}])`, sql`code desc, id desc`)
      : await matching(
          sql`and status >= 400 and code = any(array[${code}]) and method = any(array[${method}])`,
          sql`code desc, method desc, id desc`,
        )
  }
  if (method !== null) {
    const ofMethod = (isRefused: boolean) =>
      matching(
        sql`and method = any(array[${method}]) and (status >= 400) = any(array[${isRefused}::boolean])`,
        sql`method desc, (status >= 400) desc, id desc`,
      )
    if (refused !== null) return await ofMethod(refused)
    return await sql<RequestRow[]>`
      select *
      from ((${ofMethod(true)}) union all (${ofMethod(false)})) r
      order by id desc
      limit ${page.limit + 1}`
  }
  if (refused !== null)
    return await matching(
      sql`and (status >= 400) = any(array[${refused}::boolean])`,
      sql`(status >= 400) desc, id desc`,
    )
  return await matching(sql``, sql`id desc`)
}

export async function findRequest(sql: Db, { account_id, mode }: Tenant, id: string): Promise<RequestRow | null> {
  const [row] = await sql<RequestRow[]>`
    select ${columns(sql)}
    from request_log
    where account_id = ${account_id} and mode = ${mode} and id = ${id}`
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
      where account_id = t.account_id and mode = t.mode and id >= ${from} and (status >= 400) = any(array[false])
      order by (status >= 400) desc, id desc
      limit ${changesMax}
    ) r`
}
