/** The outbox of events, ordered by `position`, then `id`, which is commit order (docs/decisions/feed-position.md). */
import type { Mode, Tenant } from '../../api/caller.ts'
import type { EventType } from '../../api/events.ts'
import { textColumn, type Db } from '../database/sql.ts'

export interface NewEvent extends Tenant {
  readonly id: `evt_${string}`
  readonly type: EventType
  readonly object_id: string
  readonly object: object
  readonly created_at: string
  readonly endpoint_id?: string
}

export interface EventRow {
  readonly id: string
  readonly mode: Mode
  readonly type: string
  readonly created_at: string
  readonly object: string
}

export async function recordEvents(sql: Db, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const column = (of: (event: NewEvent) => string | null) => sql`unnest(text_column(${textColumn(events.map(of))}))`
  await eventsFrom(
    sql,
    sql`
      select ${column((event) => event.account_id)} as account_id, ${column((event) => event.mode)} as mode,
        ${column((event) => event.id)} as id, ${column((event) => event.type)} as type,
        ${column((event) => event.object_id)} as object_id, ${column((event) => JSON.stringify(event.object))} as object,
        ${column((event) => event.endpoint_id ?? null)} as endpoint_id, ${column((event) => event.created_at)} as created_at`,
  )
}

/** `source` selects the columns below; `object` is JSON text. `feed_position()` runs once, not per row. */
export const eventsFrom = (sql: Db, source: ReturnType<Db>) => sql`
  insert into events (account_id, mode, id, type, object_id, object, endpoint_id, created_at, position)
  select account_id, mode, id, type, object_id, object, endpoint_id, created_at::timestamptz, (select feed_position())
  from (${source}) e`

export interface EventOfObject {
  readonly id: string
  readonly type: string
  readonly created_at: string
}

/** Oldest first, at most a hundred that have not expired. */
export async function eventsOf(sql: Db, { account_id, mode }: Tenant, object_id: string): Promise<EventOfObject[]> {
  return await sql<EventOfObject[]>`
    select id, type, created_at
    from events
    where account_id = ${account_id} and mode = ${mode} and object_id = ${object_id}
    order by position, id
    limit 100`
}

/** By `like` pattern, as `object type`. */
export async function repeatedEvents(sql: Db, types: string, most: number): Promise<{ id: string }[]> {
  return await sql<{ id: string }[]>`
    select object_id || ' ' || type as id
    from events
    where type like ${types}
    group by account_id, mode, object_id, type
    having count(*) > 1
    limit ${most}`
}
