/** SQL of the dispatch worker, across tenants. */
import type { MessageRow } from '../message.ts'
import { limits } from '../../../api/limits.ts'
import { type Db, type Fragment, jsonRows, textColumn, withinBytes } from '../../../platform/database/sql.ts'
import { isAlive } from '../../../platform/jobs/process-registry.ts'
import { transitionCte } from '../projections-repository.ts'
import type { Projections } from '../projections.ts'
import type { ProbeChoice } from './circuit-breakers.ts'
import type { Tenant } from '../../../api/caller.ts'

export interface DueQueue {
  queue: string
  account_id: string
  mode: 'live' | 'test'
  channel_id: string
}

export interface ClaimedRow extends MessageRow {
  job_attempts: number
  job_unknowns: number
  job_outcome_unknown: boolean
  job_accepted_ids: string[] | null
  job_next_run_at: string
}

/** With content and metadata as JSON text; null where they were not read. */
export interface RawClaim extends Omit<ClaimedRow, 'content' | 'metadata'> {
  content: string | null
  metadata: string | null
}

export interface QueueCapacity {
  readonly queue: string
  readonly rank: number
  readonly jobs_max: number
}

/** Whether a claim returns the messages whole, or without content and metadata, which may be unreadable. */
export type ClaimedPart = 'whole' | 'without content'

/** High priority first. */
export async function claimJobs(
  sql: Db,
  claim: {
    capacities: readonly QueueCapacity[]
    at: string
    lease_until: string
    process_id: string
    rows_max: number
    bytes_max: number
  },
  part: ClaimedPart = 'whole',
): Promise<RawClaim[]> {
  if (claim.capacities.length === 0) return []
  const column = (of: (capacity: QueueCapacity) => string | number) => textColumn(claim.capacities.map(of))
  const locked = sql`
      select j.message_id, j.next_run_at, j.bytes, r.priority from (
        select unnest(text_column(${column((capacity) => capacity.queue)})) as queue,
          unnest(text_column(${column((capacity) => capacity.rank)}))::smallint as priority,
          unnest(text_column(${column((capacity) => capacity.jobs_max)}))::int as jobs_max
      ) r
      cross join lateral (
        select message_id, next_run_at, bytes
        from dispatch_jobs
        where process_id is null
          and queue = r.queue
          and priority = r.priority
          and next_run_at <= ${claim.at}
        order by next_run_at, message_id limit r.jobs_max for update skip locked
      ) j
      order by r.priority, j.next_run_at limit ${claim.rows_max}`
  const order = sql`priority, next_run_at, message_id`
  return await sql<RawClaim[]>`
    with picked as materialized (${withinBytes(sql, locked, { order, bytes_max: claim.bytes_max })}),
    ${pickedByProcess(sql, claim, part)}`
}

export interface WantedProbe {
  readonly queue: string
  readonly choice: ProbeChoice
}

const probesLookedAt = 50

/** With the fewest attempts: the most urgent and oldest, or the newest. */
export async function claimProbes(
  sql: Db,
  claim: { probes: readonly WantedProbe[]; at: string; lease_until: string; process_id: string },
  part: ClaimedPart = 'whole',
): Promise<RawClaim[]> {
  if (claim.probes.length === 0) return []
  const ofPriority = sql`from dispatch_jobs where process_id is null and queue = r.queue and priority = p.priority and next_run_at <= ${claim.at}`
  return await sql<RawClaim[]>`
    with picked as materialized (
      select j.message_id, j.next_run_at from (
        select unnest(text_column(${textColumn(claim.probes.map(({ queue }) => queue))})) as queue,
          unnest(text_column(${textColumn(claim.probes.map(({ choice }) => choice))})) = 'newest' as newest
      ) r
      cross join lateral (
        select c.message_id
        from (values (0::smallint), (1::smallint), (2::smallint)) p(priority)
        cross join lateral (
          (
            select message_id, next_run_at, attempts ${ofPriority}
            order by next_run_at, message_id
            limit ${probesLookedAt}
          )
          union all
          (
            select message_id, next_run_at, attempts ${ofPriority}
            order by next_run_at desc, message_id desc
            limit ${probesLookedAt}
          )
        ) c
        order by c.attempts, case when not r.newest then p.priority end,
          case when r.newest then c.next_run_at end desc, case when r.newest then c.message_id end desc,
          c.next_run_at, c.message_id
        limit 1
      ) c
      join dispatch_jobs j on j.message_id = c.message_id
      where j.process_id is null
      for update of j skip locked
    ),
    ${pickedByProcess(sql, claim, part)}`
}

