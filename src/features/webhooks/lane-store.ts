/** SQL of the lanes, over all accounts at once: following the feed, taking turns, reading what is due, settling in sets. */
import type { EventRow } from '../../contract/resources/event.ts'
import { jsonRows, transact, type Db, type Transaction } from '../../platform/database/sql.ts'
import type { Settlement } from './delivery-store.ts'
import type { EndpointRow } from './store.ts'

/** Queue tables shrink and grow by the minute: a plan made while one was empty must not read it through once it is full. */
export async function byIndex<T>(sql: Db, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return await transact(sql, async (tx) => {
    await tx`set local enable_seqscan = off`
    return await work(tx)
  })
}

/**
 * Follows the feed by up to `limit` events: makes the deliveries of active subscriptions and moves the cursor, in one
 * statement. A process that finds another one at it gets nothing. The id of a delivery follows from its event and endpoint.
 * `unripe`: there are events that become final only when a transaction under way has ended.
 */
export async function fanOut(sql: Db, at: string, limit: number): Promise<{ events: number; deliveries: number; unripe: boolean }> {
  const [row] = await sql<{ events: number; deliveries: number; unripe: boolean }[]>`
    with state as (
      select position, id from webhook_fan_out where only_row for update skip locked
    ), batch as materialized (
      select account_id, mode, id, type, endpoint_id, created_at, position from events
      where (position, id) > ((select position from state), (select id from state)) and position < feed_horizon()
      order by position, id limit ${limit}
    ), made as (
      insert into webhook_queue (endpoint_id, id, account_id, mode, event_id, event_type, due_at, created_at)
      select s.endpoint_id, 'whd_' || substr(b.id, 5, 14) || substr(md5(b.id || s.endpoint_id), 1, 12), b.account_id, b.mode, b.id, b.type, b.created_at, ${at}::timestamptz
      from batch b
      cross join lateral (values (b.type), ('*')) wanted (event_type)
      join webhook_subscriptions s on s.account_id = b.account_id and s.mode = b.mode and s.event_type = wanted.event_type
      where b.endpoint_id is null
        and webhook_is_later(b.position, s.since_position, s.since_snapshot)
        and case when s.filters is null then true else webhook_filters_pass(s.filters, b.type,
          (select object from events e where e.account_id = b.account_id and e.mode = b.mode and e.id = b.id)) end
      on conflict do nothing
      returning 1
    ), last as (
      select position, id from batch order by position desc, id desc limit 1
    ), moved as (
      update webhook_fan_out f set position = last.position, id = last.id from last where f.only_row
    )
    select (select count(*) from batch)::int as events, (select count(*) from made)::int as deliveries, exists (select 1 from events where position >= feed_horizon()) as unripe`
  return row!
}

/** Waits a moment where the transactions are that it waits for. */
export async function rest(sql: Db): Promise<void> {
  await sql`select pg_sleep(0.01)`
}

/** Brings retries whose time has come to the queue. */
export async function queueDueRetries(sql: Db, at: string, limit: number): Promise<number> {
  const rows = await sql`
    with due as (
      select endpoint_id, id from webhook_retries where due_at <= ${at} order by due_at limit ${limit} for update skip locked
    ), gone as (
      delete from webhook_retries r using due where r.endpoint_id = due.endpoint_id and r.id = due.id returning r.*
    )
    insert into webhook_queue (endpoint_id, id, account_id, mode, event_id, event_type, attempts, response_status, duration_ms, error, error_message, scheduled, due_at, created_at)
    select endpoint_id, id, account_id, mode, event_id, event_type, attempts, response_status, duration_ms, error, error_message, scheduled, due_at, created_at
    from gone on conflict do nothing`
  return rows.count
}

export interface TurnOptions {
  readonly process_id: string
  readonly at: string
  readonly lease_until: string
  /** Processes that beat after this time live. */
  readonly alive_since: string
  /** Where to begin among the endpoints that have something due. */
  readonly after: string
  readonly limit: number
}

