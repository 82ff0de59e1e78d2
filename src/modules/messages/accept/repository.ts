/** SQL of the locking path: rows held for their producer, messages written, and what the producer makes of them. */
import { jsonRows, type Db } from '../../../platform/database/sql.ts'
import { acceptedTransitions } from '../projections-repository.ts'
import type { Projections } from '../projections.ts'
import type { AcceptRow, Moment, Paid } from './row.ts'
import { agreement, forColumns } from './producer-store.ts'
import type { ProducerFragment } from './producers.ts'

/** A row as its producer sees it, of the relation `submitted`. */
export interface SubmittedRow {
  readonly row: AcceptRow
  readonly message_id: string | null
  readonly code: string | null
  /** Opaque; on the first row of a submission that makes one of its outcomes. */
  readonly value: unknown
}

/** The columns that every producer's rows have, and its own, as a table of JSON. */
const producerRows = (sql: Db, producer: ProducerFragment, rows: readonly object[]) => sql`
  json_to_recordset(${jsonRows(rows)}::text::json) as i(n int, account_id text, mode text, submission_key text, message_id text, code text, value json${forColumns(sql, producer, (name) => sql`, ${sql(name)} text`)})`

const keysOf = ({ n, account_id, mode, submission_key, alongside }: AcceptRow) => ({
  n,
  account_id,
  mode,
  submission_key,
  ...alongside,
})

/** Claims the rows of a producer for this transaction, without waiting; resolves to the numbers of those that could be. */
export async function holdRows(
  tx: Db,
  producer: ProducerFragment,
  rows: readonly AcceptRow[],
  moment: Moment,
): Promise<Set<number>> {
  const held = await tx<{ n: number }[]>`
    select i.n from ${producerRows(tx, producer, rows.map(keysOf))}
    cross join lateral (select from (${producer.held(tx, moment)}) claimed limit 1) h`
  return new Set(held.map(({ n }) => n))
}

/** Tells a producer what became of its rows; fails with 40001 where another transaction came in between. */
export async function settleRows(
  tx: Db,
  producer: ProducerFragment,
  rows: readonly SubmittedRow[],
  moment: Moment,
): Promise<void> {
  if (rows.length === 0) return
  const answers = rows.map(({ row, message_id, code, value }) => ({ ...keysOf(row), message_id, code, value }))
  await tx`
    with submitted as materialized (
      select n, account_id, mode, submission_key as key, message_id, code, value${forColumns(tx, producer, (name) => tx`, ${tx(name)}`)}
      from ${producerRows(tx, producer, answers)}
    ),
    settled as (${producer.settle(tx, moment)})
    select agree(${agreement(tx, producer)})`
}

/** A message to be written: its row, and how it was paid. */
export type PaidRow = Omit<
  AcceptRow,
  'alongside' | 'poisoned' | 'suppression' | 'address' | 'kind' | 'windowed' | 'txn' | 'price'
> &
  Paid

/** Writes messages, their jobs, and what their projections are told. */
export async function insertMessages(
  tx: Db,
  projections: Projections,
  rows: readonly PaidRow[],
  at: string,
): Promise<void> {
  if (rows.length === 0) return
  const pairs = projections.pairsOf(rows)
  const transition =
    pairs.length === 0
      ? tx``
      : tx`,
    transition as (${acceptedTransitions(tx, pairs, tx`select account_id, mode, id, submission_key, origin_type, origin_id from i`, at)})`
  await tx`
    with i as materialized (
      select * from json_to_recordset(${jsonRows(rows)}::text::json) as t(n int, id text, account_id text, mode text, channel_id text, channel_type text, "to" text, "from" text, type text,
        content json, reference text, metadata json, origin_type text, origin_id text, submission_key text, reply_to text, segments smallint, encoding text, priority text, rank smallint,
        send_at timestamptz, expires_at timestamptz, queue text, next_run_at timestamptz, process_id text, contact_id text, billing_source text, amount_micros bigint, package_grant_id text)
    ),
    job as (
      insert into dispatch_jobs (account_id, mode, message_id, channel_id, queue, priority, next_run_at, process_id)
      select account_id, mode, id, channel_id, queue, rank, next_run_at, process_id from i order by n
    )${transition}
    insert into messages (account_id, mode, id, channel_id, channel_type, direction, "to", "from", type, content, status, reference, metadata, billing_source, amount_micros,
      package_grant_id, contact_id, origin_type, origin_id, submission_key, reply_to, segments, encoding, priority, send_at, expires_at, created_at, updated_at)
    select account_id, mode, id, channel_id, channel_type, 'outbound', "to", "from", type, content, 'queued', reference, metadata, billing_source, amount_micros,
      package_grant_id, contact_id, origin_type, origin_id, submission_key, reply_to, segments, encoding, priority, send_at, expires_at, ${at}, ${at}
    from i order by n`
}
