/** SQL of `message_transitions`. */
import type { Tenant } from '../../api/caller.ts'
import type { OriginType } from '../../api/resources/message.ts'
import { isoText } from '../../platform/database/pool.ts'
import type { Db, Fragment } from '../../platform/database/sql.ts'
import type { OutboundStatus } from './message.ts'

/** Messages of one origin that one statement moved. */
export interface TransitionRow extends Tenant {
  readonly origin_type: OriginType
  readonly origin_id: string | null
  /** Null: accepted. */
  readonly from_status: OutboundStatus | null
  readonly status: OutboundStatus
  readonly message_ids: readonly string[]
  readonly submission_keys: readonly (string | null)[]
  readonly times: readonly string[]
}

export interface ProjectedOrigin {
  readonly projection: string
  readonly origin_type: OriginType
}

/**
 * `source` selects account_id, mode, message_id, submission_key, origin_type, origin_id, from_status, status and at.
 * `pairs` is not empty.
 */
export const transitionsFrom = (sql: Db, pairs: readonly ProjectedOrigin[], source: Fragment) => {
  const projections = pairs.map(({ projection }) => projection)
  const types = pairs.map(({ origin_type }) => origin_type)
  // usually one projection, for which a join would cost more than the rows
  const [projection, join] =
    pairs.length === 1
      ? [sql`${projections[0]!}`, sql``]
      : [
          sql`f.projection`,
          sql`join (select unnest(${projections}::text[]) as projection, unnest(${types}::text[]) as origin_type) f on f.origin_type = g.origin_type`,
        ]
  return sql`
  insert into message_transitions (
    projection, account_id, mode, origin_type, origin_id, from_status, status, message_ids, submission_keys,
    times
  )
  select ${projection}, g.account_id, g.mode, g.origin_type, g.origin_id, g.from_status, g.status,
    g.message_ids, g.submission_keys, g.times
  from (
    select account_id, mode, origin_type, origin_id, from_status, status, array_agg(message_id) as message_ids,
      array_agg(submission_key) as submission_keys, array_agg(at) as times
    from (${source}) s
    where origin_type = any (${types}::text[])
    group by account_id, mode, origin_type, origin_id, from_status, status
  ) g ${join}`
}

/** `transitionsFrom` as a further CTE; empty without `pairs`. */
export const transitionCte = (sql: Db, pairs: readonly ProjectedOrigin[], source: Fragment): Fragment =>
  pairs.length === 0
    ? sql``
    : sql`,
    transition as (${transitionsFrom(sql, pairs, source)})`

/** `accepted` selects account_id, mode, id, submission_key, origin_type and origin_id. */
export const acceptedTransitionCte = (
  sql: Db,
  pairs: readonly ProjectedOrigin[],
  accepted: Fragment,
  at: string,
): Fragment =>
  transitionCte(
    sql,
    pairs,
    sql`
      select account_id, mode, id as message_id, submission_key, origin_type, origin_id, null as from_status,
        'queued' as status, ${at}::timestamptz as at
      from (${accepted}) a`,
  )

/** Unlocked rows: at most `rows_max`, stopping after `messages_max` messages. */
export async function dequeueTransitions(
  tx: Db,
  projection: string,
  { rows_max, messages_max }: { rows_max: number; messages_max: number },
): Promise<TransitionRow[]> {
  // arrays as text: the driver parses arrays character by character
  const rows = await tx<(Omit<TransitionRow, 'message_ids' | 'times'> & { message_ids: string; times: string })[]>`
    with locked as materialized (
      select ctid as place, cardinality(message_ids) as messages from message_transitions where projection = ${projection} limit ${rows_max} for update skip locked
    )
    delete from message_transitions where ctid = any (array(
      select place from (select place, sum(messages) over (rows unbounded preceding) - messages as before from locked) h where before < ${messages_max}
    ))
    returning account_id, mode, origin_type, origin_id, from_status, status, array_to_string(message_ids, E'\n') as message_ids, to_json(submission_keys) as submission_keys,
      array_to_string(times, E'\n') as times`
  return rows.map((row) => ({
    ...row,
    message_ids: row.message_ids.split('\n'),
    times: row.times.split('\n').map(isoText),
  }))
}

/**
 * Selects account_id, mode, origin_type, origin_id, from_status, status and messages. In one statement with the
 * projection's own sums, the total is exact.
 */
export const pendingTransitions = (
  sql: Db,
  projection: string,
  wanted?: { readonly tenant: Tenant; readonly origin_ids: readonly string[] },
) => sql`
  select account_id, mode, origin_type, origin_id, from_status, status, sum(cardinality(message_ids))::int as messages
  from message_transitions
  where projection = ${projection} ${
    wanted === undefined
      ? sql``
      : sql`and origin_id = any (${[...wanted.origin_ids]}::text[]) and account_id = ${wanted.tenant.account_id} and mode = ${wanted.tenant.mode}`
  }
  group by account_id, mode, origin_type, origin_id, from_status, status`

/** Selects origin_id, wallet_micros and package_credits: charges less refunds. */
export const pendingCharges = (
  sql: Db,
  projection: string,
  { tenant, origin_ids }: { readonly tenant: Tenant; readonly origin_ids: readonly string[] },
) => sql`
  select t.origin_id,
    coalesce(sum(s.sign * m.amount_micros) filter (where m.billing_source = 'wallet'), 0)::bigint as wallet_micros,
    coalesce(sum(s.sign) filter (where m.billing_source = 'package'), 0)::bigint as package_credits
  from message_transitions t
  cross join lateral (select (t.from_status is null)::int - (t.status = 'failed')::int as sign) s
  cross join lateral unnest(t.message_ids) as u(message_id)
  join messages m on m.account_id = t.account_id and m.mode = t.mode and m.id = u.message_id
  where t.projection = ${projection}
    and t.origin_id = any (${[...origin_ids]}::text[])
    and t.account_id = ${tenant.account_id}
    and t.mode = ${tenant.mode}
    and s.sign <> 0
  group by t.origin_id`
