/** SQL of callbacks, their items, and parts of messages, across tenants. */
import { gzipSync } from 'node:zlib'
import type { Tenant } from '../../../api/caller.ts'
import { limits } from '../../../api/limits.ts'
import type { CallbackItem, DeliveryReceipt, InboundMessage } from '../../../providers/provider.ts'
import { type Db, type Fragment, jsonRows, textColumn, withinBytes } from '../../../platform/database/sql.ts'
import type { Reference } from '../references-repository.ts'

export interface NewCallback {
  readonly id: string
  readonly channel_id: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly at: string
}

/** In bytes. PostgreSQL costs more per byte than gzip. */
const plainBodyMax = 2048

export async function insertCallback(tx: Db, { id, channel_id, headers, body, at }: NewCallback): Promise<void> {
  const [encoding, stored] =
    body.length > plainBodyMax ? ['gzip', gzipSync(body, { level: 1 })] : [null, Buffer.from(body)]
  await tx`
    insert into provider_callbacks (id, channel_id, headers, body, encoding, received_at, applied_at)
    values (${id}, ${channel_id}, ${JSON.stringify(headers)}::text::json, ${stored}, ${encoding}, ${at}, ${at})`
}

export interface NewCallbackItem {
  readonly id: string
  readonly account_id: string
  readonly mode: string
  readonly channel_id: string
  readonly provider_id: string | null
  readonly item: CallbackItem
  readonly next_run_at: string
  readonly created_at: string
}

export async function insertCallbackItems(tx: Db, items: readonly NewCallbackItem[]): Promise<void> {
  if (items.length === 0) return
  const column = (of: (item: NewCallbackItem) => string): string => textColumn(items.map(of))
  await tx`
    insert into callback_items (id, account_id, mode, channel_id, provider_id, item, next_run_at, created_at, bytes)
    select id, account_id, mode, channel_id, provider_id, item::json, next_run_at::timestamptz, created_at::timestamptz,
      octet_length(item)
    from (
      select unnest(text_column(${column(({ id }) => id)})) as id,
        unnest(text_column(${column(({ account_id }) => account_id)})) as account_id,
        unnest(text_column(${column(({ mode }) => mode)})) as mode,
        unnest(text_column(${column(({ channel_id }) => channel_id)})) as channel_id,
        unnest(${items.map(({ provider_id }) => provider_id)}::text[]) as provider_id,
        unnest(text_column(${column(({ item }) => JSON.stringify(item))})) as item,
        unnest(text_column(${column(({ next_run_at }) => next_run_at)})) as next_run_at,
        unnest(text_column(${column(({ created_at }) => created_at)})) as created_at
    ) i`
}

export interface CallbackItemRow {
  id: string
  /** The `ctid`, which does not change while the row is locked. */
  place: string
  account_id: Tenant['account_id']
  mode: Tenant['mode']
  channel_id: string
  provider_id: string | null
  item: CallbackItem
  next_run_at: string
  attempts: number
  created_at: string
  bytes: number
}

export type ItemKey = Pick<CallbackItemRow, 'next_run_at' | 'id'>

const due = (sql: Db, at: string, rows_max: number, lock: Fragment) =>
  inOrder(
    sql,
    sql`
      select ctid::text as place, *
      from callback_items
      where next_run_at <= ${at}
      order by next_run_at, id
      limit ${rows_max}
      ${lock}`,
  )

/** The first in their order, bounded by bytes. */
function inOrder(sql: Db, items: Fragment): Fragment {
  const order = sql`next_run_at, id`
  return sql`${withinBytes(sql, items, { order, bytes_max: limits.claim_bytes_max })} order by ${order}`
}

export const listDueItems = async (sql: Db, at: string, rows_max: number): Promise<CallbackItemRow[]> =>
  await sql<CallbackItemRow[]>`${due(sql, at, rows_max, sql``)}`

