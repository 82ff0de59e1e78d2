/** SQL of `campaign_jobs`: the next step of each campaign, claimed by one process at a time. */
import type { Tenant } from '../../api/caller.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import { isAlive } from '../../platform/jobs/process-registry.ts'

export type JobKind = 'snapshot' | 'send'

export interface Job extends Tenant {
  readonly campaign_id: string
  readonly failures: number
  /** It was unclaimed, or its lease was renewed: the campaign may have changed since the last poll. */
  readonly changed: boolean
}

type CampaignKey = Tenant & { readonly id: string }
type JobKey = Tenant & { readonly campaign_id: string }

export async function putJob(
  sql: Db,
  { account_id, mode, id }: CampaignKey,
  kind: JobKind,
  next_run_at: string,
): Promise<void> {
  await sql`
    insert into campaign_jobs (campaign_id, account_id, mode, kind, next_run_at)
    values (${id}, ${account_id}, ${mode}, ${kind}, ${next_run_at})
    on conflict (campaign_id) do update
      set kind = excluded.kind, next_run_at = excluded.next_run_at, process_id = null, lease_until = null,
        failures = 0`
}

export async function deleteJob(sql: Db, { account_id, mode, id }: CampaignKey): Promise<void> {
  await sql`
    delete from campaign_jobs where account_id = ${account_id} and mode = ${mode} and campaign_id = ${id}`
}

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
 * This process's own jobs, unclaimed ones, and those of dead processes or expired leases. A lease is renewed at half
 * its time, to avoid a write per poll.
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
      where kind = ${kind}
        and next_run_at <= ${at}
        and process_id = ${process_id}
        and lease_until >= ${renew_before}
      order by next_run_at, campaign_id
      limit ${jobs_max}
    ),
    taken as (
      update campaign_jobs set process_id = ${process_id}, lease_until = ${lease_until}
      where campaign_id in (
        select j.campaign_id from campaign_jobs j
        where j.kind = ${kind}
          and j.next_run_at <= ${at}
          and not exists (select from own where own.campaign_id = j.campaign_id)
          and (j.process_id is null or j.process_id = ${process_id} or j.lease_until < ${at} or not ${isAlive(sql, sql`j.process_id`, alive_since)})
        order by j.next_run_at, j.campaign_id
        limit greatest(${jobs_max}::int - (select count(*)::int from own), 0)
        for update skip locked
      )
      returning campaign_id, account_id, mode, failures, true as changed
    )
    select * from own union all select * from taken`
}

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

export async function requeueJob(sql: Db, { account_id, mode, id }: CampaignKey, at: string): Promise<void> {
  await sql`
    update campaign_jobs set next_run_at = ${at}, process_id = null, lease_until = null, failures = 0
    where account_id = ${account_id} and mode = ${mode} and campaign_id = ${id}`
}

/** Postpones by 1, 2, 4 … up to 60 s. Resolves to the number of consecutive failures. */
export async function countFailure(
  sql: Db,
  { account_id, mode, campaign_id }: JobKey,
  process_id: string,
  at: string,
): Promise<number> {
  const [row] = await sql<{ failures: number }[]>`
    update campaign_jobs
    set failures = failures + 1, next_run_at = ${at}::timestamptz + least(60, power(2,
      failures)) * interval '1 second'
    where account_id = ${account_id}
      and mode = ${mode}
      and campaign_id = ${campaign_id}
      and process_id = ${process_id}
    returning failures`
  return row?.failures ?? 0
}

export async function forgetFailures(
  sql: Db,
  { account_id, mode, campaign_id }: JobKey,
  process_id: string,
): Promise<void> {
  await sql`
    update campaign_jobs set failures = 0
    where account_id = ${account_id}
      and mode = ${mode}
      and campaign_id = ${campaign_id}
      and process_id = ${process_id}`
}

export async function lockJob(
  sql: Db,
  { account_id, mode, campaign_id }: JobKey,
  process_id: string,
): Promise<boolean> {
  const locked = await sql`
    select 1
    from campaign_jobs
    where account_id = ${account_id}
      and mode = ${mode}
      and campaign_id = ${campaign_id}
      and process_id = ${process_id}
    for update`
  return locked.length > 0
}
