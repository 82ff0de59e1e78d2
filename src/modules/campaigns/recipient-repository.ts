/** SQL of campaign recipients: written by the snapshot, read by the sender, advanced by the projection. */
import type { Tenant } from '../../api/caller.ts'
import type { ConsentEvent } from '../../api/domain-events.ts'
import type { RecipientStatus, SkipReason } from '../../api/resources/campaign.ts'
import type { MessageError } from '../../api/resources/message.ts'
import type { RecipientRow } from './campaign.ts'
import { addressKeyOf } from '../contacts/service.ts'
import { type Db, type Fragment, jsonRows, type Transaction } from '../../platform/database/sql.ts'

type CampaignKey = Tenant & { readonly id: string }

export type NewRecipient = Pick<
  RecipientRow,
  'contact_id' | 'to' | 'address' | 'name' | 'first_name' | 'last_name' | 'variables' | 'timezone' | 'skip_reason'
>

export interface ContactsChunk {
  readonly rows: number
  readonly own_timezones: boolean
  /** Contacts unchanged since then have the address that they had when the snapshot started. */
  readonly changed_since: string
}

/**
 * Numbers a chunk of contacts from `rows` on; `audience` selects contact_id, "to", address, name, timezone, updated_at
 * and skip_reason. Only contacts that changed during the snapshot can be duplicates. Skipped recipients make no others
 * duplicates.
 */
export async function insertFromContacts(
  tx: Transaction,
  { account_id, mode, id }: CampaignKey,
  audience: Fragment,
  { rows, own_timezones, changed_since }: ContactsChunk,
): Promise<number> {
  await tx`select set_config('plan_cache_mode', 'force_custom_plan', true)`
  const result = await tx`
    insert into campaign_recipients (account_id, mode, campaign_id, n, contact_id, "to", address, name,
      timezone, status, skip_reason)
    select ${account_id}, ${mode}, ${id}, ${rows}::int + row_number() over (order by contact_id), contact_id,
      "to", address, name,
      ${own_timezones ? tx`coalesce(timezone, '')` : tx`''`},
      case when skip_reason is null then 'pending' else 'skipped' end, skip_reason
    from (
      select contact_id, "to", address, name, timezone, case
          when skip_reason is distinct from 'no_identifier' and updated_at >= ${changed_since} and exists (
            select
            from campaign_recipients r
            where r.account_id = ${account_id}
              and r.mode = ${mode}
              and r.campaign_id = ${id}
              and r.address = a.address
              and (r.status = 'pending' or r.message_id is not null)
          ) then 'duplicate'
          else skip_reason
        end as skip_reason
      from (${audience}) a
    ) d`
  return result.count
}

export async function insertRecipients(
  tx: Transaction,
  { account_id, mode, id }: CampaignKey,
  recipients: readonly NewRecipient[],
  rows: number,
): Promise<void> {
  if (recipients.length === 0) return
  await tx`
    insert into campaign_recipients (account_id, mode, campaign_id, n, contact_id, "to", address, name,
      first_name, last_name, variables, timezone, status, skip_reason)
    select ${account_id}, ${mode}, ${id}, n, contact_id, "to", address, name, first_name, last_name,
      variables, timezone,
      case when skip_reason is null then 'pending' else 'skipped' end, skip_reason
    from json_to_recordset(${jsonRows(recipients.map((recipient, i) => ({ ...recipient, n: rows + i + 1 })))}::text::json) as t(n int,
      contact_id text, "to" text, address text, name text, first_name text, last_name text, variables json,
      timezone text, skip_reason text)
    order by n`
}

export type UnsentRow = Pick<
  RecipientRow,
  'n' | 'contact_id' | 'to' | 'first_name' | 'last_name' | 'variables' | 'timezone'
>

export interface WantedRecipients {
  /** '': the campaign's time zone. */
  readonly timezones: readonly string[]
  readonly excluded: readonly number[]
  readonly limit: number
}

