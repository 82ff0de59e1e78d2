/** SQL of what providers tell: callbacks as they came, reports until they are applied, and the references by which they name messages. Workers work across tenants. */
import { gzipSync } from 'node:zlib'
import type { Tenant } from '../../../api/caller.ts'
import type { CallbackItem, DeliveryReceipt, InboundMessage } from '../../../providers/provider.ts'
import { type Db, type Fragment, jsonRows, textColumn } from '../../../platform/database/sql.ts'
import type { Reference } from '../references-repository.ts'

export interface NewCallback {
  readonly id: string
  readonly channel_id: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** ISO 8601. */
  readonly at: string
}

/** Bodies that are longer, in bytes, are compressed: on the way to PostgreSQL each byte costs more than in gzip. */
const plainBodyMax = 2048

/** Keeps a callback as it came. */
export async function insertCallback(tx: Db, { id, channel_id, headers, body, at }: NewCallback): Promise<void> {
  const [encoding, kept] =
    body.length > plainBodyMax ? ['gzip', gzipSync(body, { level: 1 })] : [null, Buffer.from(body)]
  await tx`
    insert into provider_callbacks (id, channel_id, headers, body, encoding, received_at, applied_at)
    values (${id}, ${channel_id}, ${JSON.stringify(headers)}::text::json, ${kept}, ${encoding}, ${at}, ${at})`
}

export interface NewReport {
  readonly id: string
  readonly account_id: string
  readonly mode: string
  readonly channel_id: string
  readonly provider_id: string | null
  readonly report: CallbackItem
  readonly next_run_at: string
  readonly created_at: string
}

/** Keeps reports until they are applied by the worker `reports`. */
export async function storeReports(tx: Db, reports: readonly NewReport[]): Promise<void> {
  if (reports.length === 0) return
  const column = (of: (report: NewReport) => string): string => textColumn(reports.map(of))
  await tx`
    insert into provider_reports (id, account_id, mode, channel_id, provider_id, report, next_run_at, created_at)
    select unnest(text_column(${column(({ id }) => id)})), unnest(text_column(${column(({ account_id }) => account_id)})),
      unnest(text_column(${column(({ mode }) => mode)})), unnest(text_column(${column(({ channel_id }) => channel_id)})),
      unnest(${reports.map(({ provider_id }) => provider_id)}::text[]), unnest(text_column(${column(({ report }) => JSON.stringify(report))}))::json,
      unnest(text_column(${column(({ next_run_at }) => next_run_at)}))::timestamptz, unnest(text_column(${column(({ created_at }) => created_at)}))::timestamptz`
}

export interface ReportRow {
  id: string
  /** Where the row lies: while it is locked, it stays there. */
  place: string
  account_id: Tenant['account_id']
  mode: Tenant['mode']
  channel_id: string
  provider_id: string | null
  report: CallbackItem
  next_run_at: string
  attempts: number
  created_at: string
}

const due = (sql: Db, at: string, rows_max: number) =>
  sql`select ctid::text as place, * from provider_reports where next_run_at <= ${at} order by next_run_at, id limit ${rows_max}`

/** What is due, in order, without a lock. */
export const listDueReports = async (sql: Db, at: string, rows_max: number): Promise<ReportRow[]> =>
  await sql<ReportRow[]>`${due(sql, at, rows_max)}`

/** What is due and in nobody's hand, in order, locked. */
export const takeDueReports = async (tx: Db, at: string, rows_max: number): Promise<ReportRow[]> =>
  await tx<ReportRow[]>`${due(tx, at, rows_max)} for update skip locked`

/** This report, locked; none where another process has it in hand. */
export const takeReport = async (
  tx: Db,
  { next_run_at, id }: Pick<ReportRow, 'next_run_at' | 'id'>,
): Promise<ReportRow[]> =>
  await tx<
    ReportRow[]
  >`select ctid::text as place, * from provider_reports where next_run_at = ${next_run_at} and id = ${id} for update skip locked`