/** Needs the CTE `picked`. */
export const pickedByProcess = (
  sql: Db,
  { process_id, lease_until }: { process_id: string; lease_until: string },
  part: ClaimedPart,
) => sql`
  claimed as (
    update dispatch_jobs j
    set process_id = ${process_id}, next_run_at = ${lease_until}
    from picked
    where j.message_id = picked.message_id
    returning j.account_id, j.mode, j.message_id, j.attempts, j.outcome_unknown, j.accepted_ids, picked.next_run_at
  )
  select ${readableColumns(sql)},
    ${part === 'whole' ? sql`m.content::text as content, m.metadata::text as metadata` : sql`null::text as content, null::text as metadata`},
    c.attempts as job_attempts,
    case when c.attempts > 0 then (
      select count(*)::int
      from message_attempts a
      where a.message_id = c.message_id
        and a.outcome = 'unknown'
    ) else 0 end as job_unknowns,
    c.outcome_unknown as job_outcome_unknown, c.accepted_ids as job_accepted_ids, c.next_run_at as job_next_run_at
  from claimed c
  join messages m on m.account_id = c.account_id
    and m.mode = c.mode
    and m.id = c.message_id
  order by c.next_run_at, m.id`

/** Of a message `m`: all columns but those whose size the sender chooses. */
const readableColumns = (sql: Db) => sql`
  m.account_id, m.mode, m.id, m.channel_id, m.channel_type, m.direction, m."to", m."from", m.type, m.status, m.error,
  m.reference, m.billing_source, m.amount_micros, m.package_grant_id, m.refunded, m.contact_id, m.origin_type,
  m.origin_id, m.submission_key, m.reply_to, m.segments, m.encoding, m.priority, m.send_at, m.expires_at, m.created_at,
  m.updated_at, m.sending_at, m.sent_at, m.delivered_at, m.read_at, m.failed_at`

export const readContents = async (
  sql: Db,
  messages: readonly Pick<MessageRow, 'account_id' | 'mode' | 'id'>[],
): Promise<Pick<RawClaim, 'id' | 'content' | 'metadata'>[]> => {
  const keys = messages.map(({ account_id, mode, id }) => ({ account_id, mode, id }))
  return await sql<Pick<RawClaim, 'id' | 'content' | 'metadata'>[]>`
    select m.id, m.content::text as content, m.metadata::text as metadata
    from json_to_recordset(${jsonRows(keys)}::text::json) as t(account_id text, mode text, id text)
    join messages m on m.account_id = t.account_id and m.mode = t.mode and m.id = t.id`
}

/**
 * Counts that this process could not read or prepare these messages, and releases their jobs until `next_run_at`. Jobs
 * with too many failures stay claimed; their ids are returned.
 */
export async function countUnreadable(
  sql: Db,
  process_id: string,
  message_ids: readonly string[],
  next_run_at: string,
): Promise<Set<string>> {
  if (message_ids.length === 0) return new Set()
  const { unreadable_max } = limits
  const rows = await sql<{ message_id: string; unreadable: number }[]>`
    update dispatch_jobs
    set unreadable = unreadable + 1,
      process_id = case when unreadable + 1 < ${unreadable_max}::int then null else process_id end,
      next_run_at = case when unreadable + 1 < ${unreadable_max}::int then ${next_run_at}::timestamptz else next_run_at end
    where message_id = any(${[...message_ids]}::text[])
      and process_id = ${process_id}
    returning message_id, unreadable`
  return new Set(rows.flatMap(({ message_id, unreadable }) => (unreadable >= unreadable_max ? [message_id] : [])))
}

