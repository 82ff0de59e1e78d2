/** Database types, transactions, and helpers for statements. */
import type postgres from '#postgres'

/** For repository functions: without `begin`, so that only services open transactions. */
// oxlint-disable-next-line typescript/no-empty-object-type
export type Db = postgres.ISql<{}>
// oxlint-disable-next-line typescript/no-empty-object-type
export type Pool = postgres.Sql<{}>
// oxlint-disable-next-line typescript/no-empty-object-type
export type Transaction = postgres.TransactionSql<{}>

export type Fragment = postgres.PendingQuery<postgres.Row[]>

/** A new transaction on a pool, a savepoint in an open transaction. */
export async function transact<T>(sql: Db, work: (sql: Transaction) => Promise<T>): Promise<T> {
  if (isTransaction(sql)) return (await sql.savepoint(work)) as T
  return (await (sql as Pool).begin(work)) as T
}

export const isPool = (sql: Db): sql is Pool => !isTransaction(sql)

export async function hasWritten(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ written: boolean }[]>`select pg_current_xact_id_if_assigned() is not null as written`
  return row!.written
}

/** Stays valid after the connection is gone. */
export async function transactionId(tx: Transaction): Promise<string> {
  const [row] = await tx<{ id: string }[]>`select pg_current_xact_id()::text as id`
  return row!.id
}

/** False also during the commit, or if the database is unreachable. */
export async function didNotCommit(sql: Db, transaction: string): Promise<boolean> {
  const [row] = await sql<
    { aborted: boolean }[]
  >`select pg_xact_status(${transaction}::xid8) = 'aborted' as aborted`.catch(() => [])
  return row?.aborted === true
}

function isTransaction(sql: Db): sql is Transaction {
  return 'savepoint' in sql
}

/** Uses the snapshot of an open transaction. */
export async function inOneSnapshot<T>(sql: Db, read: (sql: Db) => Promise<T>): Promise<T> {
  if (isTransaction(sql)) return await read(sql)
  return (await (sql as Pool).begin('isolation level repeatable read read only', read)) as T
}

/** Rejects with the first error in order: later statements fail as a consequence. */
export async function allInOrder(sent: readonly Promise<unknown>[]): Promise<void> {
  const settled = await Promise.allSettled(sent)
  for (const one of settled) if (one.status === 'rejected') throw one.reason
}

export async function limitStatements(tx: Transaction, ms: number): Promise<void> {
  await tx`select set_config('statement_timeout', ${String(ms)}, true)`
}

/**
 * Of `rows`, which have a column `bytes`, the first in `order` that have `bytes_max` together, at least one. Rows may be
 * locked in `rows`; those beyond the bound stay locked until the end of the transaction.
 */
export const withinBytes = (
  sql: Db,
  rows: Fragment,
  { order, bytes_max }: { readonly order: Fragment; readonly bytes_max: number },
): Fragment => sql`
  select *
  from (select r.*, sum(bytes) over (order by ${order} rows unbounded preceding) - bytes as bytes_before from (${rows}) r) r
  where bytes_before < ${bytes_max}`

export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

export function violatedConstraint(error: unknown): string | undefined {
  const name = error instanceof Error && 'constraint_name' in error ? error.constraint_name : undefined
  return typeof name === 'string' ? name : undefined
}

/** For `from json_to_recordset(${jsonRows(rows)}::text::json) as t(…)`. */
export const jsonRows = (rows: readonly object[]): string => JSON.stringify(rows)

/**
 * For `select unnest(text_column(${textColumn(values)})) as name`; costs a third of `jsonRows`. Values must be
 * non-empty and without line breaks; nulls are empty lines.
 */
export const textColumn = (values: readonly (string | number | boolean | null)[]): string =>
  values.every((value) => value === null) ? '' : values.join('\n')
