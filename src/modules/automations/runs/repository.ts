/** SQL of `automation_runs`: inserts, reads and cancellations. Due runs: due-repository.ts. */
import type { Tenant } from '../../../api/caller.ts'
import type { NewRun, RunRow } from './run.ts'
import type { DomainEventPayloads } from '../../../api/domain-events.ts'
import type { RunOfEvent, RunStatus } from '../../../api/resources/automation-run.ts'
import { addressKeyOf } from '../../contacts/service.ts'
import { type Db, type Fragment, jsonRows, textColumn } from '../../../platform/database/sql.ts'
import type { Page } from '../../../platform/http/paging.ts'

const columns = (sql: Db) =>
  sql`r.account_id, r.mode, r.id, r.source_id, r.automation_id, r.automation_event_id, r.contact_id, r.status, r.reason, r.scheduled_for, r.message_id, r.created_at`

export async function insertRuns(sql: Db, runs: readonly NewRun[]): Promise<void> {
  if (runs.length === 0) return
  const column = (of: (run: NewRun) => string | null) => textColumn(runs.map(of))
  // free text may contain any character, so it cannot use text_column
  const texts = (of: (run: NewRun) => string | null) => runs.map(of)
  await sql`
    insert into automation_runs (account_id, mode, id, source_id, automation_id, automation_event_id,
      contact_id, customer_keys, "to", address, status, reason, scheduled_for, next_run_at, event_type,
      channel_type, created_at)
    select account_id, mode, id, source_id, automation_id, automation_event_id, contact_id,
      customer_keys::text[], "to", address, status, reason, scheduled_for::timestamptz,
      case when status = 'scheduled' then scheduled_for::timestamptz end, event_type, channel_type,
        created_at::timestamptz
    from (
      select unnest(text_column(${column((run) => run.account_id)})) as account_id,
        unnest(text_column(${column((run) => run.mode)})) as mode,
        unnest(text_column(${column((run) => run.id)})) as id,
        unnest(text_column(${column((run) => run.source_id)})) as source_id,
        unnest(text_column(${column((run) => run.automation_id)})) as automation_id,
        unnest(text_column(${column((run) => run.automation_event_id)})) as automation_event_id,
        unnest(text_column(${column((run) => run.contact_id)})) as contact_id,
        unnest(${texts((run) => arrayText(run.customer_keys))}::text[]) as customer_keys,
        unnest(${texts((run) => run.to)}::text[]) as "to",
        unnest(${texts((run) => (run.to === null ? null : addressKeyOf(run.channel_type, run.to).address))}::text[]) as address,
        unnest(text_column(${column((run) => run.status)})) as status,
        unnest(text_column(${column((run) => run.reason)})) as reason,
        unnest(text_column(${column((run) => run.scheduled_for)})) as scheduled_for,
        unnest(${texts((run) => run.event_type)}::text[]) as event_type,
        unnest(text_column(${column((run) => run.channel_type)})) as channel_type,
        unnest(text_column(${column((run) => run.created_at)})) as created_at
    ) t`
}

const arrayText = (values: readonly string[]): string =>
  `{${values.map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`

export interface CustomerEvent extends Tenant {
  readonly id: string
  readonly source_id: string
  readonly customer_keys: readonly string[]
  readonly automation_ids: readonly string[]
}

/** Each event of a batch cancels runs of earlier ones only. The caller holds no wallet lock. */
export async function cancelWaiting(sql: Db, events: readonly CustomerEvent[]): Promise<void> {
  await cancelEarlier(sql, events, 'cancel_on', sql`true`)
}

/** For events of carts and checkouts only. */
export async function restartDelays(sql: Db, events: readonly CustomerEvent[]): Promise<void> {
  await cancelEarlier(sql, events, 'restarted', sql`(w.event_type like 'cart.%' or w.event_type like 'checkout.%')`)
}

