/** Events, written in the transaction of what they tell. Readers see them in commit order: `position`, then `id` (docs/decisions/feed-position.md). */
import type { Mode, Tenant } from '../../api/caller.ts'
import type { EventType } from '../../api/events.ts'
import { textColumn, type Db } from '../database/sql.ts'

export interface NewEvent extends Tenant {
  readonly id: `evt_${string}`
  readonly type: EventType
  /** The id of `object`: what `object_id` filters by. */
  readonly object_id: string
  /** The resource as it is at this moment: `data.object`. */
  readonly object: object
  /** ISO 8601. */
  readonly created_at: string
  /** Of an event made to try one receiver: the only one that gets it. */
  readonly endpoint_id?: string
}

/** A row of `events`, with its object as the text that was stored. */
export interface EventRow {
  readonly id: string
  readonly mode: Mode
  readonly type: string
  readonly created_at: string
  readonly object: string
}

/** Records events inside the caller's transaction. */
export async function recordEvents(sql: Db, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const column = (of: (event: NewEvent) => string | null): string => textColumn(events.map(of))
  await eventsFrom(
    sql,
    sql`
      select unnest(text_column(${column((event) => event.account_id)})) as account_id, unnest(text_column(${column((event) => event.mode)})) as mode,
        unnest(text_column(${column((event) => event.id)})) as id, unnest(text_column(${column((event) => event.type)})) as type,
        unnest(text_column(${column((event) => event.object_id)})) as object_id, unnest(text_column(${column((event) => JSON.stringify(event.object))})) as object,
        unnest(text_column(${column((event) => event.endpoint_id ?? null)})) as endpoint_id, unnest(text_column(${column((event) => event.created_at)})) as created_at`,
  )
}

/**
 * The insert of events from a sub-select of account_id, mode, id, type, object_id, object (JSON as text), endpoint_id and created_at; for
 * statements that write the event with what it tells. The position is a sub-select: asked once, not for every row.
 */
export const eventsFrom = (sql: Db, source: ReturnType<Db>) => sql`
  insert into events (account_id, mode, id, type, object_id, object, endpoint_id, created_at, position)
  select account_id, mode, id, type, object_id, object, endpoint_id, created_at::timestamptz, (select feed_position()) from (${source}) e`

/** An event as it stands for a step of its object. */
export interface EventOfObject {
  readonly id: string
  readonly type: string
  /** ISO 8601. */
  readonly created_at: string
}

/** The events of an object that are still kept, oldest first, at most a hundred. */
export async function eventsOf(sql: Db, { account_id, mode }: Tenant, object_id: string): Promise<EventOfObject[]> {
  return await sql<EventOfObject[]>`
    select id, type, created_at from events
    where account_id = ${account_id} and mode = ${mode} and object_id = ${object_id}
    order by position, id limit 100`
}

/** For proofs: objects with two events of one of these types (a pattern of `like`), as `object type`; at most `most`. */
export const repeatedEvents = (sql: Db, types: string, most: number): Promise<{ id: string }[]> => sql<
  { id: string }[]
>`
  select object_id || ' ' || type as id from events where type like ${types} group by account_id, mode, object_id, type having count(*) > 1 limit ${most}`
