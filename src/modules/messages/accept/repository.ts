/** SQL of accepting messages. */
import { type Db, type Fragment, jsonRows, textColumn } from '../../../platform/database/sql.ts'
import { acceptedTransitionCte } from '../projections-repository.ts'
import type { Projections } from '../projections.ts'
import type { AcceptRow, Moment, Paid } from './row.ts'
import type { ProducerFragment } from './producers.ts'
import { chargesFrom, fundsFor, usageFrom } from '../../billing/service.ts'
import { eligibilityOf, type Ineligible } from '../../contacts/service.ts'

export interface SubmittedRow {
  readonly row: AcceptRow
  readonly message_id: string | null
  readonly code: string | null
  /** Only on the first row of a submission whose producer stores a value. */
  readonly value: unknown
}

const producerRows = (sql: Db, producer: ProducerFragment, rows: readonly object[]) => sql`
  json_to_recordset(${jsonRows(rows)}::text::json) as i(
    n int, account_id text, mode text, submission_key text, message_id text, code text,
    value json${forColumns(sql, producer, (name) => sql`, ${sql(name)} text`)}
  )`

const keysOf = ({ n, account_id, mode, submission_key, producer_values }: AcceptRow) => ({
  n,
  account_id,
  mode,
  submission_key,
  ...producer_values,
})

/** Without waiting for locks. Resolves to the numbers of the claimed rows. */
export async function claimRows(
  tx: Db,
  producer: ProducerFragment,
  rows: readonly AcceptRow[],
  moment: Moment,
): Promise<Set<number>> {
  const claimed = await tx<{ n: number }[]>`
    select i.n from ${producerRows(tx, producer, rows.map(keysOf))}
    cross join lateral (select from (${producer.claim(tx, moment)}) own limit 1) h`
  return new Set(claimed.map(({ n }) => n))
}

/** Fails with 40001 if another transaction changed the rows. */
export async function completeRows(
  tx: Db,
  producer: ProducerFragment,
  rows: readonly SubmittedRow[],
  moment: Moment,
): Promise<void> {
  if (rows.length === 0) return
  const answers = rows.map(({ row, message_id, code, value }) => ({ ...keysOf(row), message_id, code, value }))
  await tx`
    with submitted as materialized (
      select n, account_id, mode, submission_key as key, message_id, code,
        value${forColumns(tx, producer, (name) => tx`, ${tx(name)}`)}
      from ${producerRows(tx, producer, answers)}
    ),
    completed as (${producer.complete(tx, moment)})
    select agree(${agreement(tx, producer)})`
}

export type PaidRow = Omit<
  AcceptRow,
  'producer_values' | 'poisoned' | 'suppression' | 'address' | 'kind' | 'windowed' | 'txn' | 'price'
> &
  Paid

/** In the order of `messageValues`. */
const messageColumns = (sql: Db) => sql`
  account_id, mode, id, channel_id, channel_type, direction, "to", "from", type, content, status, reference, metadata,
  billing_source, amount_micros, package_grant_id, contact_id,
  origin_type, origin_id, reply_to, segments, encoding, priority, send_at, expires_at, created_at, updated_at`

/** `paid`: billing_source, amount_micros, package_grant_id, contact_id. */
const messageValues = (sql: Db, paid: Fragment, at: string) => sql`
  account_id, mode, id, channel_id, channel_type, 'outbound', "to", "from", type, content, 'queued', reference, metadata,
  ${paid},
  origin_type, origin_id, reply_to, segments, encoding, priority, send_at, expires_at, ${at}, ${at}`

export async function insertMessages(
  tx: Db,
  projections: Projections,
  rows: readonly PaidRow[],
  at: string,
): Promise<void> {
  if (rows.length === 0) return
  const accepted = tx`select account_id, mode, id, submission_key, origin_type, origin_id from i`
  await tx`
    with i as materialized (
      select *
      from json_to_recordset(${jsonRows(rows)}::text::json) as t(
        n int, id text, account_id text, mode text, channel_id text, channel_type text, "to" text, "from" text,
        type text, content json, reference text, metadata json, origin_type text, origin_id text,
        submission_key text, reply_to text, segments smallint, encoding text, priority text, rank smallint,
        send_at timestamptz, expires_at timestamptz, queue text, next_run_at timestamptz, process_id text,
        contact_id text, billing_source text, amount_micros bigint, package_grant_id text
      )
    ),
    job as (
      insert into dispatch_jobs (
        account_id, mode, message_id, channel_id, queue, priority, next_run_at, process_id, bytes
      )
      select account_id, mode, id, channel_id, queue, rank, next_run_at, process_id,
        octet_length(content::text) + octet_length(metadata::text)
      from i
      order by n
    )${acceptedTransitionCte(tx, projections.pairsOf(rows), accepted, at)}
    insert into messages (${messageColumns(tx)}, submission_key)
    select ${messageValues(tx, tx`billing_source, amount_micros, package_grant_id, contact_id`, at)}, submission_key
    from i
    order by n`
}