export async function listUnsent(sql: Db, wanted: readonly (CampaignKey & WantedRecipients)[]): Promise<UnsentRow[][]> {
  const found = wanted.map((): UnsentRow[] => [])
  if (wanted.length === 0) return found
  const rows = await sql<(UnsentRow & { k: number })[]>`
    select w.k, r.*
    from json_to_recordset(${jsonRows(wanted.map((one, k) => ({ k, ...one })))}::text::json)
      as w(k int, account_id text, mode text, id text, timezones text[], excluded int[], "limit" int)
    cross join lateral (
      select o.* from unnest(w.timezones) z
      cross join lateral (
        select n, contact_id, "to", first_name, last_name, variables, timezone from campaign_recipients
        where account_id = w.account_id
          and mode = w.mode
          and campaign_id = w.id
          and timezone = z
          and status = 'pending'
          and message_id is null
          and n <> all (w.excluded)
        order by n limit w."limit"
      ) o
      order by o.n limit w."limit"
    ) r
    order by w.k, r.n`
  for (const { k, ...row } of rows) found[k]!.push(row)
  return found
}

export async function listUnsentAmong(
  sql: Db,
  { account_id, mode, id, timezones, excluded, limit }: CampaignKey & WantedRecipients,
  among: Fragment,
): Promise<UnsentRow[]> {
  return await sql<UnsentRow[]>`
    select n, contact_id, "to", first_name, last_name, variables, timezone from campaign_recipients
    where account_id = ${account_id}
      and mode = ${mode}
      and campaign_id = ${id}
      and timezone = any (${[...timezones]}::text[])
      and status = 'pending'
      and message_id is null
      and n <> all (${[...excluded]}::int[]) and "to" in (${among})
    order by n limit ${limit}`
}

export async function unsentTimezones(sql: Db, { account_id, mode, id }: CampaignKey): Promise<string[]> {
  // a loose index scan: one lookup per zone
  const rows = await sql<{ timezone: string }[]>`
    with recursive zones as (
      (select timezone from campaign_recipients
       where account_id = ${account_id}
         and mode = ${mode}
         and campaign_id = ${id}
         and status = 'pending'
         and message_id is null
       order by timezone
       limit 1)
      union all
      select (select timezone from campaign_recipients
              where account_id = ${account_id}
                and mode = ${mode}
                and campaign_id = ${id}
                and status = 'pending'
                and message_id is null
                and timezone > z.timezone
              order by timezone limit 1)
      from zones z where z.timezone is not null
    )
    select timezone from zones where timezone is not null`
  return rows.map(({ timezone }) => timezone)
}

export interface Progress {
  readonly campaign_id: string
  readonly unsent: boolean
  /** Accepted and not sent yet, counted up to `most`. */
  readonly in_flight: number
}

export async function progressOf(
  sql: Db,
  wanted: readonly (Tenant & { readonly campaign_id: string; readonly most: number })[],
): Promise<Progress[]> {
  if (wanted.length === 0) return []
  return await sql<Progress[]>`
    select w.campaign_id,
      -- no exists clause, which would read all pending recipients into a hash; ordered by the index, since the planner might otherwise scan the table
      (select true from campaign_recipients r
        where r.account_id = w.account_id
          and r.mode = w.mode
          and r.campaign_id = w.campaign_id
          and r.status = 'pending'
          and r.message_id is null
        order by r.timezone desc, r.n desc limit 1
      ) is not null as unsent,
      (select count(*)::int from (
        select from campaign_recipients r
        where r.account_id = w.account_id
          and r.mode = w.mode
          and r.campaign_id = w.campaign_id
          and r.status = 'pending'
          and r.message_id is not null
        order by r.n limit w.most
      ) n) as in_flight
    from json_to_recordset(${jsonRows(wanted)}::text::json) as w(account_id text, mode text, campaign_id text,
      most int)`
}

/** By time zone ('': the campaign's). */
export async function countInFlight(
  sql: Db,
  { account_id, mode, id }: CampaignKey,
): Promise<{ timezone: string; count: number }[]> {
  return await sql<{ timezone: string; count: number }[]>`
    select timezone, count(*)::int as count from campaign_recipients
    where account_id = ${account_id}
      and mode = ${mode}
      and campaign_id = ${id}
      and status = 'pending'
      and message_id is not null
    group by timezone`
}

