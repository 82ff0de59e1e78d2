/** SQL of the event feed: in commit order, up to the horizon below which nothing can appear any more. */
import type { Tenant } from '../../../api/caller.ts'
import type { EventRow } from '../../../platform/events/outbox.ts'
import { jsonRows, type Db } from '../../../platform/database/sql.ts'

export interface FeedFilter {
  /** Undefined: every type. */
  readonly types?: readonly string[] | undefined
  readonly object_id?: string | undefined
  readonly created_after?: string | undefined
  readonly created_before?: string | undefined
  /** Ids of events made well before `created_after` lie below, of those made well after `created_before` above. */
  readonly id_from?: string | undefined
  readonly id_to?: string | undefined
}

export interface FeedPage {
  readonly order: 'asc' | 'desc'
  readonly limit: number
  /** Exclusive; undefined: from the end that comes first. */
  readonly after?: { readonly position: string; readonly id: string } | undefined
}

/** Types of which there are most; the others have an index of their own, whose predicate this repeats. */
const commonTypes: readonly string[] = ['message.sent', 'message.delivered', 'message.read']

/**
 * Up to `limit + 1` events. Neither order shows what lies at or above the horizon, so that a cursor of one is good for the other. The horizon is a sub-select: one for all rows.
 * Positions are not in the order of ids where transactions overlap, so what is created after a time is looked for from the last event well before it, not from the first one behind.
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
    order by ${ascending ? sql`position, id` : sql`position desc, id desc`} limit ${page.limit + 1}`
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

/** The events of these ids; each account's and mode's own. */
export async function readEvents(
  sql: Db,
  wanted: readonly { readonly account_id: string; readonly mode: string; readonly id: string }[],
): Promise<EventRow[]> {
  return await sql<EventRow[]>`
    select id, mode, type, created_at, object from webhook_events(${jsonRows(wanted.map(({ account_id, mode, id }) => ({ account_id, mode, id })))}::text::json)`
}
