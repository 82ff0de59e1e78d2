/** SQL of `message_transitions`: the rows that changes of followed messages leave, and what their projections read of them. */
import type { Tenant } from '../../api/caller.ts'
import type { OriginType } from '../../api/resources/message.ts'
import { isoText } from '../../platform/database/pool.ts'
import type { Db, Fragment } from '../../platform/database/sql.ts'
import type { OutboundStatus } from './message.ts'

/** The messages that one statement took from one status to another, of one origin; each with its key and its time at the same place. */
export interface TransitionRow extends Tenant {
  readonly origin_type: OriginType
  readonly origin_id: string | null
  /** null: the messages were accepted. */
  readonly was: OutboundStatus | null
  readonly status: OutboundStatus
  readonly message_ids: readonly string[]
  readonly submission_keys: readonly (string | null)[]
  /** ISO 8601. */
  readonly ats: readonly string[]
}

export interface FollowedOrigin {
  readonly projection: string
  readonly origin_type: OriginType
}

/**
 * The insert of transitions from a sub-select of account_id, mode, message_id, submission_key, origin_type, origin_id, was, status and at, of
 * outbound messages; for statements that write them with the change itself. Messages whose origin none of `pairs`, of which there is one at least, follows leave nothing.
 */
export const transitionsFrom = (sql: Db, pairs: readonly FollowedOrigin[], source: Fragment) => {
  const projections = pairs.map(({ projection }) => projection)
  const types = pairs.map(({ origin_type }) => origin_type)
  // nearly always one projection, for whom a join would cost more than the rows
  const [projection, join] =
    pairs.length === 1
      ? [sql`${projections[0]!}`, sql``]
      : [
          sql`f.projection`,
          sql`join (select unnest(${projections}::text[]) as projection, unnest(${types}::text[]) as origin_type) f on f.origin_type = g.origin_type`,
        ]
  return sql`
  insert into message_transitions (projection, account_id, mode, origin_type, origin_id, was, status, message_ids, submission_keys, ats)
  select ${projection}, g.account_id, g.mode, g.origin_type, g.origin_id, g.was, g.status, g.message_ids, g.submission_keys, g.ats
  from (
    select account_id, mode, origin_type, origin_id, was, status, array_agg(message_id) as message_ids, array_agg(submission_key) as submission_keys, array_agg(at) as ats
    from (${source}) s where origin_type = any (${types}::text[]) group by account_id, mode, origin_type, origin_id, was, status
  ) g ${join}`
}

/** What is added to a statement that accepts the messages of `source` (account_id, mode, id, submission_key, origin_type, origin_id): their first transition, each to `queued`. */
export const acceptedTransitions = (sql: Db, pairs: readonly FollowedOrigin[], source: Fragment, at: string) =>
  transitionsFrom(
    sql,
    pairs,
    sql`select account_id, mode, id as message_id, submission_key, origin_type, origin_id, null as was, 'queued' as status, ${at}::timestamptz as at from (${source}) a`,
  )

/**
 * Takes rows of this projection out of the table: at most `rows_max`, and none after `messages_max` messages. Those that another process has in hand are
 * passed over.
 */
export async function takeTransitions(
  tx: Db,
  projection: string,
  { rows_max, messages_max }: { rows_max: number; messages_max: number },
): Promise<TransitionRow[]> {
  // arrays as text: the driver takes them apart character by character
  const rows = await tx<(Omit<TransitionRow, 'message_ids' | 'ats'> & { message_ids: string; ats: string })[]>`
    with held as materialized (
      select ctid as place, cardinality(message_ids) as messages from message_transitions where projection = ${projection} limit ${rows_max} for update skip locked
    )
    delete from message_transitions where ctid = any (array(
      select place from (select place, sum(messages) over (rows unbounded preceding) - messages as before from held) h where before < ${messages_max}
    ))
    returning account_id, mode, origin_type, origin_id, was, status, array_to_string(message_ids, E'\n') as message_ids, to_json(submission_keys) as submission_keys,
      array_to_string(ats, E'\n') as ats`
  return rows.map((row) => ({
    ...row,
    message_ids: row.message_ids.split('\n'),
    ats: row.ats.split('\n').map(isoText),
  }))
}

/**
 * What a projection has not folded yet, as a select of account_id, mode, origin_type, origin_id, was, status and messages; of some origins of a tenant, or of all. Added
 * in one statement to what it has folded, the sums are exact at any moment.
 */
export const unfoldedOf = (
  sql: Db,
  projection: string,
  wanted?: { readonly tenant: Tenant; readonly origin_ids: readonly string[] },
) => sql`
  select account_id, mode, origin_type, origin_id, was, status, sum(cardinality(message_ids))::int as messages from message_transitions
  where projection = ${projection} ${
    wanted === undefined
      ? sql``
      : sql`and origin_id = any (${[...wanted.origin_ids]}::text[]) and account_id = ${wanted.tenant.account_id} and mode = ${wanted.tenant.mode}`
  }
  group by account_id, mode, origin_type, origin_id, was, status`

/**
 * What the messages of these transitions were charged, less what was given back for those that failed, as a select of origin_id, wallet_micros and package_credits: as
 * `unfoldedOf`, of some origins of a tenant.
 */
export const unfoldedChargesOf = (
  sql: Db,
  projection: string,
  { tenant, origin_ids }: { readonly tenant: Tenant; readonly origin_ids: readonly string[] },
) => sql`
  select t.origin_id, coalesce(sum(s.sign * m.amount_micros) filter (where m.billing_source = 'wallet'), 0)::bigint as wallet_micros,
    coalesce(sum(s.sign) filter (where m.billing_source = 'package'), 0)::bigint as package_credits
  from message_transitions t
  cross join lateral (select (t.was is null)::int - (t.status = 'failed')::int as sign) s
  cross join lateral unnest(t.message_ids) as u(message_id)
  join messages m on m.account_id = t.account_id and m.mode = t.mode and m.id = u.message_id
  where t.projection = ${projection} and t.origin_id = any (${[...origin_ids]}::text[]) and t.account_id = ${tenant.account_id} and t.mode = ${tenant.mode} and s.sign <> 0
  group by t.origin_id`
