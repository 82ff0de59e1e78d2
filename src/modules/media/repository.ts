/** SQL of inbound files and uploads. */
import type { Mode, Tenant } from '../../api/caller.ts'
import { jsonRows, type Db, type Transaction } from '../../platform/database/sql.ts'

export interface MediaRow {
  account_id: Tenant['account_id']
  mode: Mode
  id: string
  /** null for uploads. */
  channel_id: string | null
  message_id: string | null
  kind: string
  filename: string | null
  status: 'waiting' | 'uploading' | 'copied' | 'failed'
  reference: Record<string, string> | null
  attempts: number
  next_run_at: string
  store: 'folder' | 's3' | null
  /** null for the data folder. */
  bucket: string | null
  content_type: string | null
  bytes: number | null
  created_at: string
  /** A sentence for users, without secrets. */
  failure: string | null
}

export interface InboundMediaRow extends MediaRow {
  channel_id: string
  message_id: string
}

export type NewMedia = Pick<
  InboundMediaRow,
  'account_id' | 'mode' | 'id' | 'channel_id' | 'message_id' | 'kind' | 'filename' | 'reference' | 'created_at'
>

export async function insertMedia(tx: Db, rows: readonly NewMedia[]): Promise<void> {
  if (rows.length === 0) return
  await tx`
    insert into media_files (account_id, mode, id, channel_id, message_id, kind, filename, status, reference,
      next_run_at, created_at)
    select account_id, mode, id, channel_id, message_id, kind, filename, 'waiting', reference, created_at,
      created_at
    from json_to_recordset(${jsonRows(rows)}::text::json) as t(account_id text, mode text, id text,
      channel_id text, message_id text, kind text, filename text, reference json, created_at timestamptz)`
}

/** Its URL is signed and contains no tenant. */
export async function findMedia(sql: Db, id: string): Promise<MediaRow | null> {
  const [row] = await sql<MediaRow[]>`select * from media_files where id = ${id}`
  return row ?? null
}

export interface Claim {
  readonly process_id: string
  readonly now: string
  readonly until: string
  /** Processes without a heartbeat since then are dead. */
  readonly silent_since: string
  readonly rows_max: number
  readonly channel_rows_max: number
  readonly account_rows_max: number
  readonly busy: readonly Pick<InboundMediaRow, 'account_id' | 'channel_id'>[]
}

/**
 * Due files and those of dead processes, within the limits per channel and account, which take turns. Reads at most
 * `channel_rows_max` files per channel, by an index scan that skips from channel to channel. The attempt is counted
 * now, so that a file that crashes its process is not retried for ever.
 */
export async function claimMedia(sql: Db, claim: Claim): Promise<InboundMediaRow[]> {
  const busy = jsonRows(claim.busy.map(({ account_id, channel_id }) => ({ account_id, channel_id })))
  return await sql<InboundMediaRow[]>`
    with recursive busy as (
      select account_id, channel_id, count(*) as files
      from json_to_recordset(${busy}::text::json) as t(account_id text, channel_id text)
      group by account_id, channel_id
    ),
    channels_waiting as (
      (select channel_id from media_files where status = 'waiting' order by channel_id limit 1)
      union all
      select (
        select f.channel_id
        from media_files f
        where f.status = 'waiting' and f.channel_id > w.channel_id
        order by f.channel_id
        limit 1)
      from channels_waiting w
      where w.channel_id is not null
    ),
    due as (
      select d.*, row_number() over (partition by d.channel_id order by d.next_run_at, d.id) as place
      from channels_waiting w
      cross join lateral (
        select f.id, f.account_id, f.channel_id, f.claimed_until, f.next_run_at
        from media_files f
        where f.status = 'waiting' and f.channel_id = w.channel_id and f.next_run_at <= ${claim.now}
          and (f.claimed_until is null
            or f.claimed_until < ${claim.now}
            or (f.process_id <> ${claim.process_id}
              and not exists (
                select from processes p where p.id = f.process_id and p.heartbeat_at > ${claim.silent_since})))
        order by f.next_run_at, f.id
        limit ${claim.channel_rows_max}
      ) d
    ),
    of_channels as (
      select d.*, row_number() over (partition by d.account_id order by d.place, d.next_run_at, d.id) as turn
      from due d
      where d.place + coalesce((
        select sum(b.files) from busy b where b.channel_id = d.channel_id), 0) <= ${claim.channel_rows_max}
    ),
    selected as (
      select c.id, c.claimed_until from of_channels c
      where c.turn + coalesce((
        select sum(b.files) from busy b where b.account_id = c.account_id), 0) <= ${claim.account_rows_max}
      order by c.turn, c.next_run_at, c.id limit ${claim.rows_max}
    ),
    claimed as (
      select f.id from media_files f join selected c on c.id = f.id
      where f.status = 'waiting' and f.claimed_until is not distinct from c.claimed_until
      for update of f skip locked
    )
    update media_files f
    set process_id = ${claim.process_id}, claimed_until = ${claim.until}, attempts = f.attempts + 1
    from claimed
    where f.id = claimed.id
    returning f.*`
}

export interface Copied {
  readonly store: 'folder' | 's3'
  readonly bucket: string | null
  readonly content_type: string
  readonly bytes: number
}

export interface Abandoned {
  readonly failure: string | null
}

