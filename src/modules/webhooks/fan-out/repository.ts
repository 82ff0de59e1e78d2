/** SQL of the fan-out, across tenants. */
import type { EndpointFilters } from '../../../api/resources/webhook-endpoint.ts'
import { textColumn, type Db } from '../../../platform/database/sql.ts'
import { kindOf, type FeedEvent, type NewDelivery, type Subscription } from './matching.ts'

export interface FanOutCursor {
  readonly position: string
  readonly id: string
}

export interface FeedSlice {
  readonly cursor: FanOutCursor
  readonly events: readonly FeedEvent[]
  /** More becomes final once a running transaction ends. */
  readonly blocked: boolean
}

interface SliceRow {
  at_position: string
  at_id: string
  blocked: boolean
  account_ids: string | null
  modes: string
  ids: string
  types: string
  positions: string
  times: string
}

export async function readFeedSlice(sql: Db, limit: number): Promise<FeedSlice> {
  const [row] = await sql<SliceRow[]>`
    select at_position, at_id, blocked, account_ids, modes, ids, types, positions, times
    from webhook_feed_slice(${limit})`
  const { at_position, at_id, blocked, account_ids } = row!
  return {
    cursor: { position: at_position, id: at_id },
    events: account_ids === null ? [] : eventsOf(account_ids.split('\n'), row!),
    blocked,
  }
}

function eventsOf(account_ids: readonly string[], row: SliceRow): FeedEvent[] {
  const [modes, ids, types, positions, times] = [row.modes, row.ids, row.types, row.positions, row.times].map(
    (column) => column.split('\n'),
  ) as [string[], string[], string[], string[], string[]]
  return account_ids.map((account_id, i) => {
    const [mode, type] = [modes[i]!, types[i]!]
    return {
      account_id,
      mode,
      id: ids[i]!,
      type,
      position: positions[i]!,
      created_at: times[i]!,
      kind: kindOf({ account_id, mode, type }),
    }
  })
}

export async function readSubscriptions(
  sql: Db,
  kinds: readonly Pick<FeedEvent, 'account_id' | 'mode' | 'type'>[],
): Promise<Map<string, Subscription[]>> {
  if (kinds.length === 0) return new Map()
  const rows = await sql<(Omit<Subscription, 'filters'> & { kind: number; filters: EndpointFilters | null })[]>`
    select k.kind, w.endpoint_id, w.filters, w.since_position::text as position, w.since_snapshot::text as snapshot, e.version
    from (
      select generate_series(0, ${kinds.length - 1}::int) as kind, unnest(text_column(${textColumn(kinds.map((kind) => kind.account_id))})) as account_id,
        unnest(text_column(${textColumn(kinds.map((kind) => kind.mode))})) as mode, unnest(text_column(${textColumn(kinds.map((kind) => kind.type))})) as event_type
    ) k
    -- two look-ups by the whole key: an endpoint that does not want the event is never looked at
    cross join lateral (
      select * from webhook_subscriptions s where s.account_id = k.account_id and s.mode = k.mode and s.event_type = k.event_type
      union all
      select * from webhook_subscriptions s where s.account_id = k.account_id and s.mode = k.mode and s.event_type = '*'
    ) w
    left join webhook_endpoints e on e.id = w.endpoint_id`
  return Map.groupBy(rows, (row) => kindOf(kinds[row.kind]!))
}

export interface FanOutStep {
  readonly from: FanOutCursor
  readonly to: FanOutCursor
  readonly at: string
  readonly endpoints: ReadonlyMap<string, number>
  readonly deliveries: readonly NewDelivery[]
}

export type StaleStep = 'endpoints' | 'feed'

/**
 * Null if written. Writes nothing if another process moved the cursor, an endpoint changed, or the last event is
 * missing after a failover. Commits without waiting for the disk.
 */
export async function commitFanOut(sql: Db, step: FanOutStep): Promise<StaleStep | null> {
  const { from, to, at, endpoints, deliveries } = step
  const column = (of: (delivery: NewDelivery) => string) => textColumn(deliveries.map(of))
  const [row] = await sql<{ moved: number; changed: boolean }[]>`
    with changed as materialized (
      select from (select unnest(text_column(${textColumn([...endpoints.keys()])})) as id, unnest(text_column(${textColumn([...endpoints.values()])}))::int as version) k
      join webhook_endpoints e on e.id = k.id where e.version <> k.version limit 1
    ), moved as (
      update webhook_fan_out set position = ${to.position}::text::bigint, id = ${to.id}
      where only_row and position = ${from.position}::text::bigint and id = ${from.id}
        and webhook_feed_has(${to.position}::text::bigint, ${to.id})
        and not exists (select from changed)
      returning set_config('synchronous_commit', 'off', true)
    ), queued as (
      insert into webhook_queue (endpoint_id, id, account_id, mode, event_id, event_type, next_run_at, created_at)
      select d.endpoint_id, d.id, d.account_id, d.mode, d.event_id, d.event_type, d.next_run_at::timestamptz, ${at}
      from (
        select unnest(text_column(${column((one) => one.endpoint_id)})) as endpoint_id, unnest(text_column(${column((one) => one.id)})) as id,
          unnest(text_column(${column((one) => one.account_id)})) as account_id, unnest(text_column(${column((one) => one.mode)})) as mode,
          unnest(text_column(${column((one) => one.event_id)})) as event_id, unnest(text_column(${column((one) => one.event_type)})) as event_type,
          unnest(text_column(${column((one) => one.next_run_at)})) as next_run_at
      ) d
      where exists (select 1 from moved)
      on conflict do nothing
    )
    select count(*)::int as moved, exists (select from changed) as changed from moved`
  if (row!.moved > 0) return null
  return row!.changed ? 'endpoints' : 'feed'
}

/** SQL expressions of columns exported with another value. */
export type MovedColumns = Readonly<Record<string, string>>

export async function movedColumns(sql: Db): Promise<Readonly<Record<string, MovedColumns>>> {
  const [cursor] = await sql<{ position: string; id: string }[]>`
    select position::text as position, id from webhook_fan_out`
  const { position, id } = cursor ?? { position: '0', id: '' }
  return {
    // events that were fanned out here get positions before everything in the other feed; the others are fanned out
    // there
    events: {
      position: `case when (position, id) <= (${position}, '${id}') then position - ${position} - 1 else position end`,
    },
    webhook_subscriptions: { since_position: '0', since_snapshot: `'1:1:'::pg_snapshot` },
  }
}