export interface AcceptVerdict {
  readonly n: number
  /** `withdrawn`: the producer's row could not be claimed. `uncovered`: left to the locking path. */
  readonly verdict: 'accepted' | 'withdrawn' | 'uncovered' | Ineligible
  readonly contact_id: string | null
  readonly package_grant_id: string | null
}

export interface AcceptBatch {
  readonly rows: readonly AcceptRow[]
  readonly producer: ProducerFragment | null
  readonly projections: Projections
  readonly moment: Moment
}

/** The table `i`. Text columns cost the database a third of JSON. */
const inputOf = (sql: Db, { rows, producer }: AcceptBatch, keyed: boolean) => {
  const column = (of: (row: AcceptRow) => string | number | boolean | null) => textColumn(rows.map(of))
  // free text may contain the separator of text columns
  const texts = (of: (row: AcceptRow) => string | null) => (rows.every((row) => of(row) === null) ? [] : rows.map(of))
  const columns = (part: (name: string) => Fragment) => (producer === null ? sql`` : forColumns(sql, producer, part))
  return sql`
    select n::int, id, txn, account_id, mode, channel_id, channel_type, "to", "from", type, content::json,
      reference, metadata::json, price::bigint, origin_type, origin_id, reply_to,
      segments::smallint, encoding, priority, rank::smallint,
      send_at::timestamptz, expires_at::timestamptz, queue, next_run_at::timestamptz, process_id, kind, address,
      suppression,
      windowed::boolean, octet_length(content) + octet_length(metadata) as bytes${keyed ? sql`, submission_key` : sql``}${columns((name) => sql`, ${sql(name)}`)}
    from (
      select unnest(text_column(${column((row) => row.n)})) as n,
        unnest(text_column(${column((row) => row.id)})) as id,
        unnest(text_column(${column((row) => row.txn)})) as txn,
        unnest(text_column(${column((row) => row.account_id)})) as account_id,
        unnest(text_column(${column((row) => row.mode)})) as mode,
        unnest(text_column(${column((row) => row.channel_id)})) as channel_id,
        unnest(text_column(${column((row) => row.channel_type)})) as channel_type,
        unnest(${texts((row) => row.to)}::text[]) as "to",
        unnest(${texts((row) => row.from)}::text[]) as "from",
        unnest(text_column(${column((row) => row.type)})) as type,
        unnest(text_column(${column((row) => JSON.stringify(row.content))})) as content,
        unnest(${texts((row) => row.reference)}::text[]) as reference,
        unnest(text_column(${column((row) => JSON.stringify(row.metadata))})) as metadata,
        unnest(text_column(${column((row) => row.price)})) as price,
        unnest(text_column(${column((row) => row.origin_type)})) as origin_type,
        unnest(text_column(${column((row) => row.origin_id)})) as origin_id,
        unnest(text_column(${column((row) => row.reply_to)})) as reply_to,
        unnest(text_column(${column((row) => row.segments)})) as segments,
        unnest(text_column(${column((row) => row.encoding)})) as encoding,
        unnest(text_column(${column((row) => row.priority)})) as priority,
        unnest(text_column(${column((row) => row.rank)})) as rank,
        unnest(text_column(${column((row) => row.queue)})) as queue,
        unnest(text_column(${column((row) => row.send_at)})) as send_at,
        unnest(text_column(${column((row) => row.expires_at)})) as expires_at,
        unnest(text_column(${column((row) => row.next_run_at)})) as next_run_at,
        unnest(text_column(${column((row) => row.process_id)})) as process_id,
        unnest(text_column(${column((row) => row.kind)})) as kind,
        unnest(${texts((row) => row.address)}::text[]) as address,
        unnest(text_column(${column((row) => row.suppression)})) as suppression, unnest(text_column(${column((row) => row.windowed)})) as windowed${
          keyed ? sql`, unnest(${texts((row) => row.submission_key)}::text[]) as submission_key` : sql``
        }${columns((name) => sql`, unnest(${texts((row) => row.producer_values[name] ?? null)}::text[]) as ${sql(name)}`)}
    ) t`
}

