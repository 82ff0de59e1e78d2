/** SQL of sessions: which process holds the session of which channel, and until when. Works across tenants. */
import type { Db } from '../../platform/database/sql.ts'
import { isAlive } from '../../platform/processes-store.ts'
import type { ChannelRow } from './store.ts'

/** The moment of a look, and since when a process must have been heard of to be alive; ISO 8601. */
export interface SessionLook {
  readonly process_id: string
  readonly at: string
  readonly alive_since: string
}

const isHeld = (sql: Db, { at, alive_since }: Omit<SessionLook, 'process_id'>) => sql`s.lease_until > ${at} and ${isAlive(sql, sql`s.process_id`, alive_since)}`

/** Active channels of these providers whose session no living process holds, by id, behind `after`. */
export async function listUnheld(sql: Db, providers: readonly string[], look: SessionLook, after: string, rows_max: number): Promise<ChannelRow[]> {
  if (providers.length === 0) return []
  return await sql<ChannelRow[]>`
    select c.* from channels c
    where c.provider = any(${[...providers]}::text[]) and c.status = 'active' and c.deleted_at is null and c.id > ${after}
      and not exists (select from channel_sessions s where s.channel_id = c.id and ${isHeld(sql, look)})
    order by c.id limit ${rows_max}`
}

/** Whether a living process holds the session of this channel. */
export async function isSessionHeld(sql: Db, channel_id: string, look: Omit<SessionLook, 'process_id'>): Promise<boolean> {
  const rows = await sql`select 1 from channel_sessions s where s.channel_id = ${channel_id} and ${isHeld(sql, look)}`
  return rows.length > 0
}

/** How many sessions living processes hold, and how many processes work. */
export async function countSessions(sql: Db, look: SessionLook): Promise<{ held: number; workers: number }> {
  const [row] = await sql<{ held: number; workers: number }[]>`
    select (select count(*) from channel_sessions s where ${isHeld(sql, look)}) as held,
      (select count(*) from processes where beat_at > ${look.alive_since} and 'worker' = any(roles)) as workers`
  return row!
}

/** Takes the sessions of these channels, or goes on holding them, until `lease_until`; resolves to those that this process holds. */
export async function leaseSessions(sql: Db, channel_ids: readonly string[], look: SessionLook, lease_until: string): Promise<Set<string>> {
  if (channel_ids.length === 0) return new Set()
  const rows = await sql<{ channel_id: string }[]>`
    insert into channel_sessions as s (channel_id, process_id, lease_until)
    select channel_id, ${look.process_id}, ${lease_until} from unnest(${[...channel_ids].toSorted()}::text[]) as c(channel_id)
    on conflict (channel_id) do update set process_id = excluded.process_id, lease_until = excluded.lease_until
      where s.process_id = excluded.process_id or not (${isHeld(sql, look)})
    returning channel_id`
  return new Set(rows.map(({ channel_id }) => channel_id))
}

/** Those of these channels that are active, as they stand. */
export async function listActive(sql: Db, channel_ids: readonly string[]): Promise<ChannelRow[]> {
  if (channel_ids.length === 0) return []
  return await sql<ChannelRow[]>`select * from channels where id = any(${[...channel_ids]}::text[]) and status = 'active' and deleted_at is null`
}

/** Gives up the sessions of these channels, where this process holds them. */
export async function releaseSessions(sql: Db, channel_ids: readonly string[], process_id: string): Promise<void> {
  if (channel_ids.length === 0) return
  await sql`delete from channel_sessions where process_id = ${process_id} and channel_id = any(${[...channel_ids]}::text[])`
}
