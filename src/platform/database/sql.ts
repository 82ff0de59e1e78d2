/** Database types, transactions, and helpers for statements. */
import type postgres from '#postgres'

/** For repository functions: a pool or a transaction, without `begin`, so that only services open transactions. */
// oxlint-disable-next-line typescript/no-empty-object-type
export type Db = postgres.ISql<{}>
/** The pool. */
// oxlint-disable-next-line typescript/no-empty-object-type
export type Pool = postgres.Sql<{}>
/** An open transaction. */
// oxlint-disable-next-line typescript/no-empty-object-type
export type Transaction = postgres.TransactionSql<{}>

/** A part of a statement. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

/** Runs `work` in a transaction: a new one on a pool, a savepoint in an open transaction. */
export async function transact<T>(sql: Db, work: (sql: Transaction) => Promise<T>): Promise<T> {
  if (isTransaction(sql)) return (await sql.savepoint(work)) as T
  return (await (sql as Pool).begin(work)) as T
}

/** False in an open transaction. */
export const isPool = (sql: Db): sql is Pool => !isTransaction(sql)

/** Whether the transaction has written or locked anything yet. */
export async function hasWritten(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ written: boolean }[]>`select pg_current_xact_id_if_assigned() is not null as written`
  return row!.written
}

/** An id of this transaction that stays valid after the connection is gone. */
export async function transactionId(tx: Transaction): Promise<string> {
  const [row] = await tx<{ id: string }[]>`select pg_current_xact_id()::text as id`
  return row!.id
}

/** Whether a transaction was certainly not committed. False also during its commit, and when the database is unreachable. */
export async function didNotCommit(sql: Db, transaction: string): Promise<boolean> {
  const [row] = await sql<
    { aborted: boolean }[]
  >`select pg_xact_status(${transaction}::xid8) = 'aborted' as aborted`.catch(() => [])
  return row?.aborted === true
}

function isTransaction(sql: Db): sql is Transaction {
  return 'savepoint' in sql
}

/** Runs several reads on one snapshot; in an open transaction on its snapshot. */
export async function atOneMoment<T>(sql: Db, read: (sql: Db) => Promise<T>): Promise<T> {
  if (isTransaction(sql)) return await read(sql)
  return (await (sql as Pool).begin('isolation level repeatable read read only', read)) as T
}

/**
 * Awaits pipelined statements of one transaction, which the database executes in order. Rejects with the first error in that order, because later statements
 * only fail as a consequence.
 */
export async function allSent(sent: readonly Promise<unknown>[]): Promise<void> {
  const settled = await Promise.allSettled(sent)
  for (const one of settled) if (one.status === 'rejected') throw one.reason
}

/** Limits the duration of the following statements of the transaction (SQLSTATE 57014). */
export async function limitStatements(tx: Transaction, ms: number): Promise<void> {
  await tx`select set_config('statement_timeout', ${String(ms)}, true)`
}

/** The SQLSTATE of a database error, otherwise undefined. */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** The constraint that an error names, so that a service can map it to a Problem. */
export function violatedConstraint(error: unknown): string | undefined {
  const name = error instanceof Error && 'constraint_name' in error ? error.constraint_name : undefined
  return typeof name === 'string' ? name : undefined
}

/** A list of rows as one JSON parameter: `from json_to_recordset(${jsonRows(rows)}::text::json) as t(…)`. */
export const jsonRows = (rows: readonly object[]): string => JSON.stringify(rows)

/**
 * One column of a set-wise statement as text: `select unnest(text_column(${textColumn(values)})) as name, …`. For non-empty values without line breaks: ids,
 * words, times, numbers, and output of `JSON.stringify`. Costs the database a third of `jsonRows`. A column without any value is empty; its rows are null
 * beside other columns. Use it in the select list: after `from` each column would be materialized first.
 */
export const textColumn = (values: readonly (string | number | boolean | null)[]): string =>
  values.every((value) => value === null) ? '' : values.join('\n')
