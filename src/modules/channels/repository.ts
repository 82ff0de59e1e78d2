/** SQL of channels. Sandbox channels are not rows. */
import type { Tenant } from '../../api/caller.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { ChannelRow, DeletedChannel } from './channel.ts'

export async function insertChannel(
  sql: Db,
  row: Omit<ChannelRow, 'deleted_at' | 'connection_tested_at'>,
): Promise<ChannelRow> {
  const [channel] = await sql<ChannelRow[]>`
    insert into channels (account_id, mode, id, type, provider, name, identifier, status, connection_status,
      capabilities, settings, credentials, created_at)
    values (${row.account_id}, ${row.mode}, ${row.id}, ${row.type}, ${row.provider}, ${row.name},
      ${row.identifier}, ${row.status}, ${row.connection_status}, ${[...row.capabilities]}::text[],
      ${JSON.stringify(row.settings)}::text::json, ${row.credentials}, ${row.created_at})
    returning *`
  return channel!
}

export async function findChannel(sql: Db, { account_id, mode }: Tenant, id: string): Promise<ChannelRow | null> {
  const [channel] = await sql<ChannelRow[]>`
    select *
    from channels
    where account_id = ${account_id} and mode = ${mode} and id = ${id} and deleted_at is null`
  return channel ?? null
}

export async function findAnyChannel(sql: Db, id: string): Promise<ChannelRow | null> {
  const [channel] = await sql<ChannelRow[]>`select * from channels where id = ${id} and deleted_at is null`
  return channel ?? null
}

export async function listChannels(sql: Db, { account_id, mode }: Tenant, page: Page): Promise<ChannelRow[]> {
  return await sql<ChannelRow[]>`
    select * from channels
    where account_id = ${account_id} and mode = ${mode} and deleted_at is null
      ${page.starting_after === undefined ? sql`` : sql`and id < ${page.starting_after}`}
    order by id desc limit ${page.limit + 1}`
}

export async function listIdsOfType(
  sql: Db,
  { account_id, mode }: Tenant,
  type: string,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id
    from channels
    where account_id = ${account_id} and mode = ${mode} and type = ${type} and deleted_at is null
    order by id desc
    limit ${limit}`
  return rows.map(({ id }) => id)
}

export async function channelExisted(sql: Db, { account_id, mode }: Tenant, id: string): Promise<boolean> {
  const rows = await sql`
    select 1 from channels where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return rows.length > 0
}

export async function findByIdentifier(
  sql: Db,
  { account_id, mode, type, provider }: Pick<ChannelRow, 'account_id' | 'mode' | 'type' | 'provider'>,
  identifiers: readonly string[],
): Promise<ChannelRow | null> {
  const [channel] = await sql<ChannelRow[]>`
    select * from channels
    where account_id = ${account_id}
      and mode = ${mode}
      and type = ${type}
      and identifier = any(${[...identifiers]}::text[])
      and provider = ${provider}
      and deleted_at is null
    order by id limit 1`
  return channel ?? null
}

export async function listOfProvider(
  sql: Db,
  { account_id, mode, type, provider }: Pick<ChannelRow, 'account_id' | 'mode' | 'type' | 'provider'>,
): Promise<ChannelRow[]> {
  return await sql<ChannelRow[]>`
    select *
    from channels
    where account_id = ${account_id}
      and mode = ${mode}
      and type = ${type}
      and provider = ${provider}
      and deleted_at is null
    order by id`
}

/** In any account. */
export async function findHolder(sql: Db, type: string, identifier: string): Promise<ChannelRow | null> {
  const [channel] = await sql<
    ChannelRow[]
  >`select * from channels where type = ${type} and identifier = ${identifier} and deleted_at is null`
  return channel ?? null
}

export interface ChannelChange {
  name?: string
  status?: 'active' | 'disabled'
  settings?: Record<string, unknown>
  capabilities?: readonly string[]
  /** Sealed. */
  credentials?: string
  connection_tested_at?: string
}

export async function updateChannel(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  change: ChannelChange,
): Promise<ChannelRow | null> {
  const [channel] = await sql<ChannelRow[]>`
    update channels set
      name = coalesce(${change.name ?? null}, name),
      status = coalesce(${change.status ?? null}, status),
      settings = coalesce(${change.settings === undefined ? null : JSON.stringify(change.settings)}::text::json,
      settings),
      capabilities = coalesce(${change.capabilities === undefined ? null : [...change.capabilities]}::text[],
      capabilities),
      credentials = coalesce(${change.credentials ?? null}, credentials),
      connection_tested_at = coalesce(${change.connection_tested_at ?? null}, connection_tested_at)
    where account_id = ${account_id} and mode = ${mode} and id = ${id} and deleted_at is null
    returning *`
  return channel ?? null
}

export async function updateConnectionStatus(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  connection_status: ChannelRow['connection_status'],
): Promise<ChannelRow | null> {
  const [channel] = await sql<ChannelRow[]>`
    update channels set connection_status = ${connection_status}
    where account_id = ${account_id}
      and mode = ${mode}
      and id = ${id}
      and deleted_at is null
      and connection_status <> ${connection_status}
    returning *`
  return channel ?? null
}

export async function markConnectionTested(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  at: string,
): Promise<void> {
  await sql`
    update channels
    set connection_tested_at = ${at}
    where account_id = ${account_id} and mode = ${mode} and id = ${id} and deleted_at is null`
}

export async function countByConnectionStatus(
  sql: Db,
): Promise<{ type: string; connection_status: string; channels: number }[]> {
  return await sql<{ type: string; connection_status: string; channels: number }[]>`
    select type, connection_status, count(*)::int as channels
    from channels
    where status = 'active' and deleted_at is null
    group by type, connection_status`
}

export async function listDisconnected(sql: Db, after: string, rows_max: number): Promise<ChannelRow[]> {
  return await sql<ChannelRow[]>`
    select *
    from channels
    where connection_status = 'disconnected' and status = 'active' and deleted_at is null and id > ${after}
    order by id
    limit ${rows_max}`
}

export async function listDeletedSince(sql: Db, since: string): Promise<DeletedChannel[]> {
  return await sql<
    DeletedChannel[]
  >`select account_id, id as channel_id from channels where deleted_at >= ${since} order by id`
}

/** False if there is none. */
export async function lockAgainstDeletion(sql: Db, { account_id, mode }: Tenant, id: string): Promise<boolean> {
  const rows = await sql`
      select 1
      from channels
      where account_id = ${account_id} and mode = ${mode} and id = ${id} and deleted_at is null
      for share`
  return rows.length > 0
}

export async function deleteChannel(sql: Db, { account_id, mode }: Tenant, id: string, at: string): Promise<boolean> {
  await sql`
    delete from channel_templates where account_id = ${account_id} and mode = ${mode} and channel_id = ${id}`
  const rows = await sql`
    update channels set deleted_at = ${at}, credentials = ''
    where account_id = ${account_id} and mode = ${mode} and id = ${id} and deleted_at is null
    returning id`
  return rows.length > 0
}

type SealedChannel = Readonly<Pick<ChannelRow, 'id' | 'credentials'>>

export async function listSealed(sql: Db, after: string, rows_max: number): Promise<SealedChannel[]> {
  return await sql<SealedChannel[]>`
    select id, credentials
    from channels
    where id > ${after} and deleted_at is null and credentials <> ''
    order by id
    limit ${rows_max}`
}

export async function reseal(sql: Db, old: SealedChannel, { id, credentials }: SealedChannel): Promise<void> {
  await sql`
    update channels set credentials = ${credentials} where id = ${id} and credentials = ${old.credentials}`
}
