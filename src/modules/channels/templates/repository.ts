/** SQL of our copies of message templates. */
import type { Tenant } from '../../../api/caller.ts'
import { jsonRows, type Db } from '../../../platform/database/sql.ts'
import type { TemplateRecord } from '../../../providers/provider.ts'
import type { ChannelRow } from '../channel.ts'

export interface TemplateRow extends TemplateRecord {
  readonly id: string
  readonly updated_at: string
}

const columns = (sql: Db) =>
  sql`id, provider_id, name, language, category, status, parameter_format, components, rejected_reason, updated_at`

export const listTemplates = async (
  sql: Db,
  { account_id, mode }: Tenant,
  channel_id: string,
): Promise<TemplateRow[]> =>
  await sql<TemplateRow[]>`
    select ${columns(sql)} from channel_templates
    where account_id = ${account_id} and mode = ${mode} and channel_id = ${channel_id}
    order by name, language, id`

export const findTemplates = async (
  sql: Db,
  { account_id, mode }: Tenant,
  channel_id: string,
  name: string,
): Promise<TemplateRow[]> =>
  await sql<TemplateRow[]>`
    select ${columns(sql)} from channel_templates
    where account_id = ${account_id} and mode = ${mode} and channel_id = ${channel_id} and name = ${name}
    order by language, id`

/** By the provider's ID. Resolves to how many changed. */
export async function upsertTemplates(
  tx: Db,
  { account_id, mode }: Tenant,
  channel_id: string,
  rows: readonly TemplateRow[],
): Promise<number> {
  if (rows.length === 0) return 0
  const result = await tx`
    insert into channel_templates as t
      (account_id, mode, channel_id, id, provider_id, name, language, category, status, parameter_format,
      components, rejected_reason, updated_at)
    select ${account_id}, ${mode}, ${channel_id}, id, provider_id, name, language, category, status,
      parameter_format, components, rejected_reason, updated_at
    from json_to_recordset(${jsonRows(rows)}::text::json) as n(id text, provider_id text, name text,
      language text, category text, status text, parameter_format text, components json, rejected_reason text,
      updated_at timestamptz)
    order by provider_id
    on conflict (channel_id, provider_id) do update
      set name = excluded.name, language = excluded.language, category = excluded.category,
        status = excluded.status, parameter_format = excluded.parameter_format,
        components = excluded.components, rejected_reason = excluded.rejected_reason,
        updated_at = excluded.updated_at
    where (t.name, t.language, t.category, t.status, t.parameter_format, t.rejected_reason,
      t.components::jsonb) is distinct from
      (excluded.name, excluded.language, excluded.category, excluded.status, excluded.parameter_format,
      excluded.rejected_reason, excluded.components::jsonb)`
  return result.count
}

export async function deleteTemplatesBut(
  tx: Db,
  { account_id, mode }: Tenant,
  channel_id: string,
  provider_ids: readonly string[],
): Promise<number> {
  const result = await tx`
    delete from channel_templates
    where account_id = ${account_id}
      and mode = ${mode}
      and channel_id = ${channel_id}
      and provider_id <> all (${[...provider_ids]}::text[])`
  return result.count
}

export async function deleteTemplatesOfName(
  tx: Db,
  { account_id, mode }: Tenant,
  channel_id: string,
  name: string,
  provider_ids: readonly string[],
): Promise<void> {
  await tx`
    delete from channel_templates
    where account_id = ${account_id}
      and mode = ${mode}
      and channel_id = ${channel_id}
      and name = ${name}
      and provider_id <> all (${[...provider_ids]}::text[])`
}

/** To store a list read from `began_at` on; false if a later one is already stored or the channel is deleted. */
export async function lockForReplacing(
  tx: Db,
  { account_id, mode }: Tenant,
  channel_id: string,
  began_at: string,
): Promise<boolean> {
  const rows = await tx`
    update channels set templates_read_at = ${began_at}
    where account_id = ${account_id} and mode = ${mode} and id = ${channel_id} and deleted_at is null
      and (templates_read_at is null or templates_read_at <= ${began_at})
    returning id`
  return rows.length > 0
}

export async function scheduleRefresh(
  sql: Db,
  { account_id, mode }: Tenant,
  channel_id: string,
  at: string,
): Promise<void> {
  await sql`
    update channels set templates_refresh_at = ${at}
    where account_id = ${account_id} and mode = ${mode} and id = ${channel_id} and deleted_at is null`
}

/** Schedules their next refresh at `next`, so that no other process claims them. */
export const claimRefreshes = async (sql: Db, at: string, next: string, rows_max: number): Promise<ChannelRow[]> =>
  await sql<ChannelRow[]>`
    update channels set templates_refresh_at = ${next}
    where id in (
      select id
      from channels
      where templates_refresh_at <= ${at} and deleted_at is null
      order by templates_refresh_at
      limit ${rows_max}
      for update skip locked
    )
    returning *`
