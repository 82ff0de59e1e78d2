/** SQL of the event feed: in commit order, up to the horizon below which no event can appear any more. */
import type { Tenant } from '../../../api/caller.ts'
import { limits } from '../../../api/limits.ts'
import type { EventRow } from '../../../platform/events/outbox.ts'
import { jsonRows, type Db, type Fragment, textColumn, withinBytes } from '../../../platform/database/sql.ts'

export interface FeedFilter {
  readonly types?: readonly string[] | undefined
  readonly object_id?: string | undefined
  readonly created_after?: string | undefined
  readonly created_before?: string | undefined
  /** For `created_after` and `created_before`, with slack. */
  readonly id_from?: string | undefined
  readonly id_to?: string | undefined
}

export interface FeedPage {
  readonly order: 'asc' | 'desc'
  readonly limit: number
  /** Exclusive; undefined: from the start of the order. */
  readonly after?: { readonly position: string; readonly id: string } | undefined
}

/**
 * Up to `limit + 1` events below the horizon, a sub-select that is evaluated once. A feed may be long and its matches
 * rare, so only the index that begins with the filters may answer, also before the table has statistics: filters are
 * written as `= any` and lead the order, and the account of an object is checked behind `offset 0`.
 */
export async function listEvents(sql: Db, tenant: Tenant, filter: FeedFilter, page: FeedPage): Promise<EventRow[]> {
  const { account_id, mode } = tenant
  const { types, object_id } = filter
  const direction = page.order === 'asc' ? sql`asc` : sql`desc`
  const inOrder = sql`position ${direction}, id ${direction}`
  const limit = sql`limit ${page.limit + 1}`
  const ranges = rangesOf(sql, tenant, filter, page)
  if (object_id !== undefined)
    return await sql<EventRow[]>`
      select id, mode, type, created_at, object
      from (
        select account_id, mode, id, type, created_at, object, object_id, position
        from events
        where object_id = any(array[${object_id}]) and ${ranges}
        order by object_id ${direction}, ${inOrder}
        offset 0
      ) e
      where account_id = ${account_id}
        and mode = ${mode}
        ${types === undefined ? sql`` : sql`and type = any(${[...types]}::text[])`}
      order by object_id ${direction}, ${inOrder}
      ${limit}`
  // objects may be large: only those of the page are read
  if (types !== undefined)
    return await sql<EventRow[]>`
      select e.id, e.mode, e.type, e.created_at, e.object
      from (
        select id, position
        from unnest(${[...types]}::text[]) as t(type)
        cross join lateral (
          select id, position
          from events
          where account_id = ${account_id}
            and mode = ${mode}
            and type = any(array[t.type])
            and ${ranges}
          order by type ${direction}, ${inOrder}
          ${limit}
        ) k
        order by ${inOrder}
        ${limit}
      ) p
      cross join lateral (
        select id, mode, type, created_at, object
        from events
        where account_id = ${account_id} and mode = ${mode} and id = p.id
        limit 1
      ) e
      order by p.position ${direction}, p.id ${direction}`
  return await sql<EventRow[]>`
    select id, mode, type, created_at, object
    from events
    where account_id = ${account_id}
      and mode = ${mode}
      and ${ranges}
    order by ${inOrder}
    ${limit}`
}

/**
 * Where transactions overlap, positions are not in the order of ids, so a time starts from the last event well before
 * it, and ends at the first event well after it.
 */
function rangesOf(sql: Db, { account_id, mode }: Tenant, filter: FeedFilter, { order, after }: FeedPage): Fragment {
  const { created_after, created_before, id_from, id_to } = filter
  const comparison = order === 'asc' ? sql`>` : sql`<`
  const edge = (condition: Fragment, direction: Fragment) => sql`
    select e.position
    from events e
    where e.account_id = ${account_id} and e.mode = ${mode} and e.id ${condition}
    order by e.id ${direction}
    limit 1`
  return sql`
    position < (select feed_horizon())
      ${after === undefined ? sql`` : sql`and (position, id) ${comparison} (${after.position}::text::bigint, ${after.id})`}
      ${created_after === undefined ? sql`` : sql`and created_at > ${created_after}`}
      ${created_before === undefined ? sql`` : sql`and created_at < ${created_before}`}
      ${id_from === undefined ? sql`` : sql`and id >= ${id_from} and position >= coalesce((${edge(sql`< ${id_from}`, sql`desc`)}), 0)`}
      ${id_to === undefined ? sql`` : sql`and id < ${id_to} and position <= coalesce((${edge(sql`>= ${id_to}`, sql`asc`)}), ${maxPosition}::text::bigint)`}`
}

