/** A bounded cache of event bodies, built once for all endpoints. */
import { eventBody } from '../feed/event.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { EventRow } from '../../../platform/events/outbox.ts'
import type { RecentEvents } from '../../../platform/events/recent-events.ts'
import { readEvents } from '../feed/repository.ts'
import type { DueRow } from './repository.ts'

type Wanted = Pick<DueRow, 'account_id' | 'mode' | 'event_id' | 'event_type'>

export interface EventBodies {
  /** Up to the bound. Resolves to the rows whose event is no longer stored. */
  load<R extends Wanted>(rows: readonly R[]): Promise<R[]>
  get(event_id: string): Buffer | undefined
}

/** An event may be a megabyte: bodies beyond the bound are read when needed. */
const usualBounds = { bodies_max: 4_000, bytes_max: 64 * 1024 * 1024 }

export function eventBodies(sql: Db, recent: RecentEvents, { bodies_max, bytes_max } = usualBounds): EventBodies {
  const bodies = new Map<string, Buffer>()
  let bytes = 0
  const keep = (event: EventRow): void => {
    const body = Buffer.from(eventBody(event))
    bytes += body.length - (bodies.get(event.id)?.length ?? 0)
    bodies.set(event.id, body)
  }
  return {
    get: (event_id) => bodies.get(event_id),
    async load(rows) {
      // evict the oldest; one that is still needed is read again
      for (const [id, body] of bodies) {
        if (bodies.size <= bodies_max && bytes <= bytes_max / 2) break
        bodies.delete(id)
        bytes -= body.length
      }
      const missing = new Map<string, { account_id: string; mode: string; id: string }>()
      for (const { event_id, event_type, account_id, mode } of rows) {
        if (bodies.has(event_id) || missing.has(event_id)) continue
        const event = bytes < bytes_max ? recent.take(event_id, event_type) : undefined
        if (event === undefined) missing.set(event_id, { account_id, mode, id: event_id })
        else keep(event)
      }
      const gone = new Set<string>()
      if (bytes < bytes_max)
        for await (const part of readEvents(sql, [...missing.values()])) {
          for (const event of part.events) keep(event)
          for (const id of part.gone) gone.add(id)
          if (bytes >= bytes_max) break
        }
      return rows.filter((row) => gone.has(row.event_id))
    },
  }
}
