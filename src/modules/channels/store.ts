/** SQL of channels. Sandbox channels are not rows. */
import type { Tenant } from '../../api/caller.ts'
import type { ChannelType } from '../../api/resources/channel.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { Db } from '../../platform/database/sql.ts'

export interface ChannelRow {
  account_id: string
  mode: 'live' | 'test'
  id: string
  type: ChannelType
  provider: string
  name: string
  identifier: string
  status: 'pending' | 'active' | 'suspended' | 'disabled'
  connection_status: 'connecting' | 'connected' | 'disconnected'
  capabilities: readonly string[]
  settings: Record<string, unknown>
  /** Sealed; opened by the service alone. */
  credentials: string
  deleted_at: string | null
  /** When somebody last had its link tried, or gave it other credentials, and it stood; null: never since it was connected. */
  link_tried_at: string | null
  created_at: string
}

/** Names a channel that is gone. */
export interface DeletedChannel {
  readonly account_id: string
  readonly channel_id: string
}

export async function insertChannel(
  sql: Db,
  row: Omit<ChannelRow, 'deleted_at' | 'link_tried_at'>,
): Promise<ChannelRow> {
  const [channel] = await sql<ChannelRow[]>`
    insert into channels (account_id, mode, id, type, provider, name, identifier, status, connection_status, capabilities, settings, credentials, created_at)
    values (${row.account_id}, ${row.mode}, ${row.id}, ${row.type}, ${row.provider}, ${row.name}, ${row.identifier}, ${row.status}, ${row.connection_status},
      ${[...row.capabilities]}::text[], ${JSON.stringify(row.settings)}::text::json, ${row.credentials}, ${row.created_at})
    returning *`
  return channel!
}

export async function findChannel(sql: Db, { account_id, mode }: Tenant, id: string): Promise<ChannelRow | null> {
  const [channel] = await sql<ChannelRow[]>`
    select * from channels where account_id = ${account_id} and mode = ${mode} and id = ${id} and deleted_at is null`
  return channel ?? null
}

/** A channel by its id alone: for providers' callbacks, which know no tenant. */
export async function findAnyChannel(sql: Db, id: string): Promise<ChannelRow | null> {
  const [channel] = await sql<ChannelRow[]>`select * from channels where id = ${id} and deleted_at is null`
  return channel ?? null
}

/** A page of channels, newest first, with one row more than asked. */
export async function listChannels(sql: Db, { account_id, mode }: Tenant, page: Page): Promise<ChannelRow[]> {
  return await sql<ChannelRow[]>`
    select * from channels
    where account_id = ${account_id} and mode = ${mode} and deleted_at is null
      ${page.starting_after === undefined ? sql`` : sql`and id < ${page.starting_after}`}
    order by id desc limit ${page.limit + 1}`
}

/** The ids of a tenant's channels of this type, the newest first. */
export async function listIdsOfType(
  sql: Db,
  { account_id, mode }: Tenant,
  type: string,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from channels where account_id = ${account_id} and mode = ${mode} and type = ${type} and deleted_at is null order by id desc limit ${limit}`
  return rows.map(({ id }) => id)
}

/** True for the id of any channel that this tenant has or had: a cursor stays good after a delete. */
export async function channelExisted(sql: Db, { account_id, mode }: Tenant, id: string): Promise<boolean> {
  const rows = await sql`select 1 from channels where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return rows.length > 0
}

/** The channel of this provider that has one of these identifiers; null where the tenant has none. */
export async function findByIdentifier(
  sql: Db,
  { account_id, mode, type, provider }: Pick<ChannelRow, 'account_id' | 'mode' | 'type' | 'provider'>,
  identifiers: readonly string[],
): Promise<ChannelRow | null> {
  const [channel] = await sql<ChannelRow[]>`
    select * from channels
    where account_id = ${account_id} and mode = ${mode} and type = ${type} and identifier = any(${[...identifiers]}::text[]) and provider = ${provider} and deleted_at is null
    order by id limit 1`
  return channel ?? null
}

