/** SQL of imports, their chunks, and rejected rows. */
import type { Tenant } from '../../../api/caller.ts'
import type { AttributeType } from '../../../api/resources/contact.ts'
import type { ContactImportRow } from './import.ts'
import { jsonRows, type Db, type Transaction } from '../../../platform/database/sql.ts'
import { isAlive } from '../../../platform/jobs/process-registry.ts'
import type { Page } from '../../../platform/http/paging.ts'
import type { Column } from './columns.ts'
import type { Chunk } from './splitter.ts'

export const columns = (
  sql: Db,
) => sql`account_id, mode, id, status, file_name, request_id, consent_declared, default_country, delimiter, header, columns, mapping, bytes, total, created,
  updated, rejected, warnings, error, created_at, updated_at, started_at, completed_at`

const isStarted = (sql: Db) => sql`status in ('pending', 'running', 'completed', 'failed')`

export interface NewImport {
  readonly id: string
  readonly request_id: string
  /** Reserved until the size of the file is known. */
  readonly bytes: number
  readonly at: string
}

export interface ImportUse {
  /** Uploads that arrive, and drafts. */
  readonly drafts: number
  /** Of all files that are not applied yet. */
  readonly bytes: number
}

/** Uploads of one account are inserted one by one, so that `useOf` counts all of them until the transaction ends. */
export const lockUploads = async (tx: Transaction, { account_id }: Tenant): Promise<unknown> =>
  await tx`select pg_advisory_xact_lock(hashtextextended(${`imports ${account_id}`}, 0))`

export async function useOf(sql: Db, { account_id }: Tenant): Promise<ImportUse> {
  const [row] = await sql<ImportUse[]>`
    select count(*) filter (where status in ('uploading', 'draft', 'checked'))::int as drafts,
      coalesce(sum(bytes), 0)::bigint as bytes
    from contact_imports
    where account_id = ${account_id} and status in ('uploading', 'draft', 'checked', 'pending', 'running')`
  return row!
}

export async function insertImport(
  sql: Db,
  { account_id, mode }: Tenant,
  { id, request_id, bytes, at }: NewImport,
): Promise<void> {
  await sql`
    insert into contact_imports (account_id, mode, id, status, request_id, consent_declared, bytes, created_at,
      updated_at)
    values (${account_id}, ${mode}, ${id}, 'uploading', ${request_id}, false, ${bytes}, ${at}, ${at})`
}

export async function insertChunk(sql: Db, import_id: string, number: number, chunk: Chunk): Promise<void> {
  await sql`
    insert into contact_import_chunks (import_id, number, first_row, rows, body)
    values (${import_id}, ${number}, ${chunk.first_row}, ${chunk.rows}, ${chunk.text})`
}

export interface CompleteFile {
  readonly file_name: string | null
  readonly default_country: string | null
  readonly delimiter: string
  readonly header: readonly string[]
  readonly columns: readonly Column[]
  readonly bytes: number
  readonly total: number
}

export async function startImport(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  file: CompleteFile,
  at: string,
): Promise<ContactImportRow | null> {
  const [row] = await sql<ContactImportRow[]>`
    with started as (
      update contact_imports
      set status = 'pending', consent_declared = true, file_name = ${file.file_name},
        default_country = ${file.default_country}, delimiter = ${file.delimiter},
        header = ${JSON.stringify(file.header)}::text::json,
        columns = ${JSON.stringify(file.columns)}::text::json, bytes = ${file.bytes}, total = ${file.total},
        updated_at = ${at}
      where account_id = ${account_id} and mode = ${mode} and id = ${id} and status = 'uploading'
      returning *
    ),
    job as (
      insert into contact_import_jobs (account_id, mode, import_id, worked_at)
      select account_id, mode, id, ${at}
      from started)
    select ${columns(sql)} from started`
  return row ?? null
}

export async function deleteUpload(sql: Transaction, { account_id, mode }: Tenant, id: string): Promise<void> {
  const gone = await sql`
    delete from contact_imports
    where account_id = ${account_id} and mode = ${mode} and id = ${id} and status = 'uploading'`
  if (gone.count > 0) await sql`delete from contact_import_chunks where import_id = ${id}`
}

