/** SQL of `campaign_jobs`: campaigns that a process must work on, one process at a time. */
import type { Tenant } from '../../api/caller.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import { isAlive } from '../../platform/jobs/processes-store.ts'

export type JobKind = 'snapshot' | 'send'

export interface Job extends Tenant {
  readonly campaign_id: string
  /** Passes that failed, in a row. */
  readonly failures: number
  /** Something may have happened to it since it was looked at last: it was nobody's, or its lease was written anew. */
  readonly changed: boolean
}

type CampaignKey = Tenant & { readonly id: string }
type JobKey = Tenant & { readonly campaign_id: string }

/** Makes a campaign somebody's work from `next_run_at` on; what there was of it before is replaced. */
export async function putJob(
  sql: Db,
  { account_id, mode, id }: CampaignKey,
  kind: JobKind,
  next_run_at: string,
): Promise<void> {
  await sql`
    insert into campaign_jobs (campaign_id, account_id, mode, kind, next_run_at) values (${id}, ${account_id}, ${mode}, ${kind}, ${next_run_at})
    on conflict (campaign_id) do update set kind = excluded.kind, next_run_at = excluded.next_run_at, process_id = null, lease_until = null, failures = 0`
}

export async function deleteJob(sql: Db, { account_id, mode, id }: CampaignKey): Promise<void> {
  await sql`delete from campaign_jobs where account_id = ${account_id} and mode = ${mode} and campaign_id = ${id}`
}

/** Whether any work of this kind is due at `at`, whoever has it: most of the time there is none, and this costs a fraction of claiming it. */
export async function anyDue(sql: Db, kind: JobKind, at: string): Promise<boolean> {
  const rows = await sql`select 1 from campaign_jobs where kind = ${kind} and next_run_at <= ${at} limit 1`
  return rows.length > 0
}

export interface Claim {
  readonly process_id: string
  readonly at: string
  readonly lease_until: string
  readonly alive_since: string
  readonly jobs_max: number
}

/**
 * Takes due work of this kind, of any tenant, for this process: what is its own already, and what is nobody's, or of a process that is silent or has let its lease end. A lease is written
 * anew when half of it is over: whoever has much work would otherwise write it at every look.
 */
export async function claimJobs(
  sql: Db,
  kind: JobKind,
  { process_id, at, lease_until, alive_since, jobs_max }: Claim,
): Promise<Job[]> {
  const renew_before = isoTime((Date.parse(at) + Date.parse(lease_until)) / 2)
  return await sql<Job[]>`
    with own as materialized (
      select campaign_id, account_id, mode, failures, false as changed from campaign_jobs
      where kind = ${kind} and next_run_at <= ${at} and process_id = ${process_id} and lease_until >= ${renew_before} order by next_run_at, campaign_id limit ${jobs_max}
    ),
    taken as (
      update campaign_jobs set process_id = ${process_id}, lease_until = ${lease_until}
      where campaign_id in (
        select j.campaign_id from campaign_jobs j
        where j.kind = ${kind} and j.next_run_at <= ${at} and not exists (select from own where own.campaign_id = j.campaign_id)
          and (j.process_id is null or j.process_id = ${process_id} or j.lease_until < ${at} or not ${isAlive(sql, sql`j.process_id`, alive_since)})
        order by j.next_run_at, j.campaign_id limit greatest(${jobs_max}::int - (select count(*)::int from own), 0)
        for update skip locked
      )
      returning campaign_id, account_id, mode, failures, true as changed
    )
    select * from own union all select * from taken`
}

/** Nothing is to be done for this campaign before `next_run_at`; whoever comes first then does it. */
export async function postponeJob(
  sql: Db,
  { account_id, mode, id }: CampaignKey,
  process_id: string,
  next_run_at: string,
): Promise<void> {
  await sql`
    update campaign_jobs set next_run_at = ${next_run_at}, process_id = null, lease_until = null, failures = 0
    where account_id = ${account_id} and mode = ${mode} and campaign_id = ${id} and process_id = ${process_id}`
}

/** Puts work that is not done yet behind the rest that is due: whoever comes first goes on with it. */
export async function requeueJob(sql: Db, { account_id, mode, id }: CampaignKey, at: string): Promise<void> {
  await sql`
    update campaign_jobs set next_run_at = ${at}, process_id = null, lease_until = null, failures = 0
    where account_id = ${account_id} and mode = ${mode} and campaign_id = ${id}`
}

/** Counts a pass that failed, after which the work is due again in a second, then two, four, up to a minute; resolves to how many there were in a row. */
export async function countFailure(
  sql: Db,
  { account_id, mode, campaign_id }: JobKey,
  process_id: string,
  at: string,
): Promise<number> {
  const [row] = await sql<{ failures: number }[]>`
    update campaign_jobs set failures = failures + 1, next_run_at = ${at}::timestamptz + least(60, power(2, failures)) * interval '1 second'
    where account_id = ${account_id} and mode = ${mode} and campaign_id = ${campaign_id} and process_id = ${process_id} returning failures`
  return row?.failures ?? 0
}

/** After a pass that did not fail. */
export async function forgetFailures(
  sql: Db,
  { account_id, mode, campaign_id }: JobKey,
  process_id: string,
): Promise<void> {
  await sql`
    update campaign_jobs set failures = 0
    where account_id = ${account_id} and mode = ${mode} and campaign_id = ${campaign_id} and process_id = ${process_id}`
}

/** Keeps other processes from taking the work until the transaction ends; false when one has. */
export async function lockJob(
  sql: Db,
  { account_id, mode, campaign_id }: JobKey,
  process_id: string,
): Promise<boolean> {
  const locked = await sql`
    select 1 from campaign_jobs where account_id = ${account_id} and mode = ${mode} and campaign_id = ${campaign_id} and process_id = ${process_id} for update`
  return locked.length > 0
}