export const lockDueItems = async (tx: Db, at: string, rows_max: number): Promise<CallbackItemRow[]> =>
  await tx<CallbackItemRow[]>`${due(tx, at, rows_max, tx`for update skip locked`)}`

/** The keys of due items, without reading what they contain. */
export const listDueKeys = async (sql: Db, at: string, rows_max: number): Promise<ItemKey[]> =>
  await sql<ItemKey[]>`
    select next_run_at, id
    from callback_items
    where next_run_at <= ${at}
    order by next_run_at, id
    limit ${rows_max}`

/** Postpones an item that cannot be read, or deletes it after `limits.unreadable_max` times. True where it was deleted. */
export async function postponeUnreadable(sql: Db, { next_run_at, id }: ItemKey, next: string): Promise<boolean> {
  const [row] = await sql<{ attempts: number }[]>`
    update callback_items
    set attempts = attempts + 1, next_run_at = ${next}
    where next_run_at = ${next_run_at}
      and id = ${id}
    returning attempts`
  if (row === undefined || row.attempts < limits.unreadable_max) return false
  await sql`delete from callback_items where next_run_at = ${next} and id = ${id}`
  return true
}

/** Empty if another process has locked it. */
export const lockItem = async (tx: Db, { next_run_at, id }: ItemKey): Promise<CallbackItemRow[]> =>
  await tx<CallbackItemRow[]>`
    select ctid::text as place, *
    from callback_items
    where next_run_at = ${next_run_at}
      and id = ${id}
    for update skip locked`

/** By stored, untried receipts. */
export async function listNamedByReceipts(
  sql: Db,
  messages: readonly { readonly message_id: string; readonly channel_id: string }[],
): Promise<Set<string>> {
  if (messages.length === 0) return new Set()
  const channels = [...new Set(messages.map(({ channel_id }) => channel_id))]
  const rows = await sql<{ message_id: string }[]>`
    select distinct item ->> 'message_id' as message_id from callback_items
    where channel_id = any (${channels}::text[])
      and attempts = 0
      and item ->> 'message_id' = any (${messages.map(({ message_id }) => message_id)}::text[])`
  return new Set(rows.map(({ message_id }) => message_id))
}

const channelsAtOnce = 200

/** `last`: the channel to continue after; empty at the end. */
export async function listDueOfOtherChannels(
  sql: Db,
  at: string,
  {
    channel_ids,
    after,
    each_max,
  }: { readonly channel_ids: readonly string[]; readonly after: string; readonly each_max: number },
): Promise<{ items: CallbackItemRow[]; last: string }> {
  const next = await sql<{ channel_id: string }[]>`
    with recursive channel as (
      select min(channel_id) as channel_id, 1 as place
      from callback_items
      where channel_id > ${after}
      union all
      select (select min(r.channel_id) from callback_items r where r.channel_id > channel.channel_id), place + 1
      from channel where channel.channel_id is not null and place < ${channelsAtOnce}
    )
    select channel_id from channel where channel_id is not null order by channel_id`
  const listed = new Set(channel_ids)
  const others = next.map(({ channel_id }) => channel_id).filter((id) => !listed.has(id))
  const first = sql`
    select r.* from unnest(${others}::text[]) as c(channel_id) cross join lateral (
      select ctid::text as place, *
      from callback_items
      where channel_id = c.channel_id
        and next_run_at <= ${at}
      order by next_run_at, id
      limit ${each_max}
    ) r`
  const items = await sql<CallbackItemRow[]>`${inOrder(sql, first)}`
  return { items, last: next.length < channelsAtOnce ? '' : next.at(-1)!.channel_id }
}

export async function lockItems(tx: Db, rows: readonly ItemKey[]): Promise<CallbackItemRow[]> {
  if (rows.length === 0) return []
  const keys = rows.map(({ next_run_at, id }) => ({ next_run_at, id }))
  return await tx<CallbackItemRow[]>`
    select r.ctid::text as place, r.*
    from json_to_recordset(${jsonRows(keys)}::text::json) as t(next_run_at timestamptz, id text)
    join callback_items r on r.next_run_at = t.next_run_at
      and r.id = t.id
    order by r.next_run_at, r.id
    for update of r skip locked`
}

