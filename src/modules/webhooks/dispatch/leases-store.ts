/** SQL of the leases on endpoints: which process makes the attempts at one, and how many have failed in a row. */
import { textColumn, type Db, type Fragment } from '../../../platform/database/sql.ts'
import { isAlive } from '../../../platform/jobs/processes-store.ts'

export interface LeaseOptions {
  readonly process_id: string
  readonly at: string
  readonly lease_until: string
  /** Processes that beat after this time live. */
  readonly alive_since: string
}

/** Takes those leases on these endpoints that nobody living holds; resolves to the endpoints whose lease was taken. */
export async function takeLeases(
  sql: Db,
  endpoint_ids: readonly string[],
  { process_id, at, lease_until, alive_since }: LeaseOptions,
): Promise<string[]> {
  const rows = await sql<{ endpoint_id: string }[]>`
    update webhook_leases l set process_id = ${process_id}, lease_until = ${lease_until}
    where l.endpoint_id in (
      select f.endpoint_id from webhook_leases f
      where f.endpoint_id = any(${[...endpoint_ids]}::text[]) and f.process_id is distinct from ${process_id}
        and (f.process_id is null or f.lease_until <= ${at} or not ${isAlive(sql, sql`f.process_id`, alive_since)})
      order by f.endpoint_id for update skip locked)
    returning l.endpoint_id`
  return rows.map((row) => row.endpoint_id)
}

/** Those of these endpoints of which `condition` holds, locked in the one order that everybody uses: an update alone locks as it comes across them. */
const lockedOf = (sql: Db, endpoint_ids: readonly string[], condition: Fragment) => sql`
  select endpoint_id from webhook_leases where endpoint_id = any(${[...endpoint_ids]}::text[]) and ${condition} order by endpoint_id for update`

/** Prolongs leases; those not returned are lost. */
export async function renewLeases(
  sql: Db,
  process_id: string,
  endpoint_ids: readonly string[],
  lease_until: string,
): Promise<string[]> {
  const rows = await sql<{ endpoint_id: string }[]>`
    update webhook_leases set lease_until = ${lease_until} where endpoint_id in (${lockedOf(sql, endpoint_ids, sql`process_id = ${process_id}`)}) returning endpoint_id`
  return rows.map((row) => row.endpoint_id)
}

export async function releaseLeases(sql: Db, process_id: string, endpoint_ids: readonly string[]): Promise<void> {
  await sql`update webhook_leases set process_id = null where endpoint_id in (${lockedOf(sql, endpoint_ids, sql`process_id = ${process_id}`)})`
}

/** Failed attempts in a row of an endpoint. */
export interface FailureCount {
  readonly endpoint_id: string
  readonly failures: number
}

/** Locked until the transaction ends. */
export async function lockFailures(sql: Db, endpoint_ids: readonly string[]): Promise<FailureCount[]> {
  return await sql<FailureCount[]>`
    select endpoint_id, failures from webhook_leases where endpoint_id = any(${[...endpoint_ids]}::text[]) order by endpoint_id for update`
}

export async function writeFailures(sql: Db, counts: readonly FailureCount[]): Promise<void> {
  await sql`
    update webhook_leases l set failures = c.failures
    from (select unnest(text_column(${textColumn(counts.map((one) => one.endpoint_id))})) as endpoint_id, unnest(text_column(${textColumn(counts.map((one) => one.failures))}))::int as failures) c
    where l.endpoint_id = c.endpoint_id`
}

/** The failures in a row of these endpoints are over. */
export async function clearFailures(sql: Db, endpoint_ids: readonly string[]): Promise<void> {
  await sql`update webhook_leases set failures = 0 where endpoint_id in (${lockedOf(sql, endpoint_ids, sql`failures > 0`)})`
}

export async function failuresOf(sql: Db, endpoint_id: string): Promise<number> {
  const [row] = await sql<
    { failures: number }[]
  >`select failures from webhook_leases where endpoint_id = ${endpoint_id}`
  return row?.failures ?? 0
}