export async function staleUploads(sql: Db, before: string): Promise<(Tenant & { id: string })[]> {
  return await sql<(Tenant & { id: string })[]>`
    select account_id, mode, id
    from contact_imports
    where status = 'uploading' and created_at < ${before}
    limit 100`
}

export async function findImport(sql: Db, { account_id, mode }: Tenant, id: string): Promise<ContactImportRow | null> {
  const [row] = await sql<ContactImportRow[]>`
    select ${columns(sql)}
    from contact_imports
    where account_id = ${account_id} and mode = ${mode} and id = ${id} and ${isStarted(sql)}`
  return row ?? null
}

export async function listImports(
  sql: Db,
  { account_id, mode }: Tenant,
  status: string | undefined,
  page: Page,
): Promise<ContactImportRow[]> {
  return await sql<ContactImportRow[]>`
    select ${columns(sql)} from contact_imports
    where account_id = ${account_id}
      and mode = ${mode}
      and ${isStarted(sql)}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${page.starting_after === undefined ? sql`` : sql`and id < ${page.starting_after}`}
    order by id desc limit ${page.limit + 1}`
}

export interface ImportErrorRow {
  readonly row: number
  readonly applied: boolean
  readonly reason: string
  readonly cells: readonly string[]
}

export async function pageOfErrors(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  after: number,
  limit: number,
): Promise<ImportErrorRow[]> {
  return await sql<ImportErrorRow[]>`
    select row, applied, reason, cells from contact_import_errors
    where account_id = ${account_id} and mode = ${mode} and import_id = ${id} and row > ${after}
    order by row limit ${limit}`
}

export interface NewImportError extends ImportErrorRow {
  readonly phone_key: string | null
  readonly email_key: string | null
}

export async function insertErrors(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  rows: readonly NewImportError[],
  at: string,
): Promise<void> {
  if (rows.length === 0) return
  await sql`
    insert into contact_import_errors (account_id, mode, import_id, row, applied, reason, cells, phone_key,
      email_key, created_at)
    select ${account_id}, ${mode}, ${id}, row, applied, reason, cells, phone_key, email_key, ${at}
    from json_to_recordset(${jsonRows(rows)}::text::json) as t(row integer, applied boolean, reason text,
      cells json, phone_key text, email_key text)`
}

export async function deleteErrorsOf(
  sql: Db,
  { account_id, mode }: Tenant,
  phone_key: string | null,
  email_key: string | null,
): Promise<void> {
  await sql`
    delete from contact_import_errors
    where account_id = ${account_id}
      and mode = ${mode}
      and (phone_key = ${phone_key} or (phone_key is null and email_key = ${email_key}))`
}

export async function deleteOldErrors(sql: Db, before: string, limit: number): Promise<number> {
  const result = await sql`
    delete from contact_import_errors
    where ctid = any (array(
      select ctid from contact_import_errors where created_at < ${before} limit ${limit}))`
  return result.count
}

export interface Job extends Tenant {
  readonly import_id: string
}

/** Accounts take turns after `after_account`. Within one, the import that waited longest comes first. */
export async function claimJob(
  sql: Db,
  {
    process_id,
    at,
    lease_until,
    alive_since,
    after_account,
  }: { process_id: string; at: string; lease_until: string; alive_since: string; after_account: string },
): Promise<Job | null> {
  const [row] = await sql<Job[]>`
    update contact_import_jobs
    set process_id = ${process_id}, lease_until = ${lease_until}, worked_at = ${at}
    where import_id = (
      select j.import_id from contact_import_jobs j
      where j.process_id is null
        or j.process_id = ${process_id}
        or j.lease_until < ${at}
        or not ${isAlive(sql, sql`j.process_id`, alive_since)}
      order by j.account_id <= ${after_account}, j.account_id, j.worked_at, j.import_id limit 1
      for update skip locked
    )
    returning account_id, mode, import_id`
  return row ?? null
}

/** False when another process has the job. */
export async function lockJob(sql: Transaction, import_id: string, process_id: string): Promise<boolean> {
  const rows = await sql`
    select 1
    from contact_import_jobs
    where import_id = ${import_id} and process_id = ${process_id} for share`
  return rows.length > 0
}