/** The tenant's channels of this provider, by id. */
export async function listOfProvider(
  sql: Db,
  { account_id, mode, type, provider }: Pick<ChannelRow, 'account_id' | 'mode' | 'type' | 'provider'>,
): Promise<ChannelRow[]> {
  return await sql<ChannelRow[]>`
    select * from channels where account_id = ${account_id} and mode = ${mode} and type = ${type} and provider = ${provider} and deleted_at is null order by id`
}

/** The channel that has this sender connected, of whichever account of the installation; null where none has. */
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
  /** Sealed; they were tried at `link_tried_at`. */
  credentials?: string
  link_tried_at?: string
}

/** Changes what is given; null when the channel is gone. */
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
      settings = coalesce(${change.settings === undefined ? null : JSON.stringify(change.settings)}::text::json, settings),
      capabilities = coalesce(${change.capabilities === undefined ? null : [...change.capabilities]}::text[], capabilities),
      credentials = coalesce(${change.credentials ?? null}, credentials),
      link_tried_at = coalesce(${change.link_tried_at ?? null}, link_tried_at)
    where account_id = ${account_id} and mode = ${mode} and id = ${id} and deleted_at is null
    returning *`
  return channel ?? null
}

/** Writes a link that has changed; null where it had not, and where the channel is gone. */
export async function changeConnection(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  connection_status: ChannelRow['connection_status'],
): Promise<ChannelRow | null> {
  const [channel] = await sql<ChannelRow[]>`
    update channels set connection_status = ${connection_status}
    where account_id = ${account_id} and mode = ${mode} and id = ${id} and deleted_at is null and connection_status <> ${connection_status}
    returning *`
  return channel ?? null
}

/** Notes that somebody had the channel's link tried, and that it stood. */
export async function markLinkTried(sql: Db, { account_id, mode }: Tenant, id: string, at: string): Promise<void> {
  await sql`update channels set link_tried_at = ${at} where account_id = ${account_id} and mode = ${mode} and id = ${id} and deleted_at is null`
}

/** How many active channels of all accounts there are, by their link. */
export async function countLinks(sql: Db): Promise<{ type: string; connection_status: string; channels: number }[]> {
  return await sql<{ type: string; connection_status: string; channels: number }[]>`
    select type, connection_status, count(*)::int as channels from channels where status = 'active' and deleted_at is null group by type, connection_status`
}

/** A page of channels without their link, of all accounts, by id behind `after`. */
export async function listDisconnected(sql: Db, after: string, rows_max: number): Promise<ChannelRow[]> {
  return await sql<ChannelRow[]>`
    select * from channels where connection_status = 'disconnected' and status = 'active' and deleted_at is null and id > ${after} order by id limit ${rows_max}`
}

/** The channels of all accounts that were deleted at this time or later. */
export async function listDeletedSince(sql: Db, since: string): Promise<DeletedChannel[]> {
  return await sql<
    DeletedChannel[]
  >`select account_id, id as channel_id from channels where deleted_at >= ${since} order by id`
}

/** Whether there is such a channel, which is not deleted until the transaction ends. */
export async function shareChannel(sql: Db, { account_id, mode }: Tenant, id: string): Promise<boolean> {
  const rows =
    await sql`select 1 from channels where account_id = ${account_id} and mode = ${mode} and id = ${id} and deleted_at is null for share`
  return rows.length > 0
}

export async function deleteChannel(sql: Db, { account_id, mode }: Tenant, id: string, at: string): Promise<boolean> {
  await sql`delete from channel_templates where account_id = ${account_id} and mode = ${mode} and channel_id = ${id}`
  const rows = await sql`
    update channels set deleted_at = ${at}, credentials = ''
    where account_id = ${account_id} and mode = ${mode} and id = ${id} and deleted_at is null
    returning id`
  return rows.length > 0
}