/** Resolves to how many. */
export async function makeJobsDue(sql: Db, queues: readonly string[], at: string): Promise<number> {
  const { count } = await sql`
      update dispatch_jobs
      set next_run_at = ${at}
      where process_id is null
        and queue = any(${[...queues]}::text[])
        and next_run_at > ${at}`
  return count
}

export interface Rescued {
  readonly jobs: number
  readonly origin_types: readonly string[]
}

/**
 * Jobs of dead processes and expired claims. Their outcome is unknown, so their messages become `sending` from the
 * start of the claim. Locks messages before jobs; locked ones wait for the next run.
 */
export async function rescueJobs(
  sql: Db,
  projections: Projections,
  {
    process_id,
    at,
    alive_since,
    lease_ms,
    jobs_max,
  }: { process_id: string; at: string; alive_since: string; lease_ms: number; jobs_max: number },
): Promise<Rescued> {
  const left = abandoned(sql, { process_id, at, alive_since })
  const [row] = await sql<Rescued[]>`
    with locked as materialized (
      select h.id, j.next_run_at - make_interval(secs => ${lease_ms / 1000}::int) as claimed_at
      from dispatch_jobs j
      cross join lateral (
        select m.id
        from messages m
        where m.account_id = j.account_id
          and m.mode = j.mode
          and m.id = j.message_id
        limit 1
        for update skip locked
      ) h
      where ${left}
      limit ${jobs_max}
    ),
    released as (
      update dispatch_jobs j
      set next_run_at = ${at}, process_id = null, outcome_unknown = true
      from locked
      where j.message_id = locked.id
        and ${left}
      returning j.account_id, j.mode, j.message_id, least(locked.claimed_at, ${at}) as claimed_at
    ),
    marked as (
      update messages m
      set status = 'sending', sending_at = coalesce(m.sending_at, greatest(m.updated_at, t.claimed_at)),
        updated_at = greatest(m.updated_at, ${at})
      from released t
      where m.account_id = t.account_id
        and m.mode = t.mode
        and m.id = t.message_id
        and m.status = 'queued'
      returning m.account_id, m.mode, m.id, m.submission_key, m.origin_type, m.origin_id, m.updated_at
    )${rescuedTransitions(sql, projections)}
    select (select count(*) from released) as jobs, array(select distinct origin_type from marked) as origin_types`
  return row!
}

/** The claim of `j` has ended, or its process is dead without a channel lease. */
const abandoned = (
  sql: Db,
  { process_id, at, alive_since }: { process_id: string; at: string; alive_since: string },
) => sql`
  j.process_id is not null
  and (
    j.next_run_at <= ${at}
    or (
      j.process_id <> ${process_id}
      and not ${isAlive(sql, sql`j.process_id`, alive_since)}
      and not exists (
        select
        from channel_leases l
        where l.channel_id = j.channel_id
          and l.process_id = j.process_id
          and ${isLeased(sql, at)}
      )
    )
  )`

const rescuedTransitions = (sql: Db, { pairs }: Projections): Fragment =>
  transitionCte(
    sql,
    pairs,
    sql`
      select account_id, mode, id as message_id, submission_key, origin_type, origin_id,
        'queued' as from_status, 'sending' as status, updated_at as at
      from marked`,
  )

export async function releaseJobs(
  sql: Db,
  process_id: string,
  jobs: readonly { message_id: string; next_run_at: string }[],
): Promise<void> {
  if (jobs.length === 0) return
  await sql`
    update dispatch_jobs j set next_run_at = t.next_run_at, process_id = null
    from json_to_recordset(${jsonRows(jobs)}::text::json) as t(message_id text, next_run_at timestamptz)
    where j.message_id = t.message_id and j.process_id = ${process_id}`
}

