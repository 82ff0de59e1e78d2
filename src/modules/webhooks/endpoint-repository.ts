/** SQL of webhook endpoints and their subscriptions. */
import type { Tenant } from '../../api/caller.ts'
import type { EndpointFilters } from '../../api/resources/webhook-endpoint.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { EndpointRow } from './endpoint.ts'

const columns = (sql: Db) =>
  sql`account_id, mode, id, url, description, events, status, filters, metadata, source, created_by, secret, previous_secret, previous_secret_until, verification_token, version, created_at`

/** Until the transaction ends, so that the limit is exact. */
export async function lockEndpoints(sql: Db, { account_id, mode }: Tenant): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhook_endpoints ${account_id} ${mode}`}, 0))`
}

export async function countEndpoints(sql: Db, { account_id, mode }: Tenant): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from webhook_endpoints
    where account_id = ${account_id}
      and mode = ${mode}
      and deleted_at is null`
  return row!.count
}

export async function insertEndpoint(sql: Db, row: Omit<EndpointRow, 'version'>): Promise<void> {
  await sql`
    insert into webhook_endpoints (
      account_id, mode, id, url, description, events, status, filters, metadata, source, created_by, secret,
      verification_token, created_at
    )
    values (${row.account_id}, ${row.mode}, ${row.id}, ${row.url}, ${row.description}, ${row.events}::text[], ${row.status}, ${JSON.stringify(row.filters)}::text::json,
      ${JSON.stringify(row.metadata)}::text::json, ${row.source}, ${JSON.stringify(row.created_by)}::text::json,
      ${row.secret}, ${row.verification_token}, ${row.created_at})`
  await sql`insert into webhook_leases (endpoint_id) values (${row.id})`
}

export async function findEndpoint(sql: Db, { account_id, mode }: Tenant, id: string): Promise<EndpointRow | null> {
  const [row] = await sql<EndpointRow[]>`
    select ${columns(sql)}
    from webhook_endpoints
    where account_id = ${account_id}
      and mode = ${mode}
      and id = ${id}
      and deleted_at is null`
  return row ?? null
}

export async function lockEndpoint(sql: Db, { account_id, mode }: Tenant, id: string): Promise<EndpointRow | null> {
  const [row] = await sql<EndpointRow[]>`
    select ${columns(sql)}
    from webhook_endpoints
    where account_id = ${account_id}
      and mode = ${mode}
      and id = ${id}
      and deleted_at is null
    for update`
  return row ?? null
}

/** Also if deleted: a cursor remains valid. */
export async function endpointExisted(sql: Db, { account_id, mode }: Tenant, id: string): Promise<boolean> {
  const rows =
    await sql`select 1 from webhook_endpoints where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return rows.length > 0
}

export async function listEndpoints(sql: Db, { account_id, mode }: Tenant, page: Page): Promise<EndpointRow[]> {
  return await sql<EndpointRow[]>`
    select ${columns(sql)} from webhook_endpoints
    where account_id = ${account_id}
      and mode = ${mode}
      and deleted_at is null ${page.starting_after === undefined ? sql`` : sql`and id < ${page.starting_after}`}
    order by id desc limit ${page.limit + 1}`
}

/** The version changes with fields that affect deliveries. */
export async function updateEndpoint(sql: Db, row: EndpointRow): Promise<void> {
  await sql`
    update webhook_endpoints
    set url = ${row.url}, description = ${row.description}, events = ${row.events}::text[], status = ${row.status},
      filters = ${JSON.stringify(row.filters)}::text::json,
      metadata = ${JSON.stringify(row.metadata)}::text::json, secret = ${row.secret},
      previous_secret = ${row.previous_secret}, previous_secret_until = ${row.previous_secret_until},
      verification_token = ${row.verification_token},
      version = version + (
        (
          url, events, status, filters::text, secret, previous_secret, previous_secret_until, verification_token
        ) is distinct from
        (${row.url}::text, ${row.events}::text[], ${row.status}::text, ${JSON.stringify(row.filters)}::text, ${row.secret}::text, ${row.previous_secret}::text,
          ${row.previous_secret_until}::timestamptz, ${row.verification_token}::text))::int
    where account_id = ${row.account_id} and mode = ${row.mode} and id = ${row.id}`
}

export async function deleteEndpoint(sql: Db, { account_id, mode }: Tenant, id: string, at: string): Promise<void> {
  await sql`
    update webhook_endpoints
    set deleted_at = ${at}, status = 'disabled', secret = '', previous_secret = null, verification_token = null,
      version = version + 1
    where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  await sql`delete from webhook_leases where endpoint_id = ${id}`
}

/** `fresh`: for events committed after this statement; otherwise the start stays. */
export async function writeSubscriptions(sql: Db, row: EndpointRow, fresh: boolean): Promise<void> {
  const filters = setFilters(row.filters)
  const since = fresh
    ? []
    : await sql<
        { since_snapshot: string; since_position: string }[]
      >`select since_snapshot::text, since_position::text from webhook_subscriptions
    where account_id = ${row.account_id} and mode = ${row.mode} and endpoint_id = ${row.id} limit 1`
  await removeSubscriptions(sql, row, row.id)
  await sql`
    insert into webhook_subscriptions (
      account_id, mode, event_type, endpoint_id, filters, since_snapshot, since_position
    )
    select ${row.account_id}, ${row.mode}, event_type, ${row.id}, ${filters}::text::jsonb,
      coalesce(${since[0]?.since_snapshot ?? null}::text::pg_snapshot, snapshot),
      coalesce(
        ${since[0]?.since_position ?? null}::text::bigint,
        (feed_position() >> 48 << 48) + pg_snapshot_xmax(snapshot)::text::bigint
      )
    from unnest(${row.events}::text[]) event_type, (select pg_current_snapshot() as snapshot) now`
}

export async function removeSubscriptions(sql: Db, { account_id, mode }: Tenant, endpoint_id: string): Promise<void> {
  await sql`
    delete from webhook_subscriptions
    where account_id = ${account_id}
      and mode = ${mode}
      and endpoint_id = ${endpoint_id}`
}

/** Null without a non-empty filter. */
function setFilters(filters: EndpointFilters): string | null {
  const set = Object.entries(filters).filter(([, values]) => values.length > 0)
  return set.length === 0 ? null : JSON.stringify(Object.fromEntries(set))
}

type SealedEndpoint = Readonly<Pick<EndpointRow, 'id' | 'secret' | 'previous_secret' | 'verification_token'>>

/** In slices of the primary key. */
export async function listSealed(sql: Db, after: string, limit: number): Promise<SealedEndpoint[]> {
  return await sql<SealedEndpoint[]>`
    select id, secret, previous_secret, verification_token
    from webhook_endpoints
    where id > ${after}
      and deleted_at is null
    order by id
    limit ${limit}`
}

export async function reseal(sql: Db, old: SealedEndpoint, row: SealedEndpoint): Promise<void> {
  await sql`
    update webhook_endpoints
    set secret = ${row.secret}, previous_secret = ${row.previous_secret},
      verification_token = ${row.verification_token}, version = version + 1
    where id = ${row.id} and secret = ${old.secret}`
}

/** Current ones first, then the newest deleted ones, whose deliveries are still stored. */
export async function endpointIds(sql: Db, { account_id, mode }: Tenant, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id
    from webhook_endpoints
    where account_id = ${account_id}
      and mode = ${mode}
    order by deleted_at is null desc, id desc
    limit ${limit}`
  return rows.map(({ id }) => id)
}
