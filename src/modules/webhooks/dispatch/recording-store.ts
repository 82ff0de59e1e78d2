/** SQL that records how attempts ended. Successes, which nearly all are, take one statement; everything else goes step by step, in a transaction of the recorder. */
import { textColumn, jsonRows, type Db } from '../../../platform/database/sql.ts'
import type { DeliveryGroup } from '../fan-out/handoff-store.ts'
import type { AttemptResult } from './attempt.ts'

/** A first attempt of a delivery that was handed off. */
export interface HandedOffResult {
  readonly group: DeliveryGroup
  readonly event_id: string
  readonly result: AttemptResult
}

/** Successes of deliveries that were handed off, and the end of the batches of which nothing is left (`webhook_record_handed_off`). Fails (23505) where one is on record already. */
export async function recordHandedOffSuccesses(
  sql: Db,
  process_id: string,
  done: readonly HandedOffResult[],
  ended_batches: readonly number[],
): Promise<void> {
  const numbers = new Map<DeliveryGroup, number>()
  for (const { group } of done) if (!numbers.has(group)) numbers.set(group, numbers.size + 1)
  const groups = [...numbers.keys()]
  const column = (of: (one: HandedOffResult) => string | number | null) => textColumn(done.map(of))
  const shared = (of: (group: DeliveryGroup) => string | number) => textColumn(groups.map(of))
  await sql`
    select webhook_record_handed_off(
      p_process => ${process_id}, p_batches => ${textColumn([...new Set(groups.map((group) => group.batch))])}, p_ended => ${textColumn(ended_batches)},
      p_group_batches => ${shared((group) => group.batch)}, p_group_endpoints => ${shared((group) => group.endpoint_id)},
      p_group_accounts => ${shared((group) => group.account_id)}, p_group_modes => ${shared((group) => group.mode)},
      p_group_types => ${shared((group) => group.event_type)}, p_group_times => ${shared((group) => group.created_at)},
      p_groups => ${column((one) => numbers.get(one.group)!)}, p_ids => ${column((one) => one.result.id)}, p_event_ids => ${column((one) => one.event_id)},
      p_response_statuses => ${column((one) => one.result.response_status)}, p_durations => ${column((one) => one.result.duration_ms)})`
}

/** Successes of deliveries from the queue (`webhook_record_queued`). Fails (23505) where one is on record already. */
export async function recordQueuedSuccesses(sql: Db, done: readonly AttemptResult[]): Promise<void> {
  const column = (of: (one: AttemptResult) => string | number | null) => textColumn(done.map(of))
  await sql`
    select webhook_record_queued(p_endpoint_ids => ${column((one) => one.endpoint_id)}, p_ids => ${column((one) => one.id)}, p_attempts => ${column((one) => one.attempts)},
      p_response_statuses => ${column((one) => one.response_status)}, p_durations => ${column((one) => one.duration_ms)})`
}

/** What a delivery is, beside how its attempt ended. */
export interface AttemptedDelivery {
  readonly account_id: string
  readonly mode: string
  readonly endpoint_id: string
  readonly id: string
  readonly event_id: string
  readonly event_type: string
  readonly scheduled: boolean
  readonly created_at: string
}

/** Names a delivery. */
export interface DeliveryKey {
  readonly endpoint_id: string
  readonly id: string
}

/** Takes these off the queue; resolves to those that were there. The others were recorded by someone else. */
export async function takeFromQueue(sql: Db, keys: readonly DeliveryKey[]): Promise<AttemptedDelivery[]> {
  return await sql<AttemptedDelivery[]>`
    delete from webhook_queue q
    using (select unnest(text_column(${textColumn(keys.map((key) => key.endpoint_id))})) as endpoint_id, unnest(text_column(${textColumn(keys.map((key) => key.id))})) as id) k
    where q.endpoint_id = k.endpoint_id and q.id = k.id
    returning q.account_id, q.mode, q.endpoint_id, q.id, q.event_id, q.event_type, q.scheduled, q.created_at`
}

/**
 * Puts on record what ended, and up for a retry what is attempted again; passes over what is there already, as after a commit whose answer was lost, also where the
 * retry has come due or been made since. Resolves to what was written.
 */
export async function insertResults(
  sql: Db,
  rows: readonly (AttemptedDelivery & AttemptResult)[],
): Promise<DeliveryKey[]> {
  return await sql<DeliveryKey[]>`
    with d as materialized (
      select * from json_to_recordset(${jsonRows(rows)}::text::json) as r (account_id text, mode text, endpoint_id text, id text, event_id text, event_type text, scheduled boolean,
        created_at timestamptz, status text, attempts int, response_status int, duration_ms int, error text, error_message text, next_attempt_at timestamptz)
    ), ended as (
      insert into webhook_deliveries (account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms, error, error_message, created_at)
      select account_id, mode, endpoint_id, id, event_id, event_type, status, attempts, response_status, duration_ms, error, error_message, created_at
      from d where status is not null on conflict do nothing
      returning account_id, mode, endpoint_id, id, status
    ), failed as (
      insert into webhook_failures (account_id, mode, endpoint_id, id) select account_id, mode, endpoint_id, id from ended where status = 'failed' on conflict do nothing
    ), retried as (
      insert into webhook_retries (account_id, mode, endpoint_id, id, event_id, event_type, attempts, response_status, duration_ms, error, error_message, scheduled, next_run_at, created_at)
      select account_id, mode, endpoint_id, id, event_id, event_type, attempts, response_status, duration_ms, error, error_message, scheduled, next_attempt_at, created_at
      from d where status is null
        and not exists (select 1 from webhook_queue q where q.endpoint_id = d.endpoint_id and q.id = d.id)
        and not exists (select 1 from webhook_deliveries w where w.endpoint_id = d.endpoint_id and w.id = d.id)
      on conflict do nothing returning endpoint_id, id
    )
    select endpoint_id, id from ended union all select endpoint_id, id from retried`
}