/** Claims that still exist, with their accepted parts. */
export async function listOwned(
  sql: Db,
  process_id: string,
  claims: readonly { message_id: string; lease_until: string }[],
): Promise<Map<string, readonly string[] | null>> {
  if (claims.length === 0) return new Map()
  const rows = await sql<{ message_id: string; accepted_ids: string[] | null }[]>`
    select j.message_id, j.accepted_ids from json_to_recordset(${jsonRows(claims)}::text::json) as t(message_id text, lease_until timestamptz)
    join dispatch_jobs j on j.message_id = t.message_id where j.process_id = ${process_id} and j.next_run_at = t.lease_until`
  return new Map(rows.map(({ message_id, accepted_ids }) => [message_id, accepted_ids]))
}

/** `own`: claimed by this process; otherwise unclaimed. */
export interface CompletableJob {
  readonly message_id: string
  readonly own: boolean
  readonly accepted_ids: readonly string[]
}

/** Jobs with this number of attempts and no other owner. Requires locks of their messages. */
export async function lockCompletable(
  tx: Db,
  process_id: string,
  jobs: readonly { message_id: string; attempts: number }[],
): Promise<CompletableJob[]> {
  if (jobs.length === 0) return []
  return await tx<CompletableJob[]>`
    select j.message_id, j.process_id is not null as own, coalesce(j.accepted_ids, '{}') as accepted_ids
    from json_to_recordset(${jsonRows(jobs)}::text::json) as t(message_id text, attempts int)
    join dispatch_jobs j on j.message_id = t.message_id
    where (j.process_id = ${process_id} or j.process_id is null)
      and j.attempts = t.attempts
    for update of j`
}

/** Ends the jobs of final messages and releases the others. */
export async function endSupersededJobs(
  sql: Db,
  process_id: string,
  message_ids: readonly string[],
  at: string,
): Promise<void> {
  if (message_ids.length === 0) return
  await sql`
    delete from dispatch_jobs j where j.message_id = any(${[...message_ids]}::text[])
      and not exists (
        select
        from messages m
        where m.account_id = j.account_id
          and m.mode = j.mode
          and m.id = j.message_id
          and m.status in ('queued', 'sending')
      )`
  await releaseJobs(
    sql,
    process_id,
    message_ids.map((message_id) => ({ message_id, next_run_at: at })),
  )
}

/** A process with a late heartbeat still renews its leases; one that signed off has none. */
const isLeased = (sql: Db, at: string) =>
  sql`(l.lease_until > ${at} and exists (select from processes p where p.id = l.process_id))`

/** Resolves to the channels that this process has leased. */
export async function leaseChannels(
  sql: Db,
  channel_ids: readonly string[],
  process_id: string,
  at: string,
  lease_until: string,
): Promise<string[]> {
  if (channel_ids.length === 0) return []
  const rows = await sql<{ channel_id: string }[]>`
    insert into channel_leases as l (channel_id, process_id, lease_until)
    select channel_id, ${process_id}, ${lease_until}
    from unnest(${[...channel_ids].toSorted()}::text[]) as c(channel_id)
    on conflict (channel_id) do update set process_id = excluded.process_id, lease_until = excluded.lease_until
      where l.process_id = excluded.process_id or not ${isLeased(sql, at)}
    returning channel_id`
  return rows.map(({ channel_id }) => channel_id)
}

export async function releaseChannels(sql: Db, process_id: string, channel_ids?: readonly string[]): Promise<void> {
  await sql`
    delete from channel_leases
    where process_id = ${process_id}
      ${channel_ids === undefined ? sql`` : sql`and channel_id = any(${[...channel_ids]}::text[])`}`
}

/** Unclaimed messages, due or not. */
export async function listWaiting(sql: Db, queues: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ queue: string }[]>`
    select q.queue
    from unnest(${[...queues]}::text[]) as q(queue)
    where exists (select from dispatch_jobs where process_id is null and queue = q.queue)`
  return new Set(rows.map(({ queue }) => queue))
}

