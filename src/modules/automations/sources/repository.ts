/** SQL of `integration_sources`. */
import type { Tenant } from '../../../api/caller.ts'
import type { SourceRow } from './source.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { Page } from '../../../platform/http/paging.ts'

/** Computed when read, so that events do not write to the source row. */
const lastEventAt = (sql: Db) =>
  sql`
    (
      select e.created_at
      from automation_events e
      where e.source_id = s.id and e.account_id = s.account_id and e.mode = s.mode
      order by e.id desc
      limit 1)`

const columns = (sql: Db) =>
  sql`s.account_id, s.mode, s.id, s.platform, s.external_id, s.name, s.url, s.status, s.plugin_version, s.platform_version, s.emits, s.contact_sync, s.consent_mode,
    s.store_all_events, s.config_version, s.key_hash, s.signing_secret, s.created_at, ${lastEventAt(sql)} as last_event_at`

/** Per tenant, so that the limit is exact and a source is created once. */
export async function lockSources(sql: Db, { account_id, mode }: Tenant): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`integration_sources ${account_id} ${mode}`}, 0))`
}

export async function countSources(sql: Db, { account_id, mode }: Tenant): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from integration_sources
    where account_id = ${account_id} and mode = ${mode} and deleted_at is null`
  return row!.count
}

export async function insertSource(sql: Db, row: SourceRow): Promise<void> {
  await sql`
    insert into integration_sources (account_id, mode, id, platform, external_id, name, url, status,
      plugin_version, platform_version, emits, contact_sync, consent_mode, store_all_events, config_version,
      key_hash, signing_secret, created_at)
    values (${row.account_id}, ${row.mode}, ${row.id}, ${row.platform}, ${row.external_id}, ${row.name},
      ${row.url}, ${row.status}, ${row.plugin_version}, ${row.platform_version},
      ${row.emits as string[]}::text[], ${row.contact_sync}, ${row.consent_mode}, ${row.store_all_events},
      ${row.config_version}, ${row.key_hash}, ${row.signing_secret}, ${row.created_at})`
}

export async function findSource(sql: Db, { account_id, mode }: Tenant, id: string): Promise<SourceRow | null> {
  const [row] = await sql<SourceRow[]>`
    select ${columns(sql)}
    from integration_sources s
    where s.account_id = ${account_id} and s.mode = ${mode} and s.id = ${id} and s.deleted_at is null`
  return row ?? null
}

export async function findSourceByKeyHash(sql: Db, key_hash: string): Promise<SourceRow | null> {
  const [row] = await sql<
    SourceRow[]
  >`select ${columns(sql)} from integration_sources s where s.key_hash = ${key_hash} and s.deleted_at is null`
  return row ?? null
}

/** The account is unknown: the signature authorises the sender. */
export type WebhookSource = Pick<SourceRow, 'account_id' | 'mode' | 'platform' | 'status' | 'signing_secret'>

export async function findSourceOfWebhook(sql: Db, id: string): Promise<WebhookSource | null> {
  const [row] = await sql<WebhookSource[]>`
    select s.account_id, s.mode, s.platform, s.status, s.signing_secret
    from integration_sources s
    where s.id = ${id} and s.deleted_at is null`
  return row ?? null
}

export async function lockSource(sql: Db, { account_id, mode }: Tenant, id: string): Promise<SourceRow | null> {
  const [row] = await sql<SourceRow[]>`
    select ${columns(sql)} from integration_sources s
    where s.account_id = ${account_id} and s.mode = ${mode} and s.id = ${id} and s.deleted_at is null
    for no key update`
  return row ?? null
}

export type ReportingSource = Pick<
  SourceRow,
  'account_id' | 'mode' | 'id' | 'status' | 'platform' | 'contact_sync' | 'consent_mode'
>

/** Locked against changes, in ID order; missing ones are left out. */
export async function shareSources(sql: Db, ids: readonly string[]): Promise<ReportingSource[]> {
  return await sql<ReportingSource[]>`
    select s.account_id, s.mode, s.id, s.status, s.platform, s.contact_sync, s.consent_mode
    from integration_sources s
    where s.id = any (${ids as string[]}::text[]) and s.deleted_at is null order by s.id for share`
}

export async function lockSourceOfPlatform(
  sql: Db,
  { account_id, mode }: Tenant,
  platform: string,
  external_id: string,
): Promise<SourceRow | null> {
  const [row] = await sql<SourceRow[]>`
    select ${columns(sql)} from integration_sources s
    where s.account_id = ${account_id}
      and s.mode = ${mode}
      and s.platform = ${platform}
      and s.external_id = ${external_id}
      and s.deleted_at is null
    for no key update`
  return row ?? null
}

export async function sourceExisted(sql: Db, { account_id, mode }: Tenant, id: string): Promise<boolean> {
  const rows = await sql`
      select 1 from integration_sources where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return rows.length > 0
}

export async function listSources(sql: Db, { account_id, mode }: Tenant, page: Page): Promise<SourceRow[]> {
  return await sql<SourceRow[]>`
    select ${columns(sql)} from integration_sources s
    where s.account_id = ${account_id}
      and s.mode = ${mode}
      and s.deleted_at is null
      ${page.starting_after === undefined ? sql`` : sql`and s.id < ${page.starting_after}`}
    order by s.id desc limit ${page.limit + 1}`
}

export async function updateSource(sql: Db, row: SourceRow): Promise<void> {
  await sql`
    update integration_sources
    set name = ${row.name}, url = ${row.url}, status = ${row.status}, plugin_version = ${row.plugin_version},
      platform_version = ${row.platform_version}, emits = ${row.emits as string[]}::text[],
      contact_sync = ${row.contact_sync}, consent_mode = ${row.consent_mode},
      store_all_events = ${row.store_all_events}, config_version = ${row.config_version},
      key_hash = ${row.key_hash}, signing_secret = ${row.signing_secret}
    where account_id = ${row.account_id} and mode = ${row.mode} and id = ${row.id}`
}

export async function raiseConfigVersion(sql: Db, { account_id, mode }: Tenant, id: string): Promise<void> {
  await sql`
    update integration_sources
    set config_version = config_version + 1
    where account_id = ${account_id} and mode = ${mode} and id = ${id}`
}

/** Erases its secrets. */
export async function deleteSource(sql: Db, { account_id, mode }: Tenant, id: string, at: string): Promise<void> {
  await sql`
    update integration_sources set deleted_at = ${at}, status = 'disabled', signing_secret = '', key_hash = id
    where account_id = ${account_id} and mode = ${mode} and id = ${id}`
}

type SealedSource = Readonly<Pick<SourceRow, 'id' | 'signing_secret'>>

export async function listSealedSources(sql: Db, after: string, limit: number): Promise<SealedSource[]> {
  return await sql<SealedSource[]>`
    select id, signing_secret
    from integration_sources
    where id > ${after} and deleted_at is null
    order by id
    limit ${limit}`
}

export async function resealSource(sql: Db, old: SealedSource, { id, signing_secret }: SealedSource): Promise<void> {
  await sql`
    update integration_sources
    set signing_secret = ${signing_secret}
    where id = ${id} and signing_secret = ${old.signing_secret}`
}