/** Of a bigint. */
const maxPosition = '9223372036854775807'

export async function findPosition(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
): Promise<{ position: string; id: string } | null> {
  const [row] = await sql<{ position: string; id: string }[]>`
    select position::text, id from events where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return row ?? null
}

export interface EventKey {
  readonly account_id: string
  readonly mode: string
  readonly id: string
}

/** Of stored events, in the order of `wanted` ids. */
export interface EventPart {
  readonly events: readonly EventRow[]
  /** Ids of events that are not stored any more. */
  readonly gone: readonly string[]
}

const eventsAtOnce = 100

/** Reads events in parts that are bounded in number and bytes: an event may be a megabyte. */
export async function* readEvents(sql: Db, wanted: readonly EventKey[]): AsyncGenerator<EventPart> {
  const bytes_max = limits.claim_bytes_max
  for (let left = [...wanted]; left.length > 0;) {
    const asked = left.slice(0, eventsAtOnce)
    const found = sql`
      select id, mode, type, created_at, object, octet_length(object) as bytes
      from webhook_events(${jsonRows(asked.map(({ account_id, mode, id }) => ({ account_id, mode, id })))}::text::json)`
    const rows = await sql<(EventRow & { bytes: number })[]>`${withinBytes(sql, found, { order: sql`id`, bytes_max })}`
    const read = new Set(rows.map(({ id }) => id))
    const others = asked.filter(({ id }) => !read.has(id))
    // over the bound, others may be stored
    const isCut = rows.reduce((sum, { bytes }) => sum + bytes, 0) >= bytes_max
    left = [...(isCut ? others : []), ...left.slice(eventsAtOnce)]
    yield {
      events: rows.map(({ id, mode, type, created_at, object }) => ({ id, mode, type, created_at, object })),
      gone: isCut ? [] : others.map(({ id }) => id),
    }
  }
}

/** Everything up to this event has been read. */
export interface FeedPlace {
  readonly position: string
  readonly id: string
}

export interface FollowedEvent extends FeedPlace {
  readonly type: string
  readonly object_id: string
}

const afterAll = 'evt_~'

/** `last_id`: null without an event. */
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

/** An array for each place. */
export async function listFollowing(
  sql: Db,
  after: readonly (Tenant & FeedPlace)[],
  limit: number,
): Promise<FollowedEvent[][]> {
  const column = (of: (one: Tenant & FeedPlace) => string) => textColumn(after.map(of))
  const rows = await sql<(FollowedEvent & { slot: number })[]>`
    select p.slot, e.id, e.type, e.object_id, e.position::text as position
    from (
      select generate_series(0, ${after.length - 1}::int) as slot,
        unnest(text_column(${column(({ account_id }) => account_id)})) as account_id,
        unnest(text_column(${column(({ mode }) => mode)})) as mode,
        unnest(text_column(${column(({ position }) => position)}))::bigint as position,
        unnest(text_column(${column(({ id }) => id)})) as id
    ) p
    cross join lateral (
      select id, type, object_id, position from events f
      where f.account_id = p.account_id
        and f.mode = p.mode
        and (f.position, f.id) > (p.position, p.id)
        and f.position < (select feed_horizon())
      order by f.position, f.id limit ${limit}
    ) e
    order by p.slot, e.position, e.id`
  const found = Map.groupBy(rows, ({ slot }) => slot)
  return after.map((_, slot) => found.get(slot) ?? [])
}