/** Those of these messages that a receipt names by our id which is stored and has not been tried: it may prove that their provider has them. */
export async function listToldOf(
  sql: Db,
  messages: readonly { readonly message_id: string; readonly channel_id: string }[],
): Promise<Set<string>> {
  if (messages.length === 0) return new Set()
  const channels = [...new Set(messages.map(({ channel_id }) => channel_id))]
  const told = await sql<{ message_id: string }[]>`
    select distinct report ->> 'message_id' as message_id from provider_reports
    where channel_id = any (${channels}::text[]) and attempts = 0 and report ->> 'message_id' = any (${messages.map(({ message_id }) => message_id)}::text[])`
  return new Set(told.map(({ message_id }) => message_id))
}

/** So many channels are looked at in one go for what is due behind the reports of others. */
const channelsAtOnce = 200

/**
 * What is due first, without a lock, of channels that are not among these, at most `each_max` of each: of the next channels by id that have reports, behind `after`. `last`: behind which one
 * to look next, empty where these were the last.
 */
export async function listDueOfOthers(
  sql: Db,
  at: string,
  {
    channel_ids,
    after,
    each_max,
  }: { readonly channel_ids: readonly string[]; readonly after: string; readonly each_max: number },
): Promise<{ reports: ReportRow[]; last: string }> {
  const next = await sql<{ channel_id: string }[]>`
    with recursive told as (
      select min(channel_id) as channel_id, 1 as place from provider_reports where channel_id > ${after}
      union all
      select (select min(r.channel_id) from provider_reports r where r.channel_id > told.channel_id), place + 1
      from told where told.channel_id is not null and place < ${channelsAtOnce}
    )
    select channel_id from told where channel_id is not null order by channel_id`
  const listed = new Set(channel_ids)
  const others = next.map(({ channel_id }) => channel_id).filter((id) => !listed.has(id))
  const reports = await sql<ReportRow[]>`
    select r.* from unnest(${others}::text[]) as c(channel_id) cross join lateral (
      select ctid::text as place, * from provider_reports where channel_id = c.channel_id and next_run_at <= ${at} order by next_run_at, id limit ${each_max}
    ) r
    order by r.next_run_at, r.id`
  return { reports, last: next.length < channelsAtOnce ? '' : next.at(-1)!.channel_id }
}

/** Those of these reports that nobody has in hand, locked. */
export async function takeReports(
  tx: Db,
  rows: readonly Pick<ReportRow, 'next_run_at' | 'id'>[],
): Promise<ReportRow[]> {
  if (rows.length === 0) return []
  const keys = rows.map(({ next_run_at, id }) => ({ next_run_at, id }))
  return await tx<ReportRow[]>`
    select r.ctid::text as place, r.* from json_to_recordset(${jsonRows(keys)}::text::json) as t(next_run_at timestamptz, id text)
    join provider_reports r on r.next_run_at = t.next_run_at and r.id = t.id order by r.next_run_at, r.id for update of r skip locked`
}

/** What a report must not be overtaken within: the receipts of a message, and what one recipient wrote or had told of consent. Written in SQL as `whose`. */
const whoseOf = ({ provider_id, report }: ReportRow): string | null =>
  provider_id ?? (report as Partial<InboundMessage> | null)?.from ?? null
const whose = (sql: Db): Fragment => sql`coalesce(provider_id, report ->> 'from')`