/**
 * Endpoints that have something due, each with whose turn it is after those that nobody living holds were taken for this
 * process. Skips from endpoint to endpoint, however much waits for one of them.
 */
export async function takeTurns(sql: Db, options: TurnOptions): Promise<{ endpoint_id: string; owner: string | null }[]> {
  const { process_id, at, lease_until, alive_since, after, limit } = options
  return await sql<{ endpoint_id: string; owner: string | null }[]>`
    with recursive due (endpoint_id, place) as (
      (select endpoint_id, 1 from webhook_queue where endpoint_id > ${after} order by endpoint_id limit 1)
      union all
      select (select q.endpoint_id from webhook_queue q where q.endpoint_id > d.endpoint_id order by q.endpoint_id limit 1), d.place + 1
      from due d where d.endpoint_id is not null and d.place < ${limit}
    ), ready as materialized (
      select endpoint_id from due where endpoint_id is not null
    ), free as (
      select t.endpoint_id from webhook_turns t
      where t.endpoint_id in (select endpoint_id from ready) and t.owner is distinct from ${process_id}
        and (t.owner is null or t.lease_until <= ${at} or not exists (select 1 from processes p where p.id = t.owner and p.beat_at > ${alive_since}))
      order by t.endpoint_id for update skip locked
    ), taken as (
      update webhook_turns t set owner = ${process_id}, lease_until = ${lease_until} from free where t.endpoint_id = free.endpoint_id returning t.endpoint_id
    )
    select r.endpoint_id, case when taken.endpoint_id is not null then ${process_id} else t.owner end as owner
    from ready r left join taken using (endpoint_id) left join webhook_turns t using (endpoint_id)
    order by r.endpoint_id`
}

/** Prolongs turns; those not returned are lost. */
export async function renewTurns(sql: Db, process_id: string, endpoint_ids: readonly string[], lease_until: string): Promise<string[]> {
  const rows = await sql<{ endpoint_id: string }[]>`
    update webhook_turns set lease_until = ${lease_until} where owner = ${process_id} and endpoint_id = any(${[...endpoint_ids]}::text[]) returning endpoint_id`
  return rows.map((row) => row.endpoint_id)
}

export async function releaseTurns(sql: Db, process_id: string, endpoint_ids: readonly string[]): Promise<void> {
  await sql`update webhook_turns set owner = null where owner = ${process_id} and endpoint_id = any(${[...endpoint_ids]}::text[])`
}

export type HandRow = Pick<
  EndpointRow,
  'account_id' | 'mode' | 'id' | 'url' | 'status' | 'secret' | 'previous_secret' | 'previous_secret_until' | 'verification_token' | 'version'
> & { readonly failures: number }

/** The endpoints of these ids whose version is another than the one known. Deleted ones have the status `disabled`. */
export async function readEndpoints(sql: Db, known: readonly { id: string; version: number }[]): Promise<HandRow[]> {
  return await sql<HandRow[]>`
    select e.account_id, e.mode, e.id, e.url, e.status, e.secret, e.previous_secret, e.previous_secret_until, e.verification_token, e.version, coalesce(t.failures, 0) as failures
    from json_to_recordset(${jsonRows(known)}::text::json) as k (id text, version int)
    join webhook_endpoints e on e.id = k.id
    left join webhook_turns t on t.endpoint_id = e.id
    where e.version <> k.version`
}

export interface DueRow {
  readonly endpoint_id: string
  readonly id: string
  readonly account_id: string
  readonly mode: string
  readonly event_id: string
  readonly event_type: string
  readonly attempts: number
  readonly scheduled: boolean
  readonly due_at: string
}

export interface Want {
  readonly endpoint_id: string
  /** The id that was read last. */
  readonly after: string
  readonly limit: number
}

