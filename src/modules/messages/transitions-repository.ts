/** SQL of transitions with their events and projection rows. */
import type { MessageStatus, OriginType } from '../../api/resources/message.ts'
import { type Db, jsonRows, textColumn } from '../../platform/database/sql.ts'
import { type EventRow, eventsFrom } from '../../platform/events/outbox.ts'
import { type MessageRow, stamps } from './message.ts'
import { referencesOfAccepted } from './references-repository.ts'
import { transitionCte } from './projections-repository.ts'
import type { Projections } from './projections.ts'

export interface TransitionWrite {
  readonly account_id: string
  readonly mode: string
  readonly id: string
  readonly origin_type: OriginType
  /** Rows with another status are skipped. */
  readonly from_status: MessageStatus
  readonly status: MessageStatus
  /** ISO 8601: sets every timestamp of the status that is null. */
  readonly at: string
  /** Null if it was never sent. */
  readonly sending_at: string | null
  readonly error: object | null
  /** Null for a status without an event. */
  readonly event: EventRow | null
}

export interface ReceiptWrite extends TransitionWrite {
  readonly item_id: string
  /** `ctid`. */
  readonly place: string
}

export interface Acceptance extends TransitionWrite {
  readonly provider: string
  readonly provider_id: string
  readonly attempt_id: string
  /** From 1. */
  readonly number: number
  readonly duration_ms: number
  /** Came with the answer. */
  readonly item: { readonly id: string; readonly item: object; readonly next_run_at: string } | null
}

type Cell = string | number | null

const columnOf =
  <T>(writes: readonly T[]) =>
  (of: (write: T) => Cell): string =>
    textColumn(writes.map(of))

const setting = (stamp: (typeof stamps)[MessageStatus][number]): string[] =>
  Object.entries(stamps).flatMap(([status, sets]) => (sets.includes(stamp) ? [status] : []))
const setBy = {
  sent_at: setting('sent_at'),
  delivered_at: setting('delivered_at'),
  read_at: setting('read_at'),
  failed_at: setting('failed_at'),
}

const transitionColumns = (sql: Db, writes: readonly TransitionWrite[]) => {
  const column = columnOf(writes)
  return sql`
    unnest(text_column(${column((write) => write.account_id)})) as account_id,
    unnest(text_column(${column((write) => write.mode)})) as mode,
    unnest(text_column(${column((write) => write.id)})) as id,
    unnest(text_column(${column((write) => write.from_status)})) as from_status,
    unnest(text_column(${column((write) => write.status)})) as status,
    unnest(text_column(${column((write) => write.at)}))::timestamptz as at,
    unnest(text_column(${column((write) => write.sending_at)}))::timestamptz as sending_at,
    unnest(text_column(${column((write) => (write.error === null ? null : JSON.stringify(write.error)))})) as error,
    unnest(text_column(${column((write) => write.event?.id ?? null)})) as event_id,
    unnest(text_column(${column((write) => write.event?.type ?? null)})) as event_type,
    unnest(text_column(${column((write) => write.event?.object ?? null)})) as event_object`
}

const update = (sql: Db) => sql`
  update messages m
  set status = t.status, error = coalesce(t.error::json, m.error), refunded = m.refunded or t.status = 'failed',
    updated_at = t.at,
    sending_at = coalesce(m.sending_at, t.sending_at),
    sent_at = case when t.status = any (${setBy.sent_at}::text[]) then coalesce(m.sent_at, t.at) else m.sent_at end,
    delivered_at = case when t.status = any (${setBy.delivered_at}::text[]) then coalesce(m.delivered_at, t.at) else m.delivered_at end,
    read_at = case when t.status = any (${setBy.read_at}::text[]) then coalesce(m.read_at, t.at) else m.read_at end,
    failed_at = case when t.status = any (${setBy.failed_at}::text[]) then coalesce(m.failed_at, t.at) else m.failed_at end`

const unchanged = (sql: Db) =>
  sql`m.account_id = t.account_id and m.mode = t.mode and m.id = t.id and m.status = t.from_status`

const emittedEvents = (sql: Db) =>
  eventsFrom(
    sql,
    sql`
      select account_id, mode, event_id as id, event_type as type, id as object_id, event_object as object,
        null as endpoint_id, at as created_at
      from changed
      where event_id is not null`,
  )

/** Empty if no projection counts these messages. */
const projected = (sql: Db, projections: Projections, writes: readonly TransitionWrite[]) => {
  const pairs = projections.pairsOf(writes)
  const changed = sql`
    select account_id, mode, id as message_id, submission_key, origin_type, origin_id, from_status, status, at
    from changed`
  return {
    columns: pairs.length === 0 ? sql`` : sql`, m.submission_key, m.origin_type, m.origin_id, t.from_status, m.status`,
    cte: transitionCte(sql, pairs, changed),
  }
}

/** With content and metadata of 80 KB at most, a statement reads 8 MB. */
const rowsAtOnce = 100