export async function findTimezones(
  sql: Db,
  wanted: readonly (Tenant & { readonly campaign_id: string; readonly n: number; readonly message_id: string })[],
): Promise<ReadonlyMap<string, string>> {
  if (wanted.length === 0) return new Map()
  const rows = await sql<{ message_id: string; timezone: string }[]>`
    select w.message_id, r.timezone
    from json_to_recordset(${jsonRows(wanted)}::text::json) as w(account_id text, mode text, campaign_id text,
      n int, message_id text)
    join campaign_recipients r on r.account_id = w.account_id
      and r.mode = w.mode
      and r.campaign_id = w.campaign_id
      and r.n = w.n`
  return new Map(rows.map(({ message_id, timezone }) => [message_id, timezone]))
}

export interface Unsendable {
  readonly n: number
  readonly skip_reason: SkipReason | null
  readonly error: MessageError | null
}

/** Those who got a message or were cancelled meanwhile stay. Locked in key order. */
export async function markUnsendable(
  sql: Db,
  { account_id, mode, id }: CampaignKey,
  rows: readonly Unsendable[],
  at: string,
): Promise<void> {
  if (rows.length === 0) return
  await sql`
    with u as materialized (
      select * from json_to_recordset(${jsonRows(rows)}::text::json) as t(n int, skip_reason text, error json)
    ),
    locked as materialized (
      select r.n from campaign_recipients r join u on u.n = r.n
      where r.account_id = ${account_id}
        and r.mode = ${mode}
        and r.campaign_id = ${id}
        and r.status = 'pending'
        and r.message_id is null
      order by r.n
      for update of r
    )
    update campaign_recipients r
    set status = case when u.skip_reason is null then 'failed' else 'skipped' end,
      skip_reason = u.skip_reason, error = u.error,
      failed_at = case when u.skip_reason is null then ${at}::timestamptz end
    from u join locked h on h.n = u.n
    where r.account_id = ${account_id} and r.mode = ${mode} and r.campaign_id = ${id} and r.n = u.n`
}

/** Above `after`, up to `until`. */
export interface Numbers {
  readonly after: number
  readonly until: number
}

export async function unsentNumbers(
  sql: Db,
  { account_id, mode, id }: CampaignKey,
): Promise<{ first: number; last: number } | null> {
  const end = (order: Fragment) => sql`(
    select n from campaign_recipients
    where account_id = ${account_id}
      and mode = ${mode}
      and campaign_id = ${id}
      and status = 'pending'
      and message_id is null
    order by n ${order}
    limit 1)`
  const [row] = await sql<
    { first: number | null; last: number | null }[]
  >`select ${end(sql`asc`)} as first, ${end(sql`desc`)} as last`
  return row!.first === null || row!.last === null ? null : { first: row!.first, last: row!.last }
}

export async function cancelUnsent(
  sql: Db,
  { account_id, mode, id }: CampaignKey,
  { after, until }: Numbers,
): Promise<void> {
  // an array, not a join: statistics may be far behind a table that has just grown by a million rows
  await sql`
    with locked as materialized (
      select n from campaign_recipients
      where account_id = ${account_id}
        and mode = ${mode}
        and campaign_id = ${id}
        and n > ${after}
        and n <= ${until}
        and status = 'pending'
        and message_id is null
      order by n for update skip locked
    )
    update campaign_recipients set status = 'cancelled'
    where account_id = ${account_id}
      and mode = ${mode}
      and campaign_id = ${id}
      and n = any (array(select n from locked))`
}