/** Those of these reports that an earlier one of the same message or recipient, not among them, precedes. Of each channel what is due before the last of them is read. */
export async function listOvertaking(tx: Db, rows: readonly ReportRow[], at: string): Promise<Set<string>> {
  const asked = rows
    .map((row) => ({ id: row.id, channel_id: row.channel_id, whose: whoseOf(row), next_run_at: row.next_run_at }))
    .filter((row) => row.whose !== null)
  if (asked.length === 0) return new Set()
  const overtaking = await tx<{ id: string }[]>`
    with own as materialized (
      select * from json_to_recordset(${jsonRows(asked)}::text::json) as t(id text, channel_id text, whose text, next_run_at timestamptz)
    ), earlier as materialized (
      select r.* from (select channel_id, max(next_run_at) as next_run_at from own group by channel_id) c cross join lateral (
        select id, channel_id, ${whose(tx)} as whose, next_run_at from provider_reports
        where channel_id = c.channel_id and next_run_at <= least(c.next_run_at, ${at}::timestamptz) offset 0
      ) r
    )
    select o.id from own o join earlier r on r.channel_id = o.channel_id and r.whose = o.whose
    where (r.next_run_at, r.id) < (o.next_run_at, o.id) and not exists (select from own where own.id = r.id)`
  return new Set(overtaking.map(({ id }) => id))
}

/** Removes reports at these places, which are locked. */
export async function removeReports(tx: Db, rows: readonly Pick<ReportRow, 'place'>[]): Promise<void> {
  if (rows.length > 0)
    await tx`delete from provider_reports where ctid = any(${rows.map(({ place }) => place)}::text[]::tid[])`
}

/** Removes those of these reports that are where they were seen and that nobody has in hand; resolves to how many. */
export async function removeUnlocked(sql: Db, rows: readonly Pick<ReportRow, 'place' | 'id'>[]): Promise<number> {
  if (rows.length === 0) return 0
  const removed = await sql`
    with held as materialized (
      select r.ctid as place from unnest(${rows.map(({ place }) => place)}::text[]::tid[], ${rows.map(({ id }) => id)}::text[]) as t(place, id)
      join provider_reports r on r.ctid = t.place and r.id = t.id for update of r skip locked
    )
    delete from provider_reports where ctid = any (array(select place from held))`
  return removed.count
}

/** Makes reports at these places, which are locked, due later. */
export async function postponeReports(
  tx: Db,
  times: readonly { readonly place: string; readonly next_run_at: string }[],
): Promise<void> {
  if (times.length === 0) return
  await tx`
    update provider_reports r set next_run_at = t.next_run_at, attempts = r.attempts + 1
    from json_to_recordset(${jsonRows(times)}::text::json) as t(place tid, next_run_at timestamptz) where r.ctid = t.place`
}

/** To whom these messages went, by their ids. */
export async function findRecipients(
  tx: Db,
  rows: readonly Pick<Reference, 'account_id' | 'mode' | 'message_id'>[],
): Promise<Map<string, string>> {
  if (rows.length === 0) return new Map()
  const wanted = rows.map(({ account_id, mode, message_id }) => ({ account_id, mode, message_id }))
  const found = await tx<{ id: string; to: string }[]>`
    select m.id, m."to" from json_to_recordset(${jsonRows(wanted)}::text::json) as t(account_id text, mode text, message_id text)
    join messages m on m.account_id = t.account_id and m.mode = t.mode and m.id = t.message_id`
  return new Map(found.map(({ id, to }) => [id, to]))
}

/** A report that names our own message. */
export interface NamedReport extends Pick<ReportRow, 'id' | 'account_id' | 'mode' | 'channel_id'> {
  readonly provider_id: string
  readonly message_id: string
}

/** Those of these reports whose message was sent on their channel. */
export async function findNamed<T extends NamedReport>(tx: Db, named: readonly T[]): Promise<T[]> {
  if (named.length === 0) return []
  const wanted = named.map(({ id, account_id, mode, channel_id, message_id }) => ({
    id,
    account_id,
    mode,
    channel_id,
    message_id,
  }))
  const found = await tx<{ id: string }[]>`
    select t.id from json_to_recordset(${jsonRows(wanted)}::text::json) as t(id text, account_id text, mode text, channel_id text, message_id text)
    join messages m on m.account_id = t.account_id and m.mode = t.mode and m.id = t.message_id and m.channel_id = t.channel_id and m.direction = 'outbound'`
  const ids = new Set(found.map(({ id }) => id))
  return named.filter(({ id }) => ids.has(id))
}