const producerParts = (sql: Db, { producer, moment }: AcceptBatch, keyed: boolean) => {
  if (producer === null) return { joins: sql``, verdict: sql``, completed: sql``, agreed: sql`` }
  return {
    joins: sql`left join lateral (select true as claimed from (${producer.claim(sql, moment)}) own limit 1) h on true`,
    verdict: sql`when h.claimed is null then 'withdrawn'`,
    completed: sql`,
    submitted as materialized (
      select n, account_id, mode, ${keyed ? sql`submission_key` : sql`null::text`} as key,
        case when accepted then id end as message_id, verdict as code,
        null::json as value${forColumns(sql, producer, (name) => sql`, ${sql(name)}`)}
      from decided where accepted or verdict <> 'withdrawn'
    ),
    completed as (${producer.complete(sql, moment)})`,
    agreed: sql`where agree(${agreement(sql, producer)})`,
  }
}

const transitionsOf = (sql: Db, { rows, projections, moment }: AcceptBatch, keyed: boolean): Fragment => {
  const key = keyed ? sql`submission_key` : sql`null::text as submission_key`
  const accepted = sql`select account_id, mode, id, ${key}, origin_type, origin_id from decided where accepted`
  return acceptedTransitionCte(sql, projections.pairsOf(rows), accepted, moment.at)
}

/** Keys, windows and projections only if rows need them. */
export async function acceptBatch(sql: Db, batch: AcceptBatch): Promise<AcceptVerdict[]> {
  const { rows, moment } = batch
  const { at } = moment
  const keyed = rows.some((row) => row.submission_key !== null)
  const eligible = eligibilityOf(sql, { at, windows: rows.some((row) => row.windowed) })
  const parts = producerParts(sql, batch, keyed)
  const keyColumn = () => (keyed ? sql`, submission_key` : sql``)
  const paid = sql`
    case when grant_id is null then 'wallet' else 'package' end,
    case when grant_id is null then price else 0 end,
    grant_id,
    linked`
  return await sql<AcceptVerdict[]>`
    with checked as materialized (
      select i.*, ${eligible.contact_id} as linked,
        case
          ${parts.verdict}
          ${eligible.verdict}
        end as verdict
      from (${inputOf(sql, batch, keyed)}) i
      ${eligible.joins}
      ${parts.joins}
    ),${fundsFor(sql, { ...moment, several: rows.some(({ account_id }) => account_id !== rows[0]!.account_id) })},
    decided as materialized (
      select c.*, f.grant_id, f.balance_before, f.sequence_before, f.entry_at,
        c.verdict is null and (c.price = 0 or coalesce(f.covered, false)) as accepted
      from checked c
      left join fund f on c.price > 0
        and f.account_id = c.account_id
        and f.channel_type = c.channel_type
    ),
    message as (
      insert into messages (${messageColumns(sql)}${keyColumn()})
      select ${messageValues(sql, paid, at)}${keyColumn()}
      from decided
      where accepted
    ),
    job as (
      insert into dispatch_jobs (
        account_id, mode, message_id, channel_id, queue, priority, next_run_at, process_id, bytes
      )
      select account_id, mode, id, channel_id, queue, rank, next_run_at, process_id, bytes
      from decided
      where accepted
    ),
    entry as (${chargesFrom(sql)}
    ),
    usage as (${usageFrom(sql, at)}
    )${transitionsOf(sql, batch, keyed)}${parts.completed}
    select n, linked as contact_id, case when accepted then grant_id end as package_grant_id,
      case when verdict is not null then verdict when accepted then 'accepted' else 'uncovered' end as verdict
    from decided ${parts.agreed}`
}

const agreement = (sql: Db, { agreed }: ProducerFragment): Fragment =>
  agreed?.(sql) ?? sql`(select count(message_id) from completed) = (select count(message_id) from submitted)`

const forColumns = (
  sql: Db,
  { columns }: Pick<ProducerFragment, 'columns'>,
  part: (name: string) => Fragment,
): Fragment | Fragment[] => (columns.length === 0 ? sql`` : columns.map(part))