/** False if another process has claimed the file. */
export async function completeMedia(
  sql: Db,
  id: string,
  process_id: string,
  outcome: Copied | Abandoned,
): Promise<boolean> {
  const copy = 'store' in outcome ? outcome : null
  const failure = 'store' in outcome ? null : outcome.failure
  const rows = await sql`
    update media_files
    set status = ${copy === null ? 'failed' : 'copied'}, reference = null, process_id = null,
      claimed_until = null, failure = ${failure}, store = ${copy?.store ?? null},
      bucket = ${copy?.bucket ?? null}, content_type = ${copy?.content_type ?? null},
      bytes = ${copy?.bytes ?? null}
    where id = ${id} and status = 'waiting' and process_id = ${process_id}
    returning id`
  return rows.length > 0
}

/** `counts`: whether this counts as an attempt. */
export async function postponeMedia(
  sql: Db,
  id: string,
  process_id: string,
  next_run_at: string,
  counts: boolean,
): Promise<void> {
  await sql`
    update media_files
    set next_run_at = ${next_run_at}, process_id = null, claimed_until = null,
      attempts = attempts - ${counts ? 0 : 1}
    where id = ${id} and status = 'waiting' and process_id = ${process_id}`
}

export type NewUpload = Pick<
  MediaRow,
  'account_id' | 'mode' | 'id' | 'kind' | 'filename' | 'store' | 'bucket' | 'created_at'
>

export async function insertUpload(sql: Db, upload: NewUpload): Promise<void> {
  const { account_id, mode, id, kind, filename, store, bucket, created_at } = upload
  await sql`
    insert into media_files (account_id, mode, id, kind, filename, status, store, bucket, next_run_at,
      created_at)
    values (${account_id}, ${mode}, ${id}, ${kind}, ${filename}, 'uploading', ${store}, ${bucket},
      ${created_at}, ${created_at})`
}

/** Until the transaction ends, no other upload of the account is counted and inserted. */
export const lockUploads = async (tx: Transaction, { account_id }: Tenant): Promise<unknown> =>
  await tx`select pg_advisory_xact_lock(hashtextextended(${`media ${account_id}`}, 0))`

/** Bytes of the account's files; an upload that has not ended counts as `upload_bytes`. */
export async function storedBytes(sql: Db, { account_id }: Tenant, upload_bytes: number): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select coalesce(sum(case when status = 'copied' then bytes else ${upload_bytes} end), 0)::bigint as bytes
    from media_files
    where account_id = ${account_id} and status in ('copied', 'uploading')`
  return row!.bytes
}

/** False if it was removed meanwhile. */
export async function completeUpload(
  sql: Db,
  tenant: Tenant,
  id: string,
  content_type: string,
  bytes: number,
): Promise<boolean> {
  const rows = await sql`
    update media_files set status = 'copied', content_type = ${content_type}, bytes = ${bytes}
    where account_id = ${tenant.account_id} and mode = ${tenant.mode} and id = ${id} and status = 'uploading'
    returning id`
  return rows.length > 0
}

/** Waits for a transaction that is just completing it. */
export async function isIncomplete(sql: Db, id: string): Promise<boolean> {
  return (await sql`select 1 from media_files where id = ${id} and status = 'uploading' for update`).length > 0
}

export const listAbandonedUploads = async (
  sql: Db,
  before: string,
  now: string,
  rows_max: number,
): Promise<OldMedia[]> =>
  await sql<OldMedia[]>`
    select id, store, bucket, created_at
    from media_files
    where status = 'uploading' and created_at < ${before} and next_run_at <= ${now}
    order by created_at limit ${rows_max}`

export type OldMedia = Pick<MediaRow, 'id' | 'store' | 'bucket' | 'created_at'>

/** Without those whose deletion is deferred. */
export const listOldMedia = async (sql: Db, before: string, now: string, rows_max: number): Promise<OldMedia[]> =>
  await sql<OldMedia[]>`
    select id, store, bucket, created_at
    from media_files
    where created_at < ${before} and status <> 'uploading' and (store is null or next_run_at <= ${now})
    order by created_at limit ${rows_max}`

export async function deferRemoval(sql: Db, ids: readonly string[], until: string): Promise<void> {
  await sql`
    update media_files set next_run_at = ${until} where id = any(${[...ids]}::text[]) and store is not null`
}

/** By storage. */
export const countMediaBefore = async (
  sql: Db,
  before: string,
): Promise<{ store: 'folder' | 's3'; bucket: string | null; files: number }[]> =>
  await sql<{ store: 'folder' | 's3'; bucket: string | null; files: number }[]>`
    select store, bucket, count(*)::integer as files
    from media_files
    where created_at < ${before} and status = 'copied'
    group by store, bucket
    order by store, bucket`

export async function deleteMedia(sql: Db, ids: readonly string[]): Promise<void> {
  await sql`delete from media_files where id = any(${[...ids]}::text[])`
}

export async function listUnfinished(sql: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<
    { id: string }[]
  >`select id from media_files where id = any(${[...ids]}::text[]) and status in ('waiting', 'uploading')`
  return new Set(rows.map(({ id }) => id))
}

/** For the invariant that files belong to existing messages. */
export const filesOfMessages = (sql: Db) =>
  sql`select account_id, mode, message_id, id from media_files where message_id is not null`
