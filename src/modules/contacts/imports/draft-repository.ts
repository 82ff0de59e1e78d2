/** SQL of imports that are not started. */
import type { Tenant } from '../../../api/caller.ts'
import type { Db, Transaction } from '../../../platform/database/sql.ts'
import type { Column } from './columns.ts'
import type { ContactImportRow } from './import.ts'
import { columns, type CompleteFile } from './repository.ts'

/** null when the upload was abandoned because it took too long. */
export async function insertDraft(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  file: Omit<CompleteFile, 'columns'>,
  at: string,
): Promise<ContactImportRow | null> {
  const [row] = await sql<ContactImportRow[]>`
    update contact_imports
    set status = 'draft', file_name = ${file.file_name}, default_country = ${file.default_country},
      delimiter = ${file.delimiter}, header = ${JSON.stringify(file.header)}::text::json,
      bytes = ${file.bytes}, total = ${file.total}, updated_at = ${at}
    where account_id = ${account_id} and mode = ${mode} and id = ${id} and status = 'uploading'
    returning ${columns(sql)}`
  return row ?? null
}

export async function findStep(sql: Db, { account_id, mode }: Tenant, id: string): Promise<ContactImportRow | null> {
  const [row] = await sql<ContactImportRow[]>`
    select ${columns(sql)}
    from contact_imports
    where account_id = ${account_id} and mode = ${mode} and id = ${id} and status <> 'uploading'`
  return row ?? null
}

/** undefined: unchanged. */
export interface DraftChange {
  readonly mapping: Readonly<Record<string, Column>> | undefined
  readonly default_country: string | null | undefined
  readonly consent_declared: boolean | undefined
  readonly request_id: string
}

/** Changes that affect the result require a new check. null in any other state. */
export async function changeDraft(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  change: DraftChange,
  at: string,
): Promise<ContactImportRow | null> {
  const { mapping, default_country, consent_declared, request_id } = change
  const stale = mapping !== undefined || default_country !== undefined
  const [row] = await sql<ContactImportRow[]>`
    update contact_imports set updated_at = ${at}
      ${mapping === undefined ? sql`` : sql`, mapping = ${JSON.stringify(mapping)}::text::json`}
      ${default_country === undefined ? sql`` : sql`, default_country = ${default_country}`}
      ${consent_declared === undefined ? sql`` : sql`, consent_declared = ${consent_declared}`}
      ${consent_declared === true ? sql`, request_id = ${request_id}` : sql``}
      ${stale ? sql`, status = 'draft', columns = '[]', created = 0, updated = 0, rejected = 0` : sql``}
    where account_id = ${account_id} and mode = ${mode} and id = ${id} and status in ('draft', 'checked')
    returning ${columns(sql)}`
  return row ?? null
}

export interface CheckResult {
  readonly columns: readonly Column[]
  readonly created: number
  readonly updated: number
  readonly rejected: number
}

export async function setChecked(
  sql: Db,
  read: ContactImportRow,
  done: CheckResult,
  at: string,
): Promise<ContactImportRow | null> {
  const { account_id, mode, id } = read
  const [row] = await sql<ContactImportRow[]>`
    update contact_imports
    set status = 'checked', columns = ${JSON.stringify(done.columns)}::text::json, created = ${done.created},
      updated = ${done.updated}, rejected = ${done.rejected}, updated_at = ${at}
    where account_id = ${account_id} and mode = ${mode} and id = ${id} and status in ('draft', 'checked')
      and mapping::text = ${JSON.stringify(read.mapping)}
      and default_country is not distinct from ${read.default_country}
    returning ${columns(sql)}`
  return row ?? null
}

export async function startChecked(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  at: string,
): Promise<ContactImportRow | null> {
  const [row] = await sql<ContactImportRow[]>`
    with started as (
      update contact_imports
      set status = 'pending', created = 0, updated = 0, rejected = 0, updated_at = ${at}
      where account_id = ${account_id}
        and mode = ${mode}
        and id = ${id}
        and status = 'checked'
        and consent_declared
      returning *
    ),
    job as (
      insert into contact_import_jobs (account_id, mode, import_id, worked_at)
      select account_id, mode, id, ${at}
      from started)
    select ${columns(sql)} from started`
  return row ?? null
}

export async function cancelDraft(
  sql: Transaction,
  { account_id, mode }: Tenant,
  id: string,
  at: string,
): Promise<ContactImportRow | null> {
  const [row] = await sql<ContactImportRow[]>`
    update contact_imports
    set status = 'cancelled', created = 0, updated = 0, rejected = 0, completed_at = ${at}, updated_at = ${at}
    where account_id = ${account_id} and mode = ${mode} and id = ${id} and status in ('draft', 'checked')
    returning ${columns(sql)}`
  if (row !== undefined) await sql`delete from contact_import_chunks where import_id = ${id}`
  return row ?? null
}

export async function staleDrafts(sql: Db, before: string): Promise<(Tenant & { id: string; updated_at: string })[]> {
  return await sql<(Tenant & { id: string; updated_at: string })[]>`
    select account_id, mode, id, updated_at
    from contact_imports
    where status in ('draft', 'checked', 'cancelled') and updated_at < ${before}
    limit 100`
}

export async function deleteDraft(
  sql: Transaction,
  { account_id, mode }: Tenant,
  id: string,
  updated_at: string,
): Promise<void> {
  const gone = await sql`
    delete from contact_imports
    where account_id = ${account_id}
      and mode = ${mode}
      and id = ${id}
      and status in ('draft', 'checked', 'cancelled')
      and updated_at <= ${updated_at}`
  if (gone.count > 0) await sql`delete from contact_import_chunks where import_id = ${id}`
}