export async function countQueue(sql: Db, queue: string, max: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count
    from (select 1 from dispatch_jobs where process_id is null and queue = ${queue} limit ${max}) q`
  return row!.count
}

export interface Depths {
  dispatch: number
  scheduled: number
  callback_items: number
}

export async function measureDepths(sql: Db, at: string): Promise<Depths> {
  const [row] = await sql<Depths[]>`
    select count(*) filter (where next_run_at <= ${at} or process_id is not null) as dispatch,
      count(*) filter (where next_run_at > ${at} and process_id is null) as scheduled,
      (select count(*) from callback_items) as callback_items
    from dispatch_jobs`
  return row!
}

export interface NewAttempt {
  readonly account_id: string
  readonly mode: string
  readonly message_id: string
  readonly number: number
  readonly id: string
  readonly provider: string
  readonly outcome: string
  readonly provider_code: string | null
  readonly provider_message: string | null
  readonly duration_ms: number
  readonly created_at: string
}

/** Skips existing attempts. */
export async function insertAttempts(tx: Db, attempts: readonly NewAttempt[]): Promise<void> {
  if (attempts.length === 0) return
  await tx`
    insert into message_attempts (
      account_id, mode, message_id, number, id, provider, outcome, provider_code, provider_message, duration_ms,
      created_at
    )
    select account_id, mode, message_id, number, id, provider, outcome, provider_code, provider_message,
      duration_ms, created_at
    from json_to_recordset(
      ${jsonRows(attempts)}::text::json
    ) as t(account_id text, mode text, message_id text, number int, id text, provider text, outcome text, provider_code text,
      provider_message text, duration_ms int, created_at timestamptz)
    on conflict (message_id, number) do nothing`
}

/** Regardless of claims. */
export async function endJobs(tx: Db, message_ids: readonly string[]): Promise<void> {
  if (message_ids.length === 0) return
  await tx`delete from dispatch_jobs where message_id = any(${[...message_ids]}::text[])`
}

export interface ReturnedJob {
  readonly message_id: string
  readonly next_run_at: string
  readonly attempts: number
  readonly outcome_unknown: boolean
  readonly accepted_ids: readonly string[]
}

/** Not if another process has claimed the job. A rescued job keeps its unknown outcome and becomes due no earlier. */
export async function returnJobs(tx: Db, process_id: string, jobs: readonly ReturnedJob[]): Promise<void> {
  if (jobs.length === 0) return
  await tx`
    update dispatch_jobs j
    set next_run_at = case when j.process_id is null then greatest(j.next_run_at, t.next_run_at) else t.next_run_at end,
      attempts = t.attempts,
      outcome_unknown = t.outcome_unknown or (j.process_id is null and j.outcome_unknown),
      accepted_ids = nullif(t.accepted_ids, '{}'), process_id = null
    from json_to_recordset(${jsonRows(jobs)}::text::json) as t(
      message_id text, next_run_at timestamptz, attempts int, outcome_unknown boolean, accepted_ids text[]
    )
    where j.message_id = t.message_id and (j.process_id = ${process_id} or j.process_id is null)`
}

export interface Claim {
  readonly process_id: string
  readonly message_id: string
  readonly lease_until: string
}

/** False if the claim has ended or receipts have proved more. */
export async function saveAccepted(
  sql: Db,
  { process_id, message_id, lease_until }: Claim,
  accepted_ids: readonly string[],
): Promise<boolean> {
  const rows = await sql`
    update dispatch_jobs set accepted_ids = ${[...accepted_ids]}::text[]
    where message_id = ${message_id}
      and process_id = ${process_id}
      and next_run_at = ${lease_until}
      and coalesce(cardinality(accepted_ids), 0) <= ${accepted_ids.length}
    returning message_id`
  return rows.length > 0
}

/** Requires locks of the messages. */
export async function lockAccepted(tx: Db, message_ids: readonly string[]): Promise<Map<string, readonly string[]>> {
  if (message_ids.length === 0) return new Map()
  const rows = await tx<{ message_id: string; accepted_ids: string[] }[]>`
    select message_id, coalesce(accepted_ids, '{}') as accepted_ids from dispatch_jobs where message_id = any(${[...message_ids]}::text[]) order by message_id for update`
  return new Map(rows.map(({ message_id, accepted_ids }) => [message_id, accepted_ids]))
}

/** Remaining parts of unclaimed jobs become due, with a known outcome. */
export async function raiseAccepted(
  tx: Db,
  jobs: readonly { readonly message_id: string; readonly accepted_ids: readonly string[] }[],
  at: string,
): Promise<void> {
  if (jobs.length === 0) return
  await tx`
    update dispatch_jobs j
    set accepted_ids = t.accepted_ids, outcome_unknown = j.outcome_unknown and j.process_id is not null,
      next_run_at = case when j.process_id is null then least(j.next_run_at, ${at}) else j.next_run_at end
    from json_to_recordset(${jsonRows(jobs)}::text::json) as t(message_id text, accepted_ids text[])
    where j.message_id = t.message_id`
}

export interface Postponed extends Tenant {
  readonly message_id: string
  readonly next_run_at: string
}

/** `next_run_at` becomes `send_at`. Locks messages before jobs. */
export async function postponeMessages(sql: Db, process_id: string, postponed: readonly Postponed[]): Promise<void> {
  if (postponed.length === 0) return
  await sql`
    with locked as materialized (
      select m.id, t.next_run_at
      from json_to_recordset(${jsonRows(postponed)}::text::json) as t(
        account_id text, mode text, message_id text, next_run_at timestamptz
      )
      join messages m on m.account_id = t.account_id and m.mode = t.mode and m.id = t.message_id
      where m.status in ('queued', 'sending') order by m.id for update of m
    ),
    returned as (
      update dispatch_jobs j
      set next_run_at = h.next_run_at, process_id = null
      from locked h
      where j.message_id = h.id
        and j.process_id = ${process_id}
      returning j.account_id, j.mode, j.message_id, j.next_run_at
    )
    update messages m
    set send_at = r.next_run_at
    from returned r
    where m.account_id = r.account_id
      and m.mode = r.mode
      and m.id = r.message_id`
}

/** To the recipient, on the channel. Of messages with unknown outcomes, only earlier ones count. */
export async function isAnotherInProgress(
  sql: Db,
  { channel_id, message_id, to }: { channel_id: string; message_id: string; to: string },
): Promise<boolean> {
  const rows = await sql`
    select 1
    from dispatch_jobs j
    join messages m on m.account_id = j.account_id
      and m.mode = j.mode
      and m.id = j.message_id
    where j.process_id is not null
      and j.channel_id = ${channel_id}
      and j.message_id <> ${message_id}
      and (not j.outcome_unknown or j.message_id < ${message_id})
      and m."to" = ${to}
    limit 1`
  return rows.length > 0
}

export interface ClaimedIds extends Tenant {
  readonly channel_id: string
  readonly message_id: string
  readonly provider_ids: readonly string[]
}

/** By provider id: the message that claimed the id of another one. */
export async function listForeignIds(sql: Db, claims: readonly ClaimedIds[]): Promise<Map<string, string>> {
  const wanted = claims.flatMap(({ provider_ids, ...claim }) =>
    provider_ids.map((provider_id) => ({ ...claim, provider_id })),
  )
  if (wanted.length === 0) return new Map()
  const rows = await sql<{ provider_id: string; message_id: string }[]>`
    select t.provider_id, t.message_id from json_to_recordset(${jsonRows(wanted)}::text::json) as t(account_id text, mode text, channel_id text, message_id text, provider_id text)
    join provider_references r on r.channel_id = t.channel_id and r.provider_id = t.provider_id and r.account_id = t.account_id and r.mode = t.mode and r.message_id <> t.message_id`
  return new Map(rows.map(({ provider_id, message_id }) => [provider_id, message_id]))
}
