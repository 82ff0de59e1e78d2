/** SQL for whoever follows the feeds of several accounts at once, each from a place of its own. */
import type { Tenant } from '../../../api/caller.ts'
import { textColumn, type Db } from '../../../platform/database/sql.ts'

/** A place in the feed: everything up to this event has been seen. */
export interface FeedPlace {
  readonly position: string
  readonly id: string
}

export interface FollowedEvent extends FeedPlace {
  readonly type: string
  readonly object_id: string
}

/** An id that comes after those of all events. */
const afterAll = 'evt_~'

/** The end of a feed, and the id of the last event before it; null where there is none. */
export async function findEnd(
  sql: Db,
  { account_id, mode }: Tenant,
): Promise<{ place: FeedPlace; last_id: string | null }> {
  const [row] = await sql<{ position: string; last_id: string | null }[]>`
    select (h.horizon - 1)::text as position,
      (select id from events where account_id = ${account_id} and mode = ${mode} and position < h.horizon order by position desc, id desc limit 1) as last_id
    from (select feed_horizon() as horizon) h`
  return { place: { position: row!.position, id: afterAll }, last_id: row!.last_id }
}

/** What lies behind each of these places, in the order of the feeds: an array for each, with at most `limit` events. */
export async function listFollowing(
  sql: Db,
  after: readonly (Tenant & FeedPlace)[],
  limit: number,
): Promise<FollowedEvent[][]> {
  const column = (of: (one: Tenant & FeedPlace) => string) => textColumn(after.map(of))
  const rows = await sql<(FollowedEvent & { projection: number })[]>`
    select p.projection, e.id, e.type, e.object_id, e.position::text as position
    from (
      select generate_series(0, ${after.length - 1}::int) as projection, unnest(text_column(${column(({ account_id }) => account_id)})) as account_id,
        unnest(text_column(${column(({ mode }) => mode)})) as mode, unnest(text_column(${column(({ position }) => position)}))::bigint as position,
        unnest(text_column(${column(({ id }) => id)})) as id
    ) p
    cross join lateral (
      select id, type, object_id, position from events f
      where f.account_id = p.account_id and f.mode = p.mode and (f.position, f.id) > (p.position, p.id) and f.position < (select feed_horizon())
      order by f.position, f.id limit ${limit}
    ) e
    order by p.projection, e.position, e.id`
  const found = Map.groupBy(rows, ({ projection }) => projection)
  return after.map((_, projection) => found.get(projection) ?? [])
}
