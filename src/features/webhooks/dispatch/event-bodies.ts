/** The bodies of events on their way, built once for all endpoints that get them; bounded. */
import { eventBody } from '../present.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { FreshEvents } from '../../../platform/fresh-events.ts'
import { readEvents } from '../feed/store.ts'
import type { DueRow } from './queue-store.ts'

type Wanted = Pick<DueRow, 'account_id' | 'mode' | 'event_id' | 'event_type'>

export interface EventBodies {
  /** Reads those that are not in memory; resolves to the rows whose event is no longer kept. */
  load<R extends Wanted>(rows: readonly R[]): Promise<R[]>
  get(event_id: string): Buffer | undefined
}

const bodiesMax = 4_000

export function eventBodies(sql: Db, fresh: FreshEvents): EventBodies {
  const bodies = new Map<string, Buffer>()
  return {
    get: (event_id) => bodies.get(event_id),
    async load(rows) {
      // those read longest ago go first; one that is still needed is read again
      for (const id of bodies.keys()) {
        if (bodies.size <= bodiesMax) break
        bodies.delete(id)
      }
      const missing = new Map<string, { account_id: string; mode: string; id: string }>()
      for (const { event_id, event_type, account_id, mode } of rows) {
        if (bodies.has(event_id) || missing.has(event_id)) continue
        const event = fresh.take(event_id, event_type)
        if (event === undefined) missing.set(event_id, { account_id, mode, id: event_id })
        else bodies.set(event_id, Buffer.from(eventBody(event)))
      }
      if (missing.size === 0) return []
      for (const event of await readEvents(sql, [...missing.values()])) bodies.set(event.id, Buffer.from(eventBody(event)))
      return rows.filter((row) => missing.has(row.event_id) && !bodies.has(row.event_id))
    },
  }
}
