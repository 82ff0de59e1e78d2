/** The two shapes in which code holds the database, and the one way to open a transaction. */
import type postgres from '#postgres'

/** What store functions take: a pool or a transaction, without `begin`, so that the compiler lets only services open transactions. */
// oxlint-disable-next-line typescript/no-empty-object-type
export type Db = postgres.ISql<{}>
/** The pool. */
// oxlint-disable-next-line typescript/no-empty-object-type
export type Pool = postgres.Sql<{}>
/** An open transaction. */
// oxlint-disable-next-line typescript/no-empty-object-type
export type Transaction = postgres.TransactionSql<{}>

/** A part of a statement, which another statement is composed of. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

/** Runs `work` in a transaction: a new one on a pool, a savepoint inside an open one. */
export async function transact<T>(sql: Db, work: (sql: Transaction) => Promise<T>): Promise<T> {
  if (isTransaction(sql)) return (await sql.savepoint(work)) as T
  return (await (sql as Pool).begin(work)) as T
}

/** False inside of an open transaction. */
export const isPool = (sql: Db): sql is Pool => !isTransaction(sql)

/** Whether the transaction has written or locked anything so far. */
export async function hasWritten(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ written: boolean }[]>`select pg_current_xact_id_if_assigned() is not null as written`
  return row!.written
}

/** What the database knows this transaction by, after its connection too. */
export async function transactionId(tx: Transaction): Promise<string> {
  const [row] = await tx<{ id: string }[]>`select pg_current_xact_id()::text as id`
  return row!.id
}

/** Whether it is certain that a transaction was not committed. False also while its commit is under way, and where the database cannot be asked. */
export async function didNotCommit(sql: Db, transaction: string): Promise<boolean> {
  const [row] = await sql<
    { aborted: boolean }[]
  >`select pg_xact_status(${transaction}::xid8) = 'aborted' as aborted`.catch(() => [])
  return row?.aborted === true
}

function isTransaction(sql: Db): sql is Transaction {
  return 'savepoint' in sql
}

/** Reads with several statements what there was at one moment. In an open transaction, what that sees. */
export async function atOneMoment<T>(sql: Db, read: (sql: Db) => Promise<T>): Promise<T> {
  if (isTransaction(sql)) return await read(sql)
  return (await (sql as Pool).begin('isolation level repeatable read read only', read)) as T
}

/**
 * Waits for statements of a transaction that were sent without waiting for each other's answers; the database takes them in the order in which they were sent. Rejects with the
 * error of the first that fails, in that order: those behind it fail for its sake alone.
 */
export async function allSent(sent: readonly Promise<unknown>[]): Promise<void> {
  const settled = await Promise.allSettled(sent)
  for (const one of settled) if (one.status === 'rejected') throw one.reason
}

/** From here to the end of the transaction a statement is ended that takes longer (SQLSTATE 57014). */
export async function limitStatements(tx: Transaction, ms: number): Promise<void> {
  await tx`select set_config('statement_timeout', ${String(ms)}, true)`
}

/** The SQLSTATE of a database error, or undefined for anything else. */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** The name of the constraint that an error names, so that a service can turn it into its Problem. */
export function violatedConstraint(error: unknown): string | undefined {
  const name = error instanceof Error && 'constraint_name' in error ? error.constraint_name : undefined
  return typeof name === 'string' ? name : undefined
}

/** One row of a parameterised JSON list: `from json_to_recordset(${jsonRows(rows)}::text::json) as t(…)`. */
export const jsonRows = (rows: readonly object[]): string => JSON.stringify(rows)

/**
 * One column of a set-wise statement, as text: `select unnest(text_column(${textColumn(values)})) as name, …`. For values that hold
 * no line break and are not empty: ids, words, times, numbers, and JSON as `JSON.stringify` writes it. Costs the database a third of
 * what `jsonRows` does. A column without any value is empty: beside columns that have some, its rows are null. In the select list, not after `from`: there every column would be kept as a table of its own first.
 */
export const textColumn = (values: readonly (string | number | boolean | null)[]): string =>
  values.every((value) => value === null) ? '' : values.join('\n')
