/** SQL of files that came in, and of those that were uploaded. */
import type { Mode, Tenant } from '../../api/caller.ts'
import { jsonRows, type Db } from '../../platform/database/sql.ts'

export interface MediaRow {
  account_id: Tenant['account_id']
  mode: Mode
  id: string
  /** Null for what was uploaded. */
  channel_id: string | null
  message_id: string | null
  kind: string
  filename: string | null
  status: 'waiting' | 'uploading' | 'copied' | 'failed'
  reference: Record<string, string> | null
  attempts: number
  next_run_at: string
  store: 'folder' | 's3' | null
  /** The address of the bucket, where it is in one. */
  bucket: string | null
  content_type: string | null
  bytes: number | null
  created_at: string
  /** Why it was given up: a sentence without secrets, where there is one that its reader can use. */
  failure: string | null
}

/** A file that came with a message. */
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
    insert into media_files (account_id, mode, id, channel_id, message_id, kind, filename, status, reference, next_run_at, created_at)
    select account_id, mode, id, channel_id, message_id, kind, filename, 'waiting', reference, created_at, created_at
    from json_to_recordset(${jsonRows(rows)}::text::json) as t(account_id text, mode text, id text, channel_id text, message_id text, kind text, filename text, reference json, created_at timestamptz)`
}

/** A file by its id alone: its address is signed, and knows no tenant. */
export async function findMedia(sql: Db, id: string): Promise<MediaRow | null> {
  const [row] = await sql<MediaRow[]>`select * from media_files where id = ${id}`
  return row ?? null
}

export interface Claim {
  readonly process_id: string
  readonly now: string
  readonly until: string
  /** Processes that have not been heard of since then are dead. */
  readonly silent_since: string
  readonly rows_max: number
  readonly channel_rows_max: number
  readonly account_rows_max: number
  /** What this process copies already. */
  readonly busy: readonly Pick<InboundMediaRow, 'account_id' | 'channel_id'>[]
}

/** Takes files that are due, and those of processes that died, so many of each channel and account, which take turns. A try counts from here on: a file that ends its process is not tried for ever. */
export async function claimMedia(sql: Db, claim: Claim): Promise<InboundMediaRow[]> {
  return await sql<InboundMediaRow[]>`
    with busy as (
      select account_id, channel_id, count(*) as files
      from json_to_recordset(${jsonRows(claim.busy.map(({ account_id, channel_id }) => ({ account_id, channel_id })))}::text::json) as t(account_id text, channel_id text)
      group by account_id, channel_id
    ),
    due as (
      select id, account_id, channel_id, claimed_until, next_run_at, row_number() over (partition by channel_id order by next_run_at, id) as place
      from media_files f
      where status = 'waiting' and next_run_at <= ${claim.now} and (claimed_until is null or claimed_until < ${claim.now}
        or (process_id <> ${claim.process_id} and not exists (select from processes p where p.id = f.process_id and p.heartbeat_at > ${claim.silent_since})))
    ),
    of_channels as (
      select d.*, row_number() over (partition by d.account_id order by d.place, d.next_run_at, d.id) as turn from due d
      where d.place + coalesce((select sum(b.files) from busy b where b.channel_id = d.channel_id), 0) <= ${claim.channel_rows_max}
    ),
    chosen as (
      select c.id, c.claimed_until from of_channels c
      where c.turn + coalesce((select sum(b.files) from busy b where b.account_id = c.account_id), 0) <= ${claim.account_rows_max}
      order by c.turn, c.next_run_at, c.id limit ${claim.rows_max}
    ),
    taken as (
      select f.id from media_files f join chosen c on c.id = f.id
      where f.status = 'waiting' and f.claimed_until is not distinct from c.claimed_until for update of f skip locked
    )
    update media_files f set process_id = ${claim.process_id}, claimed_until = ${claim.until}, attempts = f.attempts + 1
    from taken where f.id = taken.id
    returning f.*`
}

export interface Copied {
  readonly store: 'folder' | 's3'
  readonly bucket: string | null
  readonly content_type: string
  readonly bytes: number
}

/** With the sentence that its reader is told, where there is one. */
export interface GivenUp {
  readonly failure: string | null
}

/** What became of a file that this process copied; false where another one has taken it over. */
export async function settleMedia(
  sql: Db,
  id: string,
  process_id: string,
  outcome: Copied | GivenUp,
): Promise<boolean> {
  const copy = 'store' in outcome ? outcome : null
  const failure = 'store' in outcome ? null : outcome.failure
  const rows = await sql`
    update media_files set status = ${copy === null ? 'failed' : 'copied'}, reference = null, process_id = null, claimed_until = null,
      failure = ${failure}, store = ${copy?.store ?? null}, bucket = ${copy?.bucket ?? null}, content_type = ${copy?.content_type ?? null}, bytes = ${copy?.bytes ?? null}
    where id = ${id} and status = 'waiting' and process_id = ${process_id}
    returning id`
  return rows.length > 0
}

/** It is tried again at `next_run_at`; where the try does not count, as if it had not been made. */
export async function postponeMedia(
  sql: Db,
  id: string,
  process_id: string,
  next_run_at: string,
  counts: boolean,
): Promise<void> {
  await sql`
    update media_files set next_run_at = ${next_run_at}, process_id = null, claimed_until = null, attempts = attempts - ${counts ? 0 : 1}
    where id = ${id} and status = 'waiting' and process_id = ${process_id}`
}

export type NewUpload = Pick<
  MediaRow,
  'account_id' | 'mode' | 'id' | 'kind' | 'filename' | 'store' | 'bucket' | 'created_at'
>

export async function insertUpload(sql: Db, upload: NewUpload): Promise<void> {
  const { account_id, mode, id, kind, filename, store, bucket, created_at } = upload
  await sql`
    insert into media_files (account_id, mode, id, kind, filename, status, store, bucket, next_run_at, created_at)
    values (${account_id}, ${mode}, ${id}, ${kind}, ${filename}, 'uploading', ${store}, ${bucket}, ${created_at}, ${created_at})`
}

/** The file lies where its row says; false where the upload was given up meanwhile. */
export async function settleUpload(
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

/** Whether an upload is not complete, once whatever settles it at this moment has been committed or taken back. */
export async function isIncomplete(sql: Db, id: string): Promise<boolean> {
  return (await sql`select 1 from media_files where id = ${id} and status = 'uploading' for update`).length > 0
}

/** Uploads that began before then and are not complete. */
export const listAbandonedUploads = async (
  sql: Db,
  before: string,
  now: string,
  rows_max: number,
): Promise<OldMedia[]> =>
  await sql<OldMedia[]>`
    select id, store, bucket, created_at from media_files where status = 'uploading' and created_at < ${before} and next_run_at <= ${now}
    order by created_at limit ${rows_max}`

export type OldMedia = Pick<MediaRow, 'id' | 'store' | 'bucket' | 'created_at'>

/** Files that came in before then, with what must be removed for them; without those whose removal was put off. */
export const listOldMedia = async (sql: Db, before: string, now: string, rows_max: number): Promise<OldMedia[]> =>
  await sql<OldMedia[]>`
    select id, store, bucket, created_at from media_files where created_at < ${before} and status <> 'uploading' and (store is null or next_run_at <= ${now})
    order by created_at limit ${rows_max}`

/** Their removal is tried again then. */
export async function deferRemoval(sql: Db, ids: readonly string[], until: string): Promise<void> {
  await sql`update media_files set next_run_at = ${until} where id = any(${[...ids]}::text[]) and store is not null`
}

/** How many files that came in before then are kept still, and where. */
export const countMediaBefore = async (
  sql: Db,
  before: string,
): Promise<{ store: 'folder' | 's3'; bucket: string | null; files: number }[]> =>
  await sql<{ store: 'folder' | 's3'; bucket: string | null; files: number }[]>`
    select store, bucket, count(*)::integer as files from media_files where created_at < ${before} and status = 'copied' group by store, bucket order by store, bucket`

export async function deleteMedia(sql: Db, ids: readonly string[]): Promise<void> {
  await sql`delete from media_files where id = any(${[...ids]}::text[])`
}

/** Those of these files that are still to be written. */
export async function stillWaiting(sql: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<
    { id: string }[]
  >`select id from media_files where id = any(${[...ids]}::text[]) and status in ('waiting', 'uploading')`
  return new Set(rows.map(({ id }) => id))
}

/** Files with the message that each came with: a fragment for whoever proves that they belong together. */
export const filesOfMessages = (sql: Db) =>
  sql`select account_id, mode, message_id, id from media_files where message_id is not null`