export async function readRows(
  tx: Db,
  wanted: readonly { account_id: string; mode: string; message_id: string }[],
): Promise<MessageRow[]> {
  const rows: MessageRow[] = []
  for (let from = 0; from < wanted.length; from += rowsAtOnce) {
    const keys = wanted
      .slice(from, from + rowsAtOnce)
      .map(({ account_id, mode, message_id }) => ({ account_id, mode, message_id }))
    rows.push(
      ...(await tx<MessageRow[]>`
        select m.*
        from json_to_recordset(${jsonRows(keys)}::text::json) as t(account_id text, mode text, message_id text)
        join messages m on m.account_id = t.account_id and m.mode = t.mode and m.id = t.message_id`),
    )
  }
  return rows
}

/** Resolves to the ids written. In the order of ids to prevent deadlocks. */
export async function writeTransitions(
  sql: Db,
  projections: Projections,
  writes: readonly TransitionWrite[],
): Promise<Set<string>> {
  if (writes.length === 0) return new Set()
  const ordered = inOrder(writes)
  const { columns, cte } = projected(sql, projections, ordered)
  const rows = await sql<{ id: string }[]>`
    with changed as (
      ${update(sql)} from (select ${transitionColumns(sql, ordered)}) t where ${unchanged(sql)}
      returning m.account_id, m.mode, m.id, t.at, t.event_id, t.event_type, t.event_object${columns}
    ),
    emitted as (${emittedEvents(sql)})${cte}
    select id from changed`
  return new Set(rows.map(({ id }) => id))
}

/** Deletes the items applied; skips items that are locked or were moved. Resolves to the ids written. */
export async function writeReceipts(
  sql: Db,
  projections: Projections,
  receipts: readonly ReceiptWrite[],
): Promise<Set<string>> {
  if (receipts.length === 0) return new Set()
  const ordered = inOrder(receipts)
  const { columns, cte } = projected(sql, projections, ordered)
  const places = columnOf(ordered)((one) => one.place)
  const rows = await sql<{ id: string }[]>`
    with locked as materialized (
      select ctid as place, id as item_id
      from callback_items
      where ctid = any (text_column(${places})::tid[])
      for update skip locked
    ),
    changed as (
      ${update(sql)}
      from (
        select ${transitionColumns(sql, ordered)}, unnest(text_column(${places}))::tid as place,
          unnest(text_column(${columnOf(ordered)((one) => one.item_id)})) as item_id
      ) t
      join locked h on h.place = t.place and h.item_id = t.item_id where ${unchanged(sql)}
      returning m.account_id, m.mode, m.id, t.at, t.event_id, t.event_type, t.event_object, t.place${columns}
    ),
    emitted as (${emittedEvents(sql)}),
    applied as (
      delete from callback_items where ctid = any (array(select place from changed))
    )${cte}
    select id from changed`
  return new Set(rows.map(({ id }) => id))
}

/** Also ends the job. Resolves to the ids written. An existing reference or attempt is an error (23505). */
export async function writeAcceptances(
  sql: Db,
  projections: Projections,
  acceptances: readonly Acceptance[],
): Promise<Set<string>> {
  if (acceptances.length === 0) return new Set()
  const ordered = inOrder(acceptances)
  const { columns, cte } = projected(sql, projections, ordered)
  const column = columnOf(ordered)
  const rows = await sql<{ id: string }[]>`
    with changed as (
      ${update(sql)}
      from (
        select ${transitionColumns(sql, ordered)},
          unnest(text_column(${column((one) => one.provider)})) as provider,
          unnest(${ordered.map((one) => one.provider_id)}::text[]) as provider_id,
          unnest(text_column(${column((one) => one.attempt_id)})) as attempt_id,
          unnest(text_column(${column((one) => one.number)}))::int as number,
          unnest(text_column(${column((one) => one.duration_ms)}))::int as duration_ms,
          unnest(text_column(${column((one) => one.item?.id ?? null)})) as item_id,
          unnest(text_column(${column((one) => (one.item === null ? null : JSON.stringify(one.item.item)))})) as item,
          unnest(text_column(${column((one) => one.item?.next_run_at ?? null)}))::timestamptz as item_next_run_at
      ) t
      where ${unchanged(sql)}
      returning m.account_id, m.mode, m.id, m.channel_id, t.at, t.event_id, t.event_type, t.event_object,
        t.provider, t.provider_id, t.attempt_id, t.number, t.duration_ms,
        t.item_id, t.item, t.item_next_run_at${columns}
    ),
    emitted as (${emittedEvents(sql)}),
    reference as (${referencesOfAccepted(sql)}),
    kept as (
      insert into callback_items (id, account_id, mode, channel_id, provider_id, item, next_run_at, created_at, bytes)
      select item_id, account_id, mode, channel_id, provider_id, item::json, item_next_run_at, at, octet_length(item)
      from changed
      where item_id is not null
    ),
    attempt as (
      insert into message_attempts (
        account_id, mode, message_id, number, id, provider, outcome, duration_ms, created_at
      )
      select account_id, mode, id, number, attempt_id, provider, 'accepted', duration_ms, at
      from changed
    ),
    ended as (
      delete from dispatch_jobs where message_id = any (array(select id from changed))
    )${cte}
    select id from changed`
  return new Set(rows.map(({ id }) => id))
}

const inOrder = <T extends TransitionWrite>(writes: readonly T[]): T[] =>
  writes.toSorted((one, other) => (one.id < other.id ? -1 : 1))