/** Filters by customer key first (`offset 0`): a customer has few waiting runs, an automation may have all. */
async function cancelEarlier(
  sql: Db,
  events: readonly CustomerEvent[],
  reason: 'cancel_on' | 'restarted',
  some: Fragment,
): Promise<void> {
  if (events.length === 0) return
  await sql`
    with e as materialized (
      select * from json_to_recordset(${jsonRows(events)}::text::json)
        as t(account_id text, mode text, id text, source_id text, customer_keys text[], automation_ids text[])
    ),
    found as materialized (
      select distinct r.id from e cross join lateral (
        select w.id, w.automation_event_id
        from (
          select *
          from automation_runs
          where customer_keys && e.customer_keys and status = 'scheduled'
          offset 0) w
        where w.source_id = e.source_id
          and w.account_id = e.account_id
          and w.mode = e.mode
          and w.automation_id = any (e.automation_ids)
          and ${some}
      ) r where e.automation_ids <> '{}' and ${isEarlier(sql)}
    )
    ${cancelFound(sql, reason)}`
}

const isEarlier = (sql: Db) =>
  sql`
    r.automation_event_id <> e.id
    and (r.automation_event_id < e.id collate "C"
      or not exists (select from e other where other.id = r.automation_event_id))`

const cancelFound = (sql: Db, reason: string) => endFound(sql, 'cancelled', reason)

/** Locked in ID order. Waits for a run that is becoming a message. */
export const endFound = (sql: Db, status: 'cancelled' | 'skipped', reason: string) => sql`
    , locked as materialized (
      select r.id
      from automation_runs r
      where r.id in (select id from found) and r.status = 'scheduled'
      order by r.id for update)
    update automation_runs r
    set status = ${status}, reason = ${reason}, next_run_at = null
    from locked h
    where r.id = h.id`

export type CancelReason =
  | 'source_disabled'
  | 'source_deleted'
  | 'automation_paused'
  | 'automation_changed'
  | 'automation_deleted'

export interface WaitingOf {
  readonly source_id: string
  readonly automation_id?: string
}