/** What is due for each endpoint after the id that was read last, oldest first, up to its own limit. */
export async function readDue(sql: Db, wants: readonly Want[]): Promise<DueRow[]> {
  return await sql<DueRow[]>`
    select q.endpoint_id, q.id, q.account_id, q.mode, q.event_id, q.event_type, q.attempts, q.scheduled, q.due_at
    from json_to_recordset(${jsonRows(wants)}::text::json) as w (endpoint_id text, after text, "limit" int)
    cross join lateral (select * from webhook_queue where endpoint_id = w.endpoint_id and id > w.after order by id limit w."limit") q`
}

/** The events of these ids; each account's and mode's own. */
export async function readEvents(sql: Db, wanted: readonly { account_id: string; mode: string; id: string }[]): Promise<EventRow[]> {
  return await sql<EventRow[]>`
    select e.id, e.mode, e.type, e.created_at, e.object::text as object
    from json_to_recordset(${jsonRows(wanted)}::text::json) as w (account_id text, mode text, id text)
    join events e on e.account_id = w.account_id and e.mode = w.mode and e.id = w.id`
}

/** What a batch of attempts means for its endpoint's failures in a row. */
export interface Count {
  readonly endpoint_id: string
  /** True when one of them succeeded: what was before it is forgotten. */
  readonly reset: boolean
  /** Failures after the last success that began while the circuit was closed, and those under it. */
  readonly closed: number
  readonly open: number
}

/**
 * Settles attempts: takes each off the queue, records what ended, puts back what is tried again, and counts failures in a
 * row. What is no longer in the queue was settled by someone else and is passed over. Resolves to the counts that changed.
 * Attempts that were under way together count up to `circuit_at` only: a short outage never disables an endpoint.
 */
export async function settle(
  sql: Db,
  done: readonly Settlement[],
  counts: readonly Count[],
  circuit_at: number,
): Promise<{ endpoint_id: string; failures: number }[]> {
  return await sql<{ endpoint_id: string; failures: number }[]>`
    with done as materialized (
      select * from json_to_recordset(${jsonRows(done)}::text::json)
        as t (endpoint_id text, id text, status text, attempts int, response_status int, duration_ms int, error text, error_message text, next_attempt_at timestamptz)
    ), gone as (
      delete from webhook_queue q using done d where q.endpoint_id = d.endpoint_id and q.id = d.id
      returning q.account_id, q.mode, q.endpoint_id, q.id, q.event_id, q.event_type, q.created_at, q.scheduled,
        d.status, d.attempts, d.response_status, d.duration_ms, d.error, d.error_message, d.next_attempt_at
    ), ended as (
      insert into webhook_deliveries (account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms, error, error_message, created_at)
      select account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms, error, error_message, created_at
      from gone where status is not null on conflict do nothing
    ), failed as (
      insert into webhook_failures (account_id, mode, endpoint_id, id)
      select account_id, mode, endpoint_id, id from gone where status = 'failed' on conflict do nothing
    ), again as (
      insert into webhook_retries (endpoint_id, id, account_id, mode, event_id, event_type, attempts, response_status, duration_ms, error, error_message, scheduled, due_at, created_at)
      select endpoint_id, id, account_id, mode, event_id, event_type, attempts, response_status, duration_ms, error, error_message, scheduled, next_attempt_at, created_at
      from gone where status is null on conflict do nothing
    ), counted as (
      select * from json_to_recordset(${jsonRows(counts)}::text::json) as t (endpoint_id text, reset boolean, closed int, open int)
    )
    update webhook_turns t
    set failures = case when c.reset then 0 else t.failures end
      + least(c.closed, greatest(0, ${circuit_at}::int - case when c.reset then 0 else t.failures end)) + c.open
    from counted c where t.endpoint_id = c.endpoint_id and (t.failures > 0 or c.closed + c.open > 0)
    returning t.endpoint_id, t.failures`
}

export async function queueDepths(sql: Db): Promise<{ due: number; waiting: number }> {
  const [row] = await sql<{ due: number; waiting: number }[]>`
    select greatest(0, (select reltuples from pg_class where oid = 'webhook_queue'::regclass))::int as due, (select count(*) from (select 1 from webhook_retries limit 100000) r)::int as waiting`
  return row!
}
