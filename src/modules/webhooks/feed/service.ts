/** The event feed, for polling and catching up (behaviour: webhooks 7). */
import type { Tenant } from '../../../api/caller.ts'
import { eventTypes } from '../../../api/events.ts'
import { isId } from '../../../api/ids.ts'
import { invalid, missing } from '../../../api/problem.ts'
import type { Event } from '../../../api/resources/event.ts'
import { idFloor, idTime } from '../../../lib/ids.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { wrongCursor, type Page } from '../../../platform/http/paging.ts'
import type { Platform } from '../../../platform/platform.ts'
import { findEvent } from '../delivery-repository.ts'
import { eventObject } from './event.ts'
import { findEnd, listFollowing, type FeedPlace, type FollowedEvent, findPosition, listEvents } from './repository.ts'

export type { FeedPlace, FollowedEvent }

export interface FeedQuery {
  readonly type?: string
  readonly object_id?: string
  readonly created_after?: string
  readonly created_before?: string
  readonly order?: 'asc' | 'desc'
}

export interface FeedService {
  /** Up to `limit + 1`. Problem: parameter_invalid. */
  list(sql: Db, tenant: Tenant, query: FeedQuery, page: Page): Promise<Event[]>
  get(sql: Db, tenant: Tenant, id: string): Promise<Event>
  end(sql: Db, tenant: Tenant): Promise<{ place: FeedPlace; last_id: string | null }>
  /** Null if the event is deleted or of another account. */
  placeOf(sql: Db, tenant: Tenant, id: string): Promise<FeedPlace | null>
  /** At most `limit` events after each place. */
  following(sql: Db, after: readonly (Tenant & FeedPlace)[], limit: number): Promise<FollowedEvent[][]>
}

/** An id and its `created_at` may be this far apart. */
const idSlackMs = 10 * 60_000

export function feedService(platform: Pick<Platform, 'clock' | 'settings'>): FeedService {
  return {
    async list(sql, tenant, query, page) {
      const types = query.type === undefined ? undefined : typesOf(query.type)
      const order = query.order ?? 'desc'
      const after = page.starting_after === undefined ? undefined : await cursorOf(sql, tenant, page.starting_after)
      // the whole feed follows a cursor older than the stored events; nothing precedes it
      if (after === 'past' && order === 'desc') return []
      const rows = await listEvents(
        sql,
        tenant,
        {
          types,
          object_id: query.object_id,
          created_after: query.created_after,
          created_before: query.created_before,
          id_from: bound(query.created_after, -idSlackMs),
          id_to: bound(query.created_before, idSlackMs),
        },
        { order, limit: page.limit, after: after === 'past' ? undefined : after },
      )
      return rows.map(eventObject)
    },
    async get(sql, tenant, id) {
      const row = isId('evt', id) ? await findEvent(sql, tenant, id) : null
      if (row === null) throw missing('event', id)
      return eventObject(row)
    },
    end: findEnd,
    placeOf: async (sql, tenant, id) => (isId('evt', id) ? await findPosition(sql, tenant, id) : null),
    following: listFollowing,
  }

  async function cursorOf(sql: Db, tenant: Tenant, cursor: string): Promise<{ position: string; id: string } | 'past'> {
    const found = isId('evt', cursor) ? await findPosition(sql, tenant, cursor) : null
    if (found !== null) return found
    if (isId('evt', cursor) && idTime(cursor) < platform.clock.now() - platform.settings.event_retention_ms)
      return 'past'
    throw wrongCursor('No event has the id')
  }
}

/** Undefined if ids cannot express the time. */
function bound(time: string | undefined, slack: number): string | undefined {
  const ms = time === undefined ? NaN : Date.parse(time) + slack
  return Number.isFinite(ms) && ms > 0 && ms < 2 ** 48 ? idFloor('evt', ms) : undefined
}

/** One type, or a prefix such as `message.*`. */
function typesOf(filter: string): string[] {
  const known = Object.keys(eventTypes)
  const types = filter.endsWith('.*')
    ? known.filter((type) => type.startsWith(filter.slice(0, -1)))
    : known.filter((type) => type === filter)
  if (types.length > 0) return types
  throw invalid(
    'type',
    'invalid_value',
    `\`type\` is not an event type. Known are ${known.join(', ')}, and prefixes such as message.*.`,
  )
}