/** Items of one subject are applied in order. */
const subjectOf = ({ provider_id, item }: CallbackItemRow): string | null =>
  provider_id ?? (item as Partial<InboundMessage> | null)?.from ?? null
const subject = (sql: Db): Fragment => sql`coalesce(provider_id, item ->> 'from')`

/** An earlier item of the same subject is outside of `rows`. */
export async function listOvertaking(tx: Db, rows: readonly CallbackItemRow[], at: string): Promise<Set<string>> {
  const candidates = rows
    .map((row) => ({ id: row.id, channel_id: row.channel_id, subject: subjectOf(row), next_run_at: row.next_run_at }))
    .filter((row) => row.subject !== null)
  if (candidates.length === 0) return new Set()
  const overtaking = await tx<{ id: string }[]>`
    with own as materialized (
      select *
      from json_to_recordset(${jsonRows(candidates)}::text::json) as t(
        id text, channel_id text, subject text, next_run_at timestamptz
      )
    ), earlier as materialized (
      select r.*
      from (select channel_id, max(next_run_at) as next_run_at from own group by channel_id) c
      cross join lateral (
        select id, channel_id, ${subject(tx)} as subject, next_run_at from callback_items
        where channel_id = c.channel_id
          and next_run_at <= least(c.next_run_at, ${at}::timestamptz) offset 0
      ) r
    )
    select o.id
    from own o
    join earlier r on r.channel_id = o.channel_id
      and r.subject = o.subject
    where (r.next_run_at, r.id) < (o.next_run_at, o.id)
      and not exists (select from own where own.id = r.id)`
  return new Set(overtaking.map(({ id }) => id))
}

/** Requires locks. */
export async function deleteItems(tx: Db, rows: readonly Pick<CallbackItemRow, 'place'>[]): Promise<void> {
  if (rows.length > 0)
    await tx`delete from callback_items where ctid = any(${rows.map(({ place }) => place)}::text[]::tid[])`
}

/** Skips items that are locked or were moved. */
export async function deleteUnlocked(sql: Db, rows: readonly Pick<CallbackItemRow, 'place' | 'id'>[]): Promise<number> {
  if (rows.length === 0) return 0
  const removed = await sql`
    with locked as materialized (
      select r.ctid as place
      from unnest(
        ${rows.map(({ place }) => place)}::text[]::tid[], ${rows.map(({ id }) => id)}::text[]
      ) as t(place, id)
      join callback_items r on r.ctid = t.place and r.id = t.id for update of r skip locked
    )
    delete from callback_items where ctid = any (array(select place from locked))`
  return removed.count
}

/** Requires locks. */
export async function postponeItems(
  tx: Db,
  times: readonly { readonly place: string; readonly next_run_at: string }[],
): Promise<void> {
  if (times.length === 0) return
  await tx`
    update callback_items r set next_run_at = t.next_run_at, attempts = r.attempts + 1
    from json_to_recordset(${jsonRows(times)}::text::json) as t(place tid, next_run_at timestamptz)
    where r.ctid = t.place`
}

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

export interface NamedItem extends Pick<CallbackItemRow, 'id' | 'account_id' | 'mode' | 'channel_id'> {
  readonly provider_id: string
  readonly message_id: string
}

/** Those whose message was sent on their channel. */
export async function findNamed<T extends NamedItem>(tx: Db, named: readonly T[]): Promise<T[]> {
  if (named.length === 0) return []
  const wanted = named.map(({ id, account_id, mode, channel_id, message_id }) => ({
    id,
    account_id,
    mode,
    channel_id,
    message_id,
  }))
  const found = await tx<{ id: string }[]>`
    select t.id
    from json_to_recordset(${jsonRows(wanted)}::text::json) as t(
      id text, account_id text, mode text, channel_id text, message_id text
    )
    join messages m on m.account_id = t.account_id
      and m.mode = t.mode
      and m.id = t.message_id
      and m.channel_id = t.channel_id
      and m.direction = 'outbound'`
  const ids = new Set(found.map(({ id }) => id))
  return named.filter(({ id }) => ids.has(id))
}

