/** SQL of `automations`. */
import type { Tenant } from '../../api/caller.ts'
import type { AutomationStatus } from '../../api/resources/automation.ts'
import type { ActiveAutomation, AutomationRow, EnabledEvent } from './automation.ts'
import type { Db, Transaction } from '../../platform/database/sql.ts'
import type { Page } from '../../platform/http/paging.ts'

const columns = (
  sql: Db,
) => sql`a.account_id, a.mode, a.id, a.source_id, a.name, a.event_type, a.status, a.conditions, a.delay_seconds, a.cancel_on, a.channel_id,
  a.channel_type, a.category, a.message, a.merge_fallbacks, a.created_at, a.updated_at`

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))

export async function insertAutomation(sql: Db, row: AutomationRow): Promise<void> {
  await sql`
    insert into automations (account_id, mode, id, source_id, name, event_type, status, conditions,
      delay_seconds, cancel_on, channel_id, channel_type, category, message, merge_fallbacks, created_at,
      updated_at)
    values (${row.account_id}, ${row.mode}, ${row.id}, ${row.source_id}, ${row.name}, ${row.event_type},
      ${row.status}, ${json(row.conditions)}::text::json, ${row.delay_seconds},
      ${row.cancel_on as string[]}::text[], ${row.channel_id}, ${row.channel_type}, ${row.category},
      ${json(row.message)}::text::json, ${json(row.merge_fallbacks)}::text::json, ${row.created_at},
      ${row.updated_at})`
}

export async function updateAutomation(sql: Db, row: AutomationRow): Promise<void> {
  await sql`
    update automations
    set name = ${row.name}, event_type = ${row.event_type}, status = ${row.status},
      conditions = ${json(row.conditions)}::text::json, delay_seconds = ${row.delay_seconds},
      cancel_on = ${row.cancel_on as string[]}::text[], channel_id = ${row.channel_id},
      channel_type = ${row.channel_type}, category = ${row.category},
      message = ${json(row.message)}::text::json, merge_fallbacks = ${json(row.merge_fallbacks)}::text::json,
      updated_at = ${row.updated_at}
    where account_id = ${row.account_id} and mode = ${row.mode} and id = ${row.id}`
}

export async function findAutomation(sql: Db, { account_id, mode }: Tenant, id: string): Promise<AutomationRow | null> {
  const [row] = await sql<AutomationRow[]>`
    select ${columns(sql)}
    from automations a
    where a.account_id = ${account_id} and a.mode = ${mode} and a.id = ${id} and a.deleted_at is null`
  return row ?? null
}

export async function lockAutomation(
  sql: Transaction,
  { account_id, mode }: Tenant,
  id: string,
): Promise<AutomationRow | null> {
  const [row] = await sql<AutomationRow[]>`
    select ${columns(sql)}
    from automations a
    where a.account_id = ${account_id} and a.mode = ${mode} and a.id = ${id} and a.deleted_at is null
    for no key update`
  return row ?? null
}

export async function sourcesOfChannel(sql: Db, { account_id, mode }: Tenant, channel_id: string): Promise<string[]> {
  const rows = await sql<{ source_id: string }[]>`
    select distinct source_id from automations
    where account_id = ${account_id}
      and mode = ${mode}
      and channel_id = ${channel_id}
      and status = 'active'
      and deleted_at is null
    order by source_id`
  return rows.map(({ source_id }) => source_id)
}

export async function pauseAutomations(
  sql: Db,
  { account_id, mode }: Tenant,
  source_id: string,
  channel_id: string,
  at: string,
): Promise<void> {
  await sql`
    update automations set status = 'paused', updated_at = ${at}
    where account_id = ${account_id}
      and mode = ${mode}
      and source_id = ${source_id}
      and channel_id = ${channel_id}
      and status = 'active'
      and deleted_at is null`
}

export async function countAutomations(sql: Db, { account_id, mode }: Tenant, source_id: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from automations
    where account_id = ${account_id} and mode = ${mode} and source_id = ${source_id} and deleted_at is null`
  return row!.count
}

export async function automationExisted(sql: Db, { account_id, mode }: Tenant, id: string): Promise<boolean> {
  const rows = await sql`
    select 1 from automations where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return rows.length > 0
}

export interface AutomationFilters {
  readonly source: string | undefined
  readonly event_type: string | undefined
  readonly status: AutomationStatus | undefined
}

export async function listAutomations(
  sql: Db,
  { account_id, mode }: Tenant,
  { source, event_type, status }: AutomationFilters,
  page: Page,
): Promise<AutomationRow[]> {
  return await sql<AutomationRow[]>`
    select ${columns(sql)} from automations a
    where a.account_id = ${account_id} and a.mode = ${mode} and a.deleted_at is null
      ${source === undefined ? sql`` : sql`and a.source_id = ${source}`} ${event_type === undefined ? sql`` : sql`and a.event_type = ${event_type}`}
      ${status === undefined ? sql`` : sql`and a.status = ${status}`} ${page.starting_after === undefined ? sql`` : sql`and a.id < ${page.starting_after}`}
    order by a.id desc limit ${page.limit + 1}`
}

export async function deleteAutomation(sql: Db, { account_id, mode }: Tenant, id: string, at: string): Promise<void> {
  await sql`
    update automations set status = 'paused', deleted_at = ${at}, updated_at = ${at}
    where account_id = ${account_id} and mode = ${mode} and id = ${id} and deleted_at is null`
}

export async function deleteAutomationsOfSource(
  sql: Db,
  { account_id, mode }: Tenant,
  source_id: string,
  at: string,
): Promise<void> {
  await sql`
    update automations set status = 'paused', deleted_at = ${at}, updated_at = ${at}
    where account_id = ${account_id} and mode = ${mode} and source_id = ${source_id} and deleted_at is null`
}

export async function enabledEventsOf(
  sql: Db,
  { account_id, mode }: Tenant,
  source_ids: readonly string[],
): Promise<EnabledEvent[]> {
  return await sql<EnabledEvent[]>`
    select source_id, event_type, min(delay_seconds)::int as delay_seconds from automations
    where account_id = ${account_id}
      and mode = ${mode}
      and source_id = any (${source_ids as string[]}::text[])
      and status = 'active'
      and deleted_at is null
    group by source_id, event_type order by source_id, event_type`
}

export async function activeAutomationsOf(sql: Db, source_ids: readonly string[]): Promise<ActiveAutomation[]> {
  return await sql<ActiveAutomation[]>`
    select a.account_id, a.mode, a.id, a.source_id, a.event_type, a.conditions, a.delay_seconds, a.cancel_on,
      a.channel_id, a.channel_type, a.category
    from automations a
    where a.source_id = any (${source_ids as string[]}::text[])
      and a.status = 'active'
      and a.deleted_at is null
    order by a.id`
}
