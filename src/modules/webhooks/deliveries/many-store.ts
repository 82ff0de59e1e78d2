/** SQL of many deliveries at once: those of an object's events, and those of an endpoint that are made again. */
import type { Tenant } from '../../../api/caller.ts'
import { jsonRows, type Db } from '../../../platform/database/sql.ts'
import { ended, handedOff, pending, waiting, type DeliveryRow } from './store.ts'

/** The newest events of an object. */
export async function eventsOf(
  sql: Db,
  { account_id, mode }: Tenant,
  object_id: string,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from events where account_id = ${account_id} and mode = ${mode} and object_id = ${object_id} order by position desc, id desc limit ${limit}`
  return rows.map(({ id }) => id)
}

/** By endpoint and id, from wherever they are, newest first. */
export async function findDeliveries(
  sql: Db,
  tenant: Tenant,
  keys: readonly { readonly endpoint_id: string; readonly id: string }[],
): Promise<DeliveryRow[]> {
  if (keys.length === 0) return []
  const { account_id, mode } = tenant
  const wanted = sql`(select endpoint_id, id from json_to_recordset(${jsonRows(keys)}::text::json) as k (endpoint_id text, id text)) wanted`
  const endpoints = [...new Set(keys.map(({ endpoint_id }) => endpoint_id))]
  return await sql<DeliveryRow[]>`
    select * from (
      select ${ended(sql)} from ${wanted} join webhook_deliveries using (endpoint_id, id) where account_id = ${account_id} and mode = ${mode}
      union all select ${pending(sql)} from ${wanted} join webhook_queue using (endpoint_id, id) where account_id = ${account_id} and mode = ${mode}
      union all select ${waiting(sql)} from ${wanted} join webhook_retries using (endpoint_id, id) where account_id = ${account_id} and mode = ${mode}
      union all select handed.* from unnest(${endpoints}::text[]) e (endpoint_id) cross join lateral (${handedOff(sql, tenant, sql`e.endpoint_id`)}) handed
        join ${wanted} on wanted.endpoint_id = handed.endpoint_id and wanted.id = handed.id
    ) every order by id desc, endpoint_id desc`
}

type Ended = 'delivered' | 'failed'

/** Ids of deliveries that ended so and whose event is still kept, oldest first. */
const chosen = (
  sql: Db,
  { account_id, mode }: Tenant,
  endpoint_id: string,
  status: Ended,
  limit: number,
  created_until?: string,
) => sql`
  select id from ${status === 'failed' ? sql`webhook_failures join webhook_deliveries using (account_id, mode, endpoint_id, id)` : sql`webhook_deliveries`}
  where account_id = ${account_id} and mode = ${mode} and endpoint_id = ${endpoint_id} and status = ${status}
    and exists (select from events e where e.account_id = ${account_id} and e.mode = ${mode} and e.id = event_id)
    ${created_until === undefined ? sql`` : sql`and created_at <= ${created_until}::timestamptz`}
  order by id limit ${limit}`

/** How many `retryEnded` would take, as far as `limit`; with `created_until` of those that were there at that time. */
export async function countEnded(
  sql: Db,
  tenant: Tenant,
  endpoint_id: string,
  status: Ended,
  limit: number,
  created_until?: string,
): Promise<number> {
  const rows = await sql`${chosen(sql, tenant, endpoint_id, status, limit, created_until)}`
  return rows.length
}

/** How many that somebody asked for once more have not been attempted yet, as far as `limit`: those that wait for their time, and those that the worker has brought to the queue. */
export async function countRequested(
  sql: Db,
  { account_id, mode }: Tenant,
  endpoint_id: string,
  limit: number,
): Promise<number> {
  const requested = (queue: string) =>
    sql`(select from ${sql(queue)} where account_id = ${account_id} and mode = ${mode} and endpoint_id = ${endpoint_id} and not scheduled limit ${limit})`
  const rows = await sql`${requested('webhook_retries')} union all ${requested('webhook_queue')} limit ${limit}`
  return rows.length
}

/** Takes ended deliveries out of the record for one more attempt, without a schedule; resolves to how many those are. */
export async function retryEnded(
  sql: Db,
  tenant: Tenant,
  endpoint_id: string,
  { status, limit, next_run_at }: { readonly status: Ended; readonly limit: number; readonly next_run_at: string },
): Promise<number> {
  const { account_id, mode } = tenant
  const { count } = await sql`
    with gone as (
      delete from webhook_deliveries
      where account_id = ${account_id} and mode = ${mode} and endpoint_id = ${endpoint_id} and id = any (array(${chosen(sql, tenant, endpoint_id, status, limit)}))
      returning *
    ), forgotten as (
      delete from webhook_failures f using gone g where f.account_id = g.account_id and f.mode = g.mode and f.endpoint_id = g.endpoint_id and f.id = g.id
    )
    insert into webhook_retries (account_id, mode, endpoint_id, id, event_id, event_type, attempts, response_status, duration_ms, error, error_message, scheduled, next_run_at, created_at)
    select account_id, mode, endpoint_id, id, event_id, event_type, attempts, response_status, duration_ms, error, error_message, false, ${next_run_at}::timestamptz, created_at
    from gone`
  return count
}