/** Forgets what providers told, and the references to it, before `cutoff`; at most `rows_max` of each. */
export async function forgetProviderRecords(sql: Db, cutoff: string, rows_max: number): Promise<number> {
  const callbacks =
    await sql`delete from provider_callbacks where id in (select id from provider_callbacks where received_at < ${cutoff} order by id limit ${rows_max})`
  const references = await sql`
    delete from provider_references where (channel_id, provider_id) in (select channel_id, provider_id from provider_references where created_at < ${cutoff} order by message_id limit ${rows_max})`
  const inbound = await sql`
    delete from inbound_references where (account_id, channel_id, provider_id) in (select account_id, channel_id, provider_id from inbound_references where created_at < ${cutoff} order by message_id limit ${rows_max})`
  return callbacks.count + references.count + inbound.count
}

/** What is told of the parts of a message, from the least. */
export const partSteps = ['accept', 'deliver', 'open'] as const
export type PartStep = (typeof partSteps)[number]

/**
 * Notes what a receipt says of one part of a message, where that is more than was told; resolves to what is told of each part, null where nothing is, and for those that
 * are not handed over yet. Of a part that went out more than once the furthest counts.
 */
export async function raisePart(
  tx: Db,
  { channel_id, provider_id, message_id }: Reference,
  reported: Exclude<DeliveryReceipt['transition'], 'fail'>,
): Promise<(PartStep | null)[]> {
  const steps = [...partSteps]
  await tx`
    update provider_references set status = ${reported} where channel_id = ${channel_id} and provider_id = ${provider_id}
      and (status is null or array_position(${steps}::text[], status) < array_position(${steps}::text[], ${reported}::text))`
  // while the message has a job, the rest of it is still to be handed over
  const parts = await tx<{ place: number | null }[]>`
    select max(array_position(${steps}::text[], status)) as place from provider_references where message_id = ${message_id} and parts > 1 group by part
    union all select null from dispatch_jobs where message_id = ${message_id}`
  return parts.map(({ place }) => (place === null ? null : partSteps[place - 1]!))
}

/** Notes that one part of a message failed, unless it has arrived; resolves to whether it has, or went out once more and that has not failed. */
export async function failPart(tx: Db, { channel_id, provider_id, message_id, part }: Reference): Promise<boolean> {
  await tx`
    update provider_references set status = 'fail' where channel_id = ${channel_id} and provider_id = ${provider_id} and (status is null or status = 'accept')`
  const rows = await tx`
    select from provider_references where channel_id = ${channel_id} and provider_id = ${provider_id} and status in ('deliver', 'open')
    union all
    select from provider_references where message_id = ${message_id} and part = ${part} and parts > 1 and provider_id <> ${provider_id} and status is distinct from 'fail'
    union all
    select from dispatch_jobs j where j.message_id = ${message_id} and j.accepted_ids[${part + 1}::int] <> ${provider_id}
      and not exists (select from provider_references r where r.channel_id = j.channel_id and r.provider_id = j.accepted_ids[${part + 1}::int])
    limit 1`
  return rows.length > 0
}

/** Locks messages in the order of their ids, as whoever changes several does. */
export async function lockMessages(
  tx: Db,
  messages: readonly (Tenant & { readonly message_id: string })[],
): Promise<void> {
  const keys = messages.map(({ account_id, mode, message_id }) => ({ account_id, mode, message_id }))
  await tx`
    select from messages m join json_to_recordset(${jsonRows(keys)}::text::json) as t(account_id text, mode text, message_id text)
      on m.account_id = t.account_id and m.mode = t.mode and m.id = t.message_id
    order by m.id for no key update of m`
}
