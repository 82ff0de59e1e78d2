/** Events, written in the transaction of what they tell. Readers see them in commit order: `position`, then `id` (architecture: the hot path). */
import type { Tenant } from '../contract/caller.ts'
import type { EventType } from '../contract/events.ts'
import { lines, type Db } from './database/sql.ts'

export interface NewEvent extends Tenant {
  readonly id: `evt_${string}`
  readonly type: EventType
  /** The id of `object`: what `object_id` filters by. */
  readonly object_id: string
  /** The resource as it is at this moment: `data.object`. */
  readonly object: object
  /** ISO 8601. */
  readonly created_at: string
  /** For `webhook.test`: the only endpoint that gets it. */
  readonly endpoint_id?: string
}

/** Records events inside the caller's transaction. */
export async function recordEvents(sql: Db, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const column = (of: (event: NewEvent) => string | null): string => lines(events.map(of))
  // the position as a sub-select: asked once, not for every row
  await sql`
    insert into events (account_id, mode, id, type, object_id, object, endpoint_id, created_at, position)
    select account_id, mode, id, type, object_id, object::json, endpoint_id, created_at::timestamptz, (select feed_position())
    from unnest(
      split_lines(${column((event) => event.account_id)}), split_lines(${column((event) => event.mode)}), split_lines(${column((event) => event.id)}),
      split_lines(${column((event) => event.type)}), split_lines(${column((event) => event.object_id)}), split_lines(${column((event) => JSON.stringify(event.object))}),
      split_lines(${column((event) => event.endpoint_id ?? null)}), split_lines(${column((event) => event.created_at)})
    ) as t(account_id, mode, id, type, object_id, object, endpoint_id, created_at)`
}
