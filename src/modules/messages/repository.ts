/** SQL that reads messages, for this and other modules. */
import type { Tenant } from '../../api/caller.ts'
import type { OriginType } from '../../api/resources/message.ts'
import type { AttemptRow, MessageRow } from './message.ts'
import type { Db, Fragment } from '../../platform/database/sql.ts'
import { idFloor } from '../../lib/ids.ts'
import { quarterOf } from './counts-repository.ts'

export async function findMessage(sql: Db, { account_id, mode }: Tenant, id: string): Promise<MessageRow | null> {
  const [message] = await sql<MessageRow[]>`
    select *
    from messages
    where account_id = ${account_id}
      and mode = ${mode}
      and id = ${id}`
  return message ?? null
}

export async function findMessages(
  sql: Db,
  { account_id, mode }: Tenant,
  ids: readonly string[],
): Promise<MessageRow[]> {
  if (ids.length === 0) return []
  return await sql<MessageRow[]>`
    select *
    from messages
    where account_id = ${account_id}
      and mode = ${mode}
      and id = any(${[...ids]}::text[])`
}

export interface Charged {
  readonly origin_id: string | null
  readonly wallet_micros: number
  readonly package_credits: number
}

/** Without refunds. */
export async function sumCharged(sql: Db, { account_id, mode }: Tenant, ids: readonly string[]): Promise<Charged[]> {
  if (ids.length === 0) return []
  return await sql<Charged[]>`
    select origin_id,
      coalesce(sum(amount_micros) filter (where billing_source = 'wallet'), 0)::bigint as wallet_micros,
      count(*) filter (where billing_source = 'package')::int as package_credits
    from messages
    where account_id = ${account_id}
      and mode = ${mode}
      and id = any(${[...ids]}::text[])
    group by origin_id`
}

export async function listAttempts(sql: Db, { account_id, mode }: Tenant, message_id: string): Promise<AttemptRow[]> {
  return await sql<AttemptRow[]>`
    select id, number, provider, outcome, provider_code, provider_message, duration_ms, created_at
    from message_attempts
    where account_id = ${account_id} and mode = ${mode} and message_id = ${message_id}
    order by number desc limit 1000`
}

export const messagesOfOrigin = (sql: Db, type: OriginType) => sql`
  select account_id, mode, id, origin_id, submission_key, status
  from messages
  where direction = 'outbound'
    and origin_type = ${type}`

/** Templates sent on one channel since a time. */
export interface ReachWindow extends Tenant {
  readonly channel_id: string
  readonly since_ms: number
}

export const reachedRecipients = (sql: Db, { account_id, mode, channel_id, since_ms }: ReachWindow): Fragment => sql`
  select distinct "to" from messages
  where account_id = ${account_id}
    and mode = ${mode}
    and channel_id = ${channel_id}
    and direction = 'outbound'
    and id >= ${idFloor('msg', since_ms)}
    and type = 'template' and status <> 'failed'`

export async function countReached(sql: Db, window: ReachWindow): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from (${reachedRecipients(sql, window)}) r`
  return row!.count
}

export async function reachedAmong(
  sql: Db,
  window: ReachWindow,
  recipients: readonly string[],
): Promise<ReadonlySet<string>> {
  if (recipients.length === 0) return new Set()
  const rows = await sql<{ to: string }[]>`
    select "to"
    from (${reachedRecipients(sql, window)}) r
    where "to" = any (${[...recipients]}::text[])`
  return new Set(rows.map(({ to }) => to))
}

export interface InboundWindow extends Tenant {
  readonly channel_id: string
  readonly since_ms: number
  readonly until_ms: number
}

export interface InboundRow {
  readonly id: string
  readonly from: string
  readonly contact_id: string | null
  readonly created_at: string
}

/** An id and its `created_at` may be this far apart. */
const idSlackMs = 1000

/** Up to `limit`, oldest first. */
export async function listInbound(
  sql: Db,
  { account_id, mode, channel_id, since_ms, until_ms }: InboundWindow,
  limit: number,
): Promise<InboundRow[]> {
  const [from, below] = [idFloor('msg', Math.max(0, since_ms - idSlackMs)), idFloor('msg', until_ms + idSlackMs)]
  return await sql<InboundRow[]>`
    select id, "from", contact_id, created_at from messages
    where account_id = ${account_id}
      and mode = ${mode}
      and channel_id = ${channel_id}
      and direction = 'inbound'
      and id >= ${from}
      and id < ${below}
    order by id limit ${limit}`
}

/**
 * No provider has them: `queued`, or `sending` with a released job, nothing accepted and a known outcome. Skips locked
 * rows; locks messages before jobs.
 */
export async function lockWithdrawable(
  tx: Db,
  { account_id, mode }: Tenant,
  ids: readonly string[],
): Promise<{ id: string; status: 'queued' | 'sending' }[]> {
  if (ids.length === 0) return []
  return await tx<{ id: string; status: 'queued' | 'sending' }[]>`
    with locked as materialized (
      select id, status from messages
      where account_id = ${account_id} and mode = ${mode} and id = any (${[...ids]}::text[]) and status in ('queued', 'sending') order by id for update skip locked
    ),
    returned as materialized (
      select j.message_id from locked h join dispatch_jobs j on j.message_id = h.id
      where h.status = 'sending' and j.process_id is null and not j.outcome_unknown and j.accepted_ids is null for update of j skip locked
    )
    select id, status from locked where status = 'queued' or id in (select message_id from returned)`
}

/** Messages with smaller ids may be deleted. */
export const deletedBefore = (sql: Db) => sql`coalesce((select deleted_before from message_retention), '')`

export async function hasJobBefore(sql: Db, id: string): Promise<boolean> {
  const [job] = await sql`select from dispatch_jobs where message_id < ${id} limit 1`
  return job !== undefined
}

/** Never moves backwards, even if retention becomes longer. */
export async function setDeletedBefore(sql: Db, id: string): Promise<void> {
  await sql`
    insert into message_retention as r (deleted_before) values (${id})
    on conflict (only_row) do update set deleted_before = greatest(r.deleted_before, excluded.deleted_before)`
}

/** Subtracts them from the quarters of an hour. Returns how many. */
export async function deleteCounts(sql: Db, bucket: string, rows_max: number): Promise<number> {
  const [row] = await sql<{ deleted: number }[]>`
    with deleted as (
      delete from message_status_counts
      where ctid = any(
        array(
          select ctid from message_status_counts where folded and bucket < ${bucket} limit ${rows_max}
        )
      )
        and folded
      returning account_id, mode, status, bucket, n
    ), by_quarter as (
      select account_id, mode, quarter, status, sum(n) as n
      from deleted
      cross join lateral (${quarterOf(sql)}) q
      group by 1, 2, 3, 4
    ), less as (
      update message_quarter_counts c set n = c.n - q.n from by_quarter q
      where c.account_id = q.account_id
        and c.mode = q.mode
        and c.quarter = q.quarter
        and c.status = q.status
    )
    select count(*)::int as deleted from deleted`
  return row!.deleted
}

export async function deleteEmptyQuarters(sql: Db, before: string, rows_max: number): Promise<number> {
  const { count } = await sql`
    delete from message_quarter_counts
    where ctid = any(
      array(
        select ctid from message_quarter_counts where n = 0 and quarter < ${before} limit ${rows_max}
      )
    )
      and n = 0`
  return count
}
