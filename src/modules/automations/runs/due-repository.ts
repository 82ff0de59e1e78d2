/** SQL of due runs of every account: claims, postpones and ends them in sets. */
import type { Tenant } from '../../../api/caller.ts'
import type { EventCustomer } from '../../../api/resources/automation-event.ts'
import { suspensions } from '../../accounts/service.ts'
import type { TaggedMessage } from '../../messages/service.ts'
import { type Db, jsonRows } from '../../../platform/database/sql.ts'

export interface DueRun extends Tenant {
  readonly id: string
  readonly source_id: string
  readonly automation_id: string
  readonly automation_event_id: string
  readonly contact_id: string | null
  readonly to: string | null
  readonly event_type: string
  readonly channel_type: string
  readonly failures: number
  readonly scheduled_for: string
  readonly created_at: string
  /** End of this process's claim; every later write compares it. */
  readonly claimed_until: string
}

export async function anyDue(sql: Db, at: string): Promise<boolean> {
  const rows = await sql`select 1 from automation_runs where next_run_at <= ${at} limit 1`
  return rows.length > 0
}

export async function firstDue(sql: Db): Promise<string | null> {
  const [row] = await sql<
    { next_run_at: string | null }[]
  >`select min(next_run_at) as next_run_at from automation_runs where next_run_at is not null`
  return row!.next_run_at
}

export interface DueQuery {
  readonly at: string
  /** Run IDs to exclude. */
  readonly excluded: readonly string[]
  /** Starts after this source ID. Sources without due runs count as scanned too. */
  readonly after: string
  readonly scanned_max: number
  readonly sources_max: number
  readonly counted_max: number
}

export interface DueSource {
  readonly source_id: string
  readonly due: number
}

/** Accounts in turn, and where the next scan starts: '' at the end. A loose index scan: one lookup per source. */
export async function listDueSources(
  sql: Db,
  { at, excluded, after, scanned_max, sources_max, counted_max }: DueQuery,
): Promise<{ sources: DueSource[]; next: string }> {
  const [row] = await sql<{ sources: DueSource[]; next: string }[]>`
    with recursive s(source_id, number) as (
      (
        select source_id, 1
        from automation_runs
        where next_run_at is not null and source_id > ${after}
        order by source_id
        limit 1)
      union all
      select (
        select r.source_id
        from automation_runs r
        where r.next_run_at is not null and r.source_id > s.source_id
        order by r.source_id
        limit 1), number + 1
      from s where s.source_id is not null and number < ${scanned_max}
    ),
    due as (
      select s.source_id, d.account_id, d.due, d.next_run_at from s cross join lateral (
        select r.account_id, count(*)::int as due, min(r.next_run_at) as next_run_at
        from (
          select account_id, next_run_at from automation_runs
          where source_id = s.source_id and next_run_at <= ${at} and id <> all (${excluded as string[]}::text[])
          order by next_run_at
          limit ${counted_max}
        ) r group by r.account_id
      ) d
    ),
    turns as (
      select source_id, due, next_run_at,
        row_number() over (partition by account_id order by next_run_at) as turn
      from due
      order by turn, next_run_at
      limit ${sources_max}
    )
    select coalesce((
      select json_agg(json_build_object('source_id', source_id, 'due', due) order by turn, next_run_at)
      from turns), '[]') as sources,
      coalesce((select source_id from s where number = ${scanned_max}), '') as next`
  return row!
}

export interface Wanted {
  readonly source_id: string
  readonly most: number
}

export async function claimDue(sql: Db, wanted: readonly Wanted[], at: string, until: string): Promise<DueRun[]> {
  return await sql<DueRun[]>`
    with picked as materialized (
      select p.id from json_to_recordset(${jsonRows(wanted)}::text::json) as w(source_id text, most int)
      cross join lateral (
        select r.id
        from automation_runs r
        where r.source_id = w.source_id and r.next_run_at <= ${at}
        order by r.next_run_at
        limit w.most
        for update skip locked
      ) p
    )
    update automation_runs r
    set next_run_at = ${until}
    from picked p
    where r.id = p.id
    returning ${dueColumns(sql)}`
}

/**
 * For a process that is alone: writes nothing. Should another process start now, the submission decides whose run it
 * is.
 */
export async function listDue(
  sql: Db,
  wanted: readonly Wanted[],
  at: string,
  excluded: readonly string[],
): Promise<DueRun[]> {
  return await sql<DueRun[]>`
    select ${dueColumns(sql)}
    from json_to_recordset(${jsonRows(wanted)}::text::json) as w(source_id text, most int)
    cross join lateral (
      select *
      from automation_runs
      where source_id = w.source_id and next_run_at <= ${at} and id <> all (${excluded as string[]}::text[])
      order by next_run_at
      limit w.most
    ) r`
}

const dueColumns = (sql: Db) =>
  sql`r.account_id, r.mode, r.id, r.source_id, r.automation_id, r.automation_event_id, r.contact_id, r."to", r.event_type, r.channel_type, r.failures, r.scheduled_for, r.created_at, r.next_run_at as claimed_until`

export type StopReason =
  | 'account_suspended'
  | 'source_deleted'
  | 'source_disabled'
  | 'automation_deleted'
  | 'automation_paused'