export async function listWaiting(
  sql: Db,
  { account_id, mode }: Tenant,
  { source_id, automation_id }: WaitingOf,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from automation_runs
    where account_id = ${account_id}
      and mode = ${mode}
      and source_id = ${source_id}
      and status = 'scheduled'
      and next_run_at is not null
      ${automation_id === undefined ? sql`` : sql`and automation_id = ${automation_id}`}
    order by id`
  return rows.map(({ id }) => id)
}

export async function cancelRuns(
  sql: Db,
  { account_id, mode }: Tenant,
  ids: readonly string[],
  reason: CancelReason,
): Promise<void> {
  await sql`
    with found as materialized (
      select id
      from automation_runs
      where account_id = ${account_id} and mode = ${mode} and id = any (${ids as string[]}::text[]))
    ${cancelFound(sql, reason)}`
}

export async function forgetRunsOfEvents(
  sql: Db,
  { account_id, mode }: Tenant,
  automation_event_ids: readonly string[],
): Promise<void> {
  if (automation_event_ids.length === 0) return
  const ids = automation_event_ids as string[]
  await sql`
    with found as materialized (
      select id
      from automation_runs
      where account_id = ${account_id}
        and mode = ${mode}
        and automation_event_id = any (${ids}::text[])
        and status = 'scheduled'
    )
    ${endFound(sql, 'skipped', 'contact_deleted')}`
  await sql`
    update automation_runs set customer_keys = '{}', "to" = null, address = null
    where account_id = ${account_id}
      and mode = ${mode}
      and automation_event_id = any (${ids}::text[])
      and status <> 'scheduled'`
}

export async function findRun(sql: Db, { account_id, mode }: Tenant, id: string): Promise<RunRow | null> {
  const [row] = await sql<RunRow[]>`
    select ${columns(sql)}
    from automation_runs r
    where r.account_id = ${account_id} and r.mode = ${mode} and r.id = ${id}`
  return row ?? null
}

export interface RunFilters {
  readonly automation: string | undefined
  readonly status: RunStatus | undefined
}

export async function listRuns(
  sql: Db,
  { account_id, mode }: Tenant,
  { automation, status }: RunFilters,
  page: Page,
): Promise<RunRow[]> {
  return await sql<RunRow[]>`
    select ${columns(sql)} from automation_runs r
    where r.account_id = ${account_id}
      and r.mode = ${mode}
      ${automation === undefined ? sql`` : sql`and r.automation_id = ${automation}`}
      ${status === undefined ? sql`` : sql`and r.status = ${status}`} ${page.starting_after === undefined ? sql`` : sql`and r.id < ${page.starting_after}`}
    order by r.id desc limit ${page.limit + 1}`
}

/** The caller has compared the receipts with the tenant. */
export async function listRunsOfEvents(
  sql: Db,
  automation_event_ids: readonly string[],
): Promise<Map<string, RunOfEvent[]>> {
  const rows = await sql<(RunOfEvent & { automation_event_id: string })[]>`
    select r.automation_event_id, r.id, r.automation_id, r.status, r.scheduled_for, r.message_id, r.reason
    from automation_runs r
    where r.automation_event_id = any (${automation_event_ids as string[]}::text[]) order by r.id`
  const runs = new Map<string, RunOfEvent[]>()
  for (const { automation_event_id, ...run } of rows) {
    const known = runs.get(automation_event_id)
    if (known === undefined) runs.set(automation_event_id, [run])
    else known.push(run)
  }
  return runs
}

const atOnce = 1000

export async function skipUnsubscribedRuns(
  sql: Db,
  events: readonly DomainEventPayloads['opted_out'][],
): Promise<void> {
  await sql`
    with f as (
      select *
      from json_to_recordset(${jsonRows(events)}::text::json) as t(account_id text, mode text,
        channel_type text, address text, contact_id text)),
    found as materialized (
      select r.id from f
      join automation_runs r on r.account_id = f.account_id
        and r.mode = f.mode
        and r.address = f.address
        and r.channel_type = f.channel_type
        and r.status = 'scheduled'
      union
      -- the contact's number may have changed since the event
      select r.id from f
      join automation_runs r on r.account_id = f.account_id
        and r.mode = f.mode
        and r.contact_id = f.contact_id
        and r.channel_type = f.channel_type
        and r.status = 'scheduled'
    )
    ${endFound(sql, 'skipped', 'unsubscribed')}`
}

export async function skipRunsOfContacts(
  sql: Db,
  events: readonly DomainEventPayloads['contact_deleted'][],
): Promise<void> {
  await sql`
    with found as materialized (
      select r.id
      from json_to_recordset(${jsonRows(events)}::text::json) as f(account_id text, mode text,
        contact_id text)
      join automation_runs r on r.account_id = f.account_id
        and r.mode = f.mode
        and r.contact_id = f.contact_id
        and r.status = 'scheduled'
    )
    ${endFound(sql, 'skipped', 'contact_deleted')}`
}

export async function cancelRunsOfChannels(
  sql: Db,
  events: readonly DomainEventPayloads['channel_deleted'][],
): Promise<void> {
  await sql`
    with found as materialized (
      select r.id
      from json_to_recordset(${jsonRows(events)}::text::json) as f(account_id text, mode text,
        channel_id text)
      join automations a on a.account_id = f.account_id and a.mode = f.mode and a.channel_id = f.channel_id
      join automation_runs r on r.account_id = a.account_id
        and r.mode = a.mode
        and r.automation_id = a.id
        and r.status = 'scheduled'
      limit ${atOnce}
    )
    ${endFound(sql, 'cancelled', 'channel_deleted')}`
}

/**
 * The first are cancelled with the event, the others by a periodic job; none is sent meanwhile (behaviour: integrations
 * 6.5, 6.6).
 */
export async function cancelRunsOfAccounts(
  sql: Db,
  events: readonly DomainEventPayloads['account_suspended'][],
): Promise<void> {
  const ids = events.map(({ account_id }) => account_id)
  await sql`
    with found as materialized (
      select r.id
      from automation_runs r
      where r.account_id = any (${ids}::text[]) and r.mode in ('live', 'test') and r.status = 'scheduled'
      limit ${atOnce}
    )
    ${endFound(sql, 'cancelled', 'account_suspended')}`
}
