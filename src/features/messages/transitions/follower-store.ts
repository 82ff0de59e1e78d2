/** SQL of `message_transitions`: the rows that every change of a followed message leaves, and what their followers read of them. */
import type { Tenant } from '../../../contract/caller.ts'
import type { OriginType } from '../../../contract/resources/message.ts'
import type { Db, Fragment } from '../../../platform/database/sql.ts'
import type { OutboundStatus } from '../states.ts'

/** One change of the status of one outbound message. */
export interface TransitionRow extends Tenant {
  readonly message_id: string
  readonly submission_key: string | null
  readonly origin_type: OriginType
  readonly origin_id: string | null
  /** null: the message was accepted. */
  readonly was: OutboundStatus | null
  readonly status: OutboundStatus
  /** ISO 8601. */
  readonly at: string
}

export interface FollowedOrigin {
  readonly follower: string
  readonly origin_type: OriginType
}

/**
 * The insert of transitions from a sub-select of account_id, mode, message_id, submission_key, origin_type, origin_id, was, status and at, of
 * outbound messages; for statements that write them with the change itself. Messages whose origin nobody follows leave nothing.
 */
export const transitionsFrom = (sql: Db, { pairs }: { readonly pairs: readonly FollowedOrigin[] }, source: Fragment) => sql`
  insert into message_transitions (follower, account_id, mode, message_id, submission_key, origin_type, origin_id, was, status, at)
  select f.follower, s.account_id, s.mode, s.message_id, s.submission_key, s.origin_type, s.origin_id, s.was, s.status, s.at::timestamptz
  from (${source}) s
  join (
    select unnest(${pairs.map(({ follower }) => follower)}::text[]) as follower, unnest(${pairs.map(({ origin_type }) => origin_type)}::text[]) as origin_type
  ) f on f.origin_type = s.origin_type`

/** What is added to a statement that accepts the messages of `source` (account_id, mode, id, submission_key, origin_type, origin_id): their first transition, each to `queued`. */
export const acceptedTransitions = (sql: Db, followers: { readonly pairs: readonly FollowedOrigin[] }, source: Fragment, at: string) =>
  transitionsFrom(
    sql,
    followers,
    sql`select account_id, mode, id as message_id, submission_key, origin_type, origin_id, null as was, 'queued' as status, ${at}::timestamptz as at from (${source}) a`,
  )

/** Takes rows of this follower, at most `rows_max`, out of the table; those that another process has in hand are passed over. */
export async function takeTransitions(tx: Db, follower: string, rows_max: number): Promise<TransitionRow[]> {
  return await tx<TransitionRow[]>`
    delete from message_transitions where ctid = any (array(
      select ctid from message_transitions where follower = ${follower} limit ${rows_max} for update skip locked
    ))
    returning account_id, mode, message_id, submission_key, origin_type, origin_id, was, status, at`
}

/**
 * What a follower has not folded yet, as a select of account_id, mode, origin_type, origin_id, was, status and messages; of some origins of a tenant, or of all. Added
 * in one statement to what it has folded, the sums are exact at any moment.
 */
export const unfoldedOf = (sql: Db, follower: string, wanted?: { readonly tenant: Tenant; readonly origin_ids: readonly string[] }) => sql`
  select account_id, mode, origin_type, origin_id, was, status, count(*)::int as messages from message_transitions
  where follower = ${follower} ${
    wanted === undefined
      ? sql``
      : sql`and origin_id = any (${[...wanted.origin_ids]}::text[]) and account_id = ${wanted.tenant.account_id} and mode = ${wanted.tenant.mode}`
  }
  group by account_id, mode, origin_type, origin_id, was, status`