export async function releaseJob(sql: Db, import_id: string, process_id: string, succeeded: boolean): Promise<void> {
  await sql`
    update contact_import_jobs
    set process_id = null, lease_until = null, failures = case when ${succeeded} then 0 else failures end
    where import_id = ${import_id} and process_id = ${process_id}`
}

export async function countFailure(
  sql: Db,
  import_id: string,
  process_id: string,
  failures_max: number,
): Promise<boolean> {
  const [row] = await sql<{ failures: number }[]>`
    update contact_import_jobs
    set failures = failures + 1
    where import_id = ${import_id} and process_id = ${process_id}
    returning failures`
  return row !== undefined && row.failures >= failures_max
}

export async function failImport(
  sql: Transaction,
  { account_id, mode }: Tenant,
  id: string,
  error: { code: string; message: string },
  at: string,
): Promise<void> {
  await sql`
    update contact_imports
    set status = 'failed', error = ${JSON.stringify(error)}::text::json, completed_at = ${at},
      updated_at = ${at}
    where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  await sql`delete from contact_import_chunks where import_id = ${id}`
  await sql`delete from contact_import_jobs where import_id = ${id}`
}

export interface ChunkRow {
  readonly number: number
  readonly first_row: number
  readonly body: string
}

export async function nextChunk(sql: Db, import_id: string, after: number): Promise<ChunkRow | null> {
  const [row] = await sql<ChunkRow[]>`
    select number, first_row, body
    from contact_import_chunks
    where import_id = ${import_id} and number > ${after}
    order by number
    limit 1`
  return row ?? null
}

export async function deleteChunk(sql: Transaction, import_id: string, number: number): Promise<boolean> {
  const { count } = await sql`
    delete from contact_import_chunks where import_id = ${import_id} and number = ${number}`
  return count > 0
}

export interface Progress {
  readonly created: number
  readonly updated: number
  readonly rejected: number
  readonly warnings: number
}

export async function addProgress(
  sql: Transaction,
  { account_id, mode }: Tenant,
  id: string,
  done: Progress,
  at: string,
): Promise<void> {
  await sql`
    update contact_imports
    set status = 'running', started_at = coalesce(started_at, ${at}), updated_at = ${at},
      created = created + ${done.created}, updated = updated + ${done.updated},
      rejected = rejected + ${done.rejected}, warnings = warnings + ${done.warnings}
    where account_id = ${account_id} and mode = ${mode} and id = ${id}`
}

/** False if chunks remain. */
export async function finishImport(
  sql: Transaction,
  { account_id, mode }: Tenant,
  id: string,
  at: string,
): Promise<boolean> {
  const finished = await sql`
    update contact_imports
    set status = 'completed', started_at = coalesce(started_at, ${at}), completed_at = ${at},
      updated_at = ${at}
    where account_id = ${account_id}
      and mode = ${mode}
      and id = ${id}
      and not exists (select 1 from contact_import_chunks where import_id = ${id})`
  if (finished.count > 0) await sql`delete from contact_import_jobs where import_id = ${id}`
  return finished.count > 0
}

export async function definedTypes(
  sql: Db,
  { account_id, mode }: Tenant,
  keys: readonly string[],
): Promise<Map<string, AttributeType>> {
  if (keys.length === 0) return new Map()
  const rows = await sql<{ key: string; type: AttributeType }[]>`
    select key, type
    from contact_attributes
    where account_id = ${account_id} and mode = ${mode} and key = any (${[...keys]}::text[])`
  return new Map(rows.map(({ key, type }) => [key, type]))
}

export interface FoundByEmail {
  readonly email_key: string
  readonly id: string
  readonly others: number
}

export async function findByEmail(
  sql: Db,
  { account_id, mode }: Tenant,
  keys: readonly string[],
): Promise<FoundByEmail[]> {
  if (keys.length === 0) return []
  return await sql<FoundByEmail[]>`
    select email_key, min(id) as id, count(*) - 1 as others from contacts
    where account_id = ${account_id}
      and mode = ${mode}
      and tenant = tenant_number(${account_id}, ${mode})
      and email_key = any (${[...keys]}::text[])
    group by email_key`
}