/** The first above `after` whose messages are not known to be sent. Skips locked rows. */
export async function lockInFlight(
  tx: Transaction,
  { account_id, mode, id }: CampaignKey,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<{ n: number; message_id: string }[]> {
  return await tx<{ n: number; message_id: string }[]>`
    select n, message_id from campaign_recipients
    where account_id = ${account_id}
      and mode = ${mode}
      and campaign_id = ${id}
      and n > ${after}
      and status = 'pending'
      and message_id is not null
    order by n limit ${limit} for update skip locked`
}

export async function cancelWithdrawn(
  tx: Transaction,
  { account_id, mode, id }: CampaignKey,
  numbers: readonly number[],
): Promise<void> {
  if (numbers.length === 0) return
  await tx`
    update campaign_recipients set status = 'cancelled'
    where account_id = ${account_id}
      and mode = ${mode}
      and campaign_id = ${id}
      and n = any (${[...numbers]}::int[])`
}

export async function isAnybodyPending(sql: Db, { account_id, mode, id }: CampaignKey): Promise<boolean> {
  // ordered by the index, since the planner might otherwise scan the table
  const pending = sql`
    select 1
    from campaign_recipients
    where account_id = ${account_id} and mode = ${mode} and campaign_id = ${id} and status = 'pending'`
  const found = await sql`
    (${pending} and message_id is null order by timezone desc, n desc limit 1)
    union all (${pending} and message_id is not null order by n limit 1)
    limit 1`
  return found.length > 0
}

/** Of a campaign that ended before its snapshot was complete: they were never visible. */
export async function deletePartialSnapshot(
  sql: Db,
  { account_id, mode, id }: CampaignKey,
  limit: number,
): Promise<number> {
  const result = await sql`
    delete from campaign_recipients
    where account_id = ${account_id} and mode = ${mode} and campaign_id = ${id} and n = any (array(
      select n from campaign_recipients
      where account_id = ${account_id} and mode = ${mode} and campaign_id = ${id} and exists (
        select
        from campaigns
        where account_id = ${account_id}
          and mode = ${mode}
          and id = ${id}
          and snapshot_at is null
          and status in ('cancelled', 'failed'))
      order by n desc limit ${limit}))`
  return result.count
}

/** In campaigns of any tenant, locked in key order. */
export async function skipUnsubscribed(sql: Db, events: readonly ConsentEvent[]): Promise<void> {
  if (events.length === 0) return
  await sql`
    with f as (
      select *
      from json_to_recordset(${jsonRows(events)}::text::json) as t(account_id text, mode text,
        channel_type text, address text, contact_id text)),
    found as (
      select r.campaign_id, r.n from f
      join campaigns c on c.account_id = f.account_id
        and c.mode = f.mode
        and c.channel_type = f.channel_type
        and c.status in ('scheduled', 'queued', 'sending', 'paused')
      join campaign_recipients r on r.account_id = f.account_id
        and r.mode = f.mode
        and r.campaign_id = c.id
        and r.address = f.address
      where r.status = 'pending' and r.message_id is null
      union
      -- the contact's number may have changed since the snapshot
      select r.campaign_id, r.n from f
      join campaign_recipients r on r.account_id = f.account_id
        and r.mode = f.mode
        and r.contact_id = f.contact_id
      join campaigns c on c.account_id = r.account_id
        and c.mode = r.mode
        and c.id = r.campaign_id
        and c.channel_type = f.channel_type
      where r.status = 'pending' and r.message_id is null
    ),
    locked as materialized (
      select r.campaign_id, r.n
      from found
      join campaign_recipients r on r.campaign_id = found.campaign_id and r.n = found.n
      where r.status = 'pending' and r.message_id is null order by r.campaign_id, r.n for update of r
    )
    update campaign_recipients r
    set status = 'skipped', skip_reason = 'unsubscribed'
    from locked h
    where r.campaign_id = h.campaign_id and r.n = h.n`
}

/** In campaigns of any tenant, locked in key order. */
export async function skipContacts(
  sql: Db,
  events: readonly (Tenant & { readonly contact_id: string })[],
): Promise<void> {
  if (events.length === 0) return
  await sql`
    with locked as materialized (
      select r.campaign_id, r.n
      from json_to_recordset(${jsonRows(events)}::text::json) as f(account_id text, mode text,
        contact_id text)
      join campaign_recipients r on r.account_id = f.account_id
        and r.mode = f.mode
        and r.contact_id = f.contact_id
      where r.status = 'pending' and r.message_id is null order by r.campaign_id, r.n for update of r
    )
    update campaign_recipients r
    set status = 'skipped', skip_reason = 'contact_deleted'
    from locked h
    where r.campaign_id = h.campaign_id and r.n = h.n`
}

export interface RecipientChange {
  readonly campaign_id: string
  readonly n: number
  readonly status: RecipientStatus
  readonly sent_at: string | null
  readonly delivered_at: string | null
  readonly read_at: string | null
  readonly failed_at: string | null
  readonly error: MessageError | null
}

const advancedAtOnce = 500

/** Locks in the order of `changes`, which is key order. A late report of an earlier status only adds its time. */
export async function advanceRecipients(tx: Db, tenant: Tenant, changes: readonly RecipientChange[]): Promise<void> {
  for (let first = 0; first < changes.length; first += advancedAtOnce)
    await advanceBatch(tx, tenant, changes.slice(first, first + advancedAtOnce))
}

async function advanceBatch(tx: Db, { account_id, mode }: Tenant, changes: readonly RecipientChange[]): Promise<void> {
  await tx`
    with u as materialized (
      select *
      from json_to_recordset(${jsonRows(changes)}::text::json) as t(campaign_id text, n int, status text,
        sent_at timestamptz, delivered_at timestamptz, read_at timestamptz, failed_at timestamptz, error json)
    ),
    locked as materialized (
      select r.campaign_id, r.n
      from campaign_recipients r
      join u on u.campaign_id = r.campaign_id and u.n = r.n
      where r.account_id = ${account_id} and r.mode = ${mode} order by r.campaign_id, r.n for update of r
    )
    update campaign_recipients r set
      status = case when ${rank(tx, tx`u.status`)} > ${rank(tx, tx`r.status`)} then u.status else r.status end,
      sent_at = least(r.sent_at, u.sent_at), delivered_at = least(r.delivered_at, u.delivered_at),
      read_at = least(r.read_at, u.read_at),
      failed_at = least(r.failed_at, u.failed_at), error = coalesce(u.error, r.error)
    from u join locked h on h.campaign_id = u.campaign_id and h.n = u.n
    where r.account_id = ${account_id}
      and r.mode = ${mode}
      and r.campaign_id = u.campaign_id
      and r.n = u.n
      and r.status in ('pending', 'sent', 'delivered', 'read')`
}

const rank = (sql: Db, status: Fragment) =>
  sql`array_position(array['pending', 'sent', 'delivered', 'read', 'failed'], ${status})`

export interface RecipientFilters {
  readonly status: RecipientStatus | undefined
  readonly to: string | undefined
}

export async function listRecipients(
  sql: Db,
  { account_id, mode, id, channel_type }: CampaignKey & { readonly channel_type: string },
  { status, to }: RecipientFilters,
  page: { readonly after: number; readonly limit: number },
): Promise<RecipientRow[]> {
  return await sql<RecipientRow[]>`
    select * from campaign_recipients
    where account_id = ${account_id}
      and mode = ${mode}
      and campaign_id = ${id}
      and n > ${page.after}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${to === undefined ? sql`` : sql`and address = ${addressKeyOf(channel_type, to).address} and "to" = ${to}`}
    order by n limit ${page.limit + 1}`
}

/** Within a time of the campaign's message. An address belongs to its last recipient. */
export async function recipientsWhoReplied(
  sql: Db,
  { account_id, mode }: Tenant,
  campaign_id: string,
  written: readonly { readonly id: string; readonly address: string; readonly created_at: string }[],
  within_ms: number,
): Promise<{ n: number; message_id: string }[]> {
  if (written.length === 0) return []
  return await sql<{ n: number; message_id: string }[]>`
    select max(r.n) as n, w.id as message_id
    from json_to_recordset(${jsonRows(written)}::text::json) as w (id text, address text,
      created_at timestamptz)
    join campaign_recipients r on r.campaign_id = ${campaign_id} and r.address = w.address
    where r.account_id = ${account_id}
      and r.mode = ${mode}
      and r.sent_at <= w.created_at
      and w.created_at < r.sent_at + ${within_ms} * interval '1 millisecond'
    group by w.id`
}
