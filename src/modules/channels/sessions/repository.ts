/** SQL of session leases, across tenants. */
import type { Db } from '../../../platform/database/sql.ts'
import type { ChannelRow } from '../channel.ts'

/** Heartbeats do not matter: a process with a late heartbeat still renews its leases. */
const isLeased = (sql: Db, at: string) => sql`s.lease_until > ${at}`

export async function listUnleased(
  sql: Db,
  providers: readonly string[],
  at: string,
  after: string,
  rows_max: number,
): Promise<ChannelRow[]> {
  if (providers.length === 0) return []
  return await sql<ChannelRow[]>`
    select c.* from channels c
    where c.provider = any(${[...providers]}::text[])
      and c.status = 'active'
      and c.deleted_at is null
      and c.id > ${after}
      and not exists (select from channel_sessions s where s.channel_id = c.id and ${isLeased(sql, at)})
    order by c.id limit ${rows_max}`
}

export async function isSessionLeased(sql: Db, channel_id: string, at: string): Promise<boolean> {
  const rows = await sql`
    select 1 from channel_sessions s where s.channel_id = ${channel_id} and ${isLeased(sql, at)}`
  return rows.length > 0
}

export async function isSessionOpen(sql: Db, channel_id: string, at: string): Promise<boolean> {
  const rows = await sql`
      select 1 from channel_sessions s where s.channel_id = ${channel_id} and s.is_open and ${isLeased(sql, at)}`
  return rows.length > 0
}

export async function writeOpen(
  sql: Db,
  channel_ids: readonly string[],
  is_open: boolean,
  process_id: string,
): Promise<void> {
  if (channel_ids.length === 0) return
  await sql`
    update channel_sessions
    set is_open = ${is_open}
    where channel_id = any(${[...channel_ids]}::text[]) and process_id = ${process_id}`
}

/** `workers`: processes with a heartbeat since `alive_since`. */
export async function countSessions(
  sql: Db,
  at: string,
  alive_since: string,
): Promise<{ leased: number; workers: number }> {
  const [row] = await sql<{ leased: number; workers: number }[]>`
    select (select count(*) from channel_sessions s where ${isLeased(sql, at)}) as leased,
      (
        select count(*) from processes where heartbeat_at > ${alive_since} and 'worker' = any(roles))
        as workers`
  return row!
}

/**
 * Acquires leases (`acquired`) and renews others (`renewed`). Resolves to the channels whose leases this process has.
 */
export async function leaseSessions(
  sql: Db,
  { renewed, acquired }: { readonly renewed: readonly string[]; readonly acquired: readonly string[] },
  process_id: string,
  { at, lease_until }: { readonly at: string; readonly lease_until: string },
): Promise<Set<string>> {
  const channel_ids = [...renewed, ...acquired]
  if (channel_ids.length === 0) return new Set()
  const rows = await sql<{ channel_id: string }[]>`
    insert into channel_sessions as s (channel_id, process_id, lease_until)
    select channel_id, ${process_id}, ${lease_until}
    from unnest(${channel_ids.toSorted()}::text[]) as c(channel_id)
    on conflict (channel_id) do update
      set process_id = excluded.process_id, lease_until = excluded.lease_until, is_open = s.is_open
      and s.process_id = excluded.process_id
      and s.channel_id <> all(${[...acquired]}::text[])
      where s.process_id = excluded.process_id or not (${isLeased(sql, at)})
    returning channel_id`
  return new Set(rows.map(({ channel_id }) => channel_id))
}

export async function listActive(sql: Db, channel_ids: readonly string[]): Promise<ChannelRow[]> {
  if (channel_ids.length === 0) return []
  return await sql<ChannelRow[]>`
    select *
    from channels
    where id = any(${[...channel_ids]}::text[]) and status = 'active' and deleted_at is null`
}

export async function releaseSessions(sql: Db, channel_ids: readonly string[], process_id: string): Promise<void> {
  if (channel_ids.length === 0) return
  await sql`
    delete from channel_sessions
    where process_id = ${process_id} and channel_id = any(${[...channel_ids]}::text[])`
}