/** At most `rows_max` of each kind. */
export async function deleteProviderRecords(sql: Db, cutoff: string, rows_max: number): Promise<number> {
  const callbacks = await sql`
      delete from provider_callbacks
      where id in (select id from provider_callbacks where received_at < ${cutoff} order by id limit ${rows_max})`
  const references = await sql`
    delete from provider_references
    where (channel_id, provider_id) in (
      select channel_id, provider_id
      from provider_references
      where created_at < ${cutoff}
      order by message_id
      limit ${rows_max}
    )`
  const inbound = await sql`
    delete from inbound_references
    where (account_id, channel_id, provider_id) in (
      select account_id, channel_id, provider_id
      from inbound_references
      where created_at < ${cutoff}
      order by message_id
      limit ${rows_max}
    )`
  return callbacks.count + references.count + inbound.count
}

export const partSteps = ['accept', 'deliver', 'open'] as const
export type PartStep = (typeof partSteps)[number]

/** Resolves to the status of each part: the highest of its copies; null if unknown or not sent. */
export async function raisePart(
  tx: Db,
  { channel_id, provider_id, message_id }: Reference,
  reported: Exclude<DeliveryReceipt['transition'], 'fail'>,
): Promise<(PartStep | null)[]> {
  const steps = [...partSteps]
  await tx`
    update provider_references
    set status = ${reported}
    where channel_id = ${channel_id}
      and provider_id = ${provider_id}
      and (
        status is null or array_position(${steps}::text[], status) < array_position(
          ${steps}::text[], ${reported}::text
        )
      )`
  // while the message has a job, more parts are to be sent
  const parts = await tx<{ place: number | null }[]>`
    select max(array_position(${steps}::text[], status)) as place
    from provider_references
    where message_id = ${message_id}
      and parts > 1
    group by part
    union all select null from dispatch_jobs where message_id = ${message_id}`
  return parts.map(({ place }) => (place === null ? null : partSteps[place - 1]!))
}

/** Resolves to whether the part has arrived or another copy may. */
export async function failPart(tx: Db, { channel_id, provider_id, message_id, part }: Reference): Promise<boolean> {
  await tx`
    update provider_references
    set status = 'fail'
    where channel_id = ${channel_id}
      and provider_id = ${provider_id}
      and (status is null or status = 'accept')`
  const rows = await tx`
    select
    from provider_references
    where channel_id = ${channel_id}
      and provider_id = ${provider_id}
      and status in ('deliver', 'open')
    union all
    select
    from provider_references
    where message_id = ${message_id}
      and part = ${part}
      and parts > 1
      and provider_id <> ${provider_id}
      and status is distinct from 'fail'
    union all
    select
    from dispatch_jobs j
    where j.message_id = ${message_id}
      and j.accepted_ids[${part + 1}::int] <> ${provider_id}
      and not exists (
        select
        from provider_references r
        where r.channel_id = j.channel_id
          and r.provider_id = j.accepted_ids[${part + 1}::int]
      )
    limit 1`
  return rows.length > 0
}

/** In the order of ids, as everywhere. */
export async function lockMessages(
  tx: Db,
  messages: readonly (Tenant & { readonly message_id: string })[],
): Promise<void> {
  const keys = messages.map(({ account_id, mode, message_id }) => ({ account_id, mode, message_id }))
  await tx`
    select
    from messages m
    join json_to_recordset(${jsonRows(keys)}::text::json) as t(account_id text, mode text, message_id text)
      on m.account_id = t.account_id and m.mode = t.mode and m.id = t.message_id
    order by m.id for no key update of m`
}
