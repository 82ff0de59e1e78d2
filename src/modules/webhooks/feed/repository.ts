/** SQL of the event feed: in commit order, up to the horizon below which no event can appear any more. */
import type { Tenant } from '../../../api/caller.ts'
import type { EventRow } from '../../../platform/events/outbox.ts'
import { jsonRows, type Db, textColumn } from '../../../platform/database/sql.ts'

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

/** The other types have an index whose predicate repeats this list. */
const commonTypes: readonly string[] = ['message.sent', 'message.delivered', 'message.read']

/**
 * The sub-select of the horizon is evaluated once. Positions of overlapping transactions are not in the order of ids,
 * so `created_after` starts from the last event well before it.
 */
export async function listEvents(
  sql: Db,
  { account_id, mode }: Tenant,
  filter: FeedFilter,
  page: FeedPage,
): Promise<EventRow[]> {
  const { types, object_id, created_after, created_before, id_from, id_to } = filter
  const rare = types !== undefined && types.every((type) => !commonTypes.includes(type))
  const ascending = page.order === 'asc'
  return await sql<EventRow[]>`
    select id, mode, type, created_at, object from events
    where account_id = ${account_id} and mode = ${mode} and position < (select feed_horizon())
      ${page.after === undefined ? sql`` : ascending ? sql`and (position, id) > (${page.after.position}::text::bigint, ${page.after.id})` : sql`and (position, id) < (${page.after.position}::text::bigint, ${page.after.id})`}
      ${types === undefined ? sql`` : sql`and type = any(${[...types]}::text[])`}
      ${rare ? sql`and type not in ('message.sent', 'message.delivered', 'message.read')` : sql``}
      ${object_id === undefined ? sql`` : sql`and object_id = ${object_id}`}
      ${created_after === undefined ? sql`` : sql`and created_at > ${created_after}`}
      ${created_before === undefined ? sql`` : sql`and created_at < ${created_before}`}
      ${
        id_from === undefined
          ? sql``
          : sql`and id >= ${id_from} and position >= coalesce((
        select e.position from events e where e.account_id = ${account_id} and e.mode = ${mode} and e.id < ${id_from} order by e.id desc limit 1), 0)`
      }
      ${id_to === undefined ? sql`` : sql`and id < ${id_to}`}
    order by ${ascending ? sql`position, id` : sql`position desc, id desc`}
    limit ${page.limit + 1}`
}

export async function findPosition(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
): Promise<{ position: string; id: string } | null> {
  const [row] = await sql<{ position: string; id: string }[]>`
    select position::text, id from events where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return row ?? null
}

export async function readEvents(
  sql: Db,
  wanted: readonly { readonly account_id: string; readonly mode: string; readonly id: string }[],
): Promise<EventRow[]> {
  return await sql<EventRow[]>`
    select id, mode, type, created_at, object
    from webhook_events(${jsonRows(wanted.map(({ account_id, mode, id }) => ({ account_id, mode, id })))}::text::json)`
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
