/** SQL of `message_transitions`: the rows that every change of a followed message leaves, and what their followers read of them. */
import type { Tenant } from '../../../contract/caller.ts'
import type { OriginType } from '../../../contract/resources/message.ts'
import type { Db } from '../../../platform/database/sql.ts'
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
export const transitionsFrom = (sql: Db, { pairs }: { readonly pairs: readonly FollowedOrigin[] }, source: ReturnType<Db>) => sql`
  insert into message_transitions (follower, account_id, mode, message_id, submission_key, origin_type, origin_id, was, status, at)
  select f.follower, s.account_id, s.mode, s.message_id, s.submission_key, s.origin_type, s.origin_id, s.was, s.status, s.at::timestamptz
  from (${source}) s
  join (
    select unnest(${pairs.map(({ follower }) => follower)}::text[]) as follower, unnest(${pairs.map(({ origin_type }) => origin_type)}::text[]) as origin_type
  ) f on f.origin_type = s.origin_type`

/** Takes rows of this follower, at most `rows_max`, out of the table; those that another process has in hand are passed over. */
export async function takeTransitions(tx: Db, follower: string, rows_max: number): Promise<TransitionRow[]> {
  return await tx<TransitionRow[]>`
    delete from message_transitions where ctid = any (array(
      select ctid from message_transitions where follower = ${follower} limit ${rows_max} for update skip locked
    ))
    returning account_id, mode, message_id, submission_key, origin_type, origin_id, was, status, at`
}

/**
 * What a follower has not folded yet of these origins, as a select of origin_id, was, status and messages. Read in one statement with what the
 * follower has folded, the two are exact at any moment.
 */
export const unfolded = (sql: Db, follower: string, { account_id, mode }: Tenant, origin_ids: readonly string[]) => sql`
  select origin_id, was, status, count(*) as messages from message_transitions
  where follower = ${follower} and origin_id = any (${[...origin_ids]}::text[]) and account_id = ${account_id} and mode = ${mode}
  group by origin_id, was, status`