/** `stopped`: why nothing may be sent; null: it may. */
export interface RunAutomation extends Tenant {
  readonly id: string
  readonly stopped: StopReason | null
  /** Runs from before the last reinstatement are not sent. */
  readonly reinstated_at: string | null
  readonly event_type: string
  readonly channel_id: string
  readonly channel_type: string
  readonly category: 'transactional' | 'marketing'
  readonly message: TaggedMessage
  readonly merge_fallbacks: Readonly<Record<string, string>>
}

export async function findAutomationsOfRuns(sql: Db, ids: readonly string[]): Promise<RunAutomation[]> {
  return await sql<RunAutomation[]>`
    select a.account_id, a.mode, a.id, a.event_type, a.channel_id, a.channel_type, a.category, a.message,
      a.merge_fallbacks, ${stopReason(sql)} as stopped,
      (select reinstated_at from (${suspensions(sql)}) x where x.id = a.account_id) as reinstated_at
    from automations a
    left join integration_sources s on s.account_id = a.account_id and s.mode = a.mode and s.id = a.source_id
    where a.id = any (${ids as string[]}::text[])`
}

const stopReason = (sql: Db) => sql`
  case
    when exists (select from (${suspensions(sql)}) x where x.id = a.account_id and x.suspended_at is not null)
      then 'account_suspended'
    when s.id is null or s.deleted_at is not null then 'source_deleted'
    when s.status <> 'active' then 'source_disabled'
    when a.deleted_at is not null then 'automation_deleted'
    when a.status <> 'active' then 'automation_paused'
  end`

export interface StoppedAutomation {
  readonly id: string
  readonly stopped: StopReason
}

export async function listStoppedAutomations(sql: Db, most: number): Promise<StoppedAutomation[]> {
  return await sql<StoppedAutomation[]>`
    with recursive w(automation_id) as (
      (select automation_id from automation_runs where next_run_at is not null order by automation_id limit 1)
      union all
      select (
        select r.automation_id
        from automation_runs r
        where r.next_run_at is not null and r.automation_id > w.automation_id
        order by r.automation_id
        limit 1)
      from w where w.automation_id is not null
    )
    select * from (
      select a.id, ${stopReason(sql)} as stopped
      from w
      join automations a on a.id = w.automation_id
      left join integration_sources s on s.account_id = a.account_id
        and s.mode = a.mode
        and s.id = a.source_id
    ) t where stopped is not null limit ${most}`
}

/** Locks the automation. Skips runs locked by others. Resolves to their number. */
export async function cancelRunsOfStopped(sql: Db, { id, stopped }: StoppedAutomation, most: number): Promise<number> {
  const rows = await sql`
    with stopped_still as materialized (
      select a.id
      from automations a
      join integration_sources s on s.account_id = a.account_id and s.mode = a.mode and s.id = a.source_id
      where a.id = ${id} and ${stopReason(sql)} = ${stopped} for share of a, s
    ),
    locked as materialized (
      select r.id
      from automation_runs r
      where r.automation_id = (select id from stopped_still) and r.next_run_at is not null
      limit ${most}
      for update skip locked
    )
    update automation_runs r
    set status = 'cancelled', reason = ${stopped}, next_run_at = null
    from locked h
    where r.id = h.id`
  return rows.count
}

export interface RunEvent {
  readonly id: string
  readonly customer: EventCustomer
  readonly data: Readonly<Record<string, unknown>>
}

/** Only with the data keys that are needed: the whole may be large. */
export async function findEventsOfRuns(
  sql: Db,
  wanted: readonly { readonly id: string; readonly keys: readonly string[] }[],
): Promise<RunEvent[]> {
  return await sql<RunEvent[]>`
    select e.id, e.customer, coalesce((
      select json_object_agg(k.key, e.data -> k.key)
      from unnest(w.keys) k(key)
      where e.data -> k.key is not null), '{}') as data
    from json_to_recordset(${jsonRows(wanted)}::text::json) as w(id text, keys text[])
    join automation_events e on e.id = w.id`
}

interface Claimed {
  readonly id: string
  readonly claimed_until: string
}

export interface Ended extends Claimed {
  readonly status: 'skipped' | 'cancelled' | 'failed'
  readonly reason: string
}

export interface Postponed extends Claimed {
  readonly next_run_at: string
  readonly failures: number
}

/** Runs `t` that this process still has claimed and nobody else has locked. */
const stillClaimed = (sql: Db) => sql`
  cross join lateral (
    select id from automation_runs where id = t.id and next_run_at = t.claimed_until for update skip locked) r`

export async function endRuns(sql: Db, endFound: readonly Ended[]): Promise<void> {
  if (endFound.length === 0) return
  await sql`
    with t as materialized (
      select t.*
      from json_to_recordset(${jsonRows(endFound)}::text::json) as t(id text, claimed_until timestamptz,
        status text, reason text) ${stillClaimed(sql)}
    )
    update automation_runs r
    set status = t.status, reason = t.reason, next_run_at = null
    from t
    where r.id = t.id`
}

export async function postponeRuns(sql: Db, runs: readonly Postponed[]): Promise<void> {
  if (runs.length === 0) return
  await sql`
    with t as materialized (
      select t.*
      from json_to_recordset(${jsonRows(runs)}::text::json) as t(id text, claimed_until timestamptz,
        next_run_at timestamptz, failures smallint) ${stillClaimed(sql)}
    )
    update automation_runs r set next_run_at = t.next_run_at, failures = t.failures from t where r.id = t.id`
}
