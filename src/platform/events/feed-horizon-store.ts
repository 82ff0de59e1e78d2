/** SQL of the feed's horizon: which running transactions hold it back, and whether readers look whose they are (docs/decisions/feed-horizon.md). */
import type { Db } from '../database/sql.ts'

/** A transaction that was running when the statement began, and has not ended since. */
export interface RunningTransaction {
  readonly xid: string
  /** Proven to write no event: it holds nothing up where readers look. */
  readonly bystander: boolean
  /** Null where nobody can be told, as for the other three. */
  readonly database: string | null
  /** Null also for a prepared transaction. */
  readonly pid: number | null
  readonly role: string | null
  readonly application_name: string | null
  /** The name of a prepared transaction. */
  readonly prepared_as: string | null
  /** ISO 8601. Null where our role may not see it. */
  readonly began: string | null
}

/** Where the horizon stands now, and whether readers look whose the transactions before it are. */
export interface HorizonState {
  /** The oldest running transaction of the whole cluster; null when none runs. */
  readonly oldest: string | null
  readonly held: boolean
}

export async function readHorizon(sql: Db): Promise<HorizonState> {
  const [row] = await sql<HorizonState[]>`
    select case when pg_snapshot_xmin(s) < pg_snapshot_xmax(s) then pg_snapshot_xmin(s)::text end as oldest, feed_held as held
    from installation, pg_current_snapshot() s`
  return row!
}

/** Oldest first. */
export async function listRunning(sql: Db): Promise<RunningTransaction[]> {
  return await sql<RunningTransaction[]>`
    select r.xid::text as xid, r.bystander, d.datname as database, r.pid, o.rolname as role, r.application_name, r.prepared_as, r.began
    from feed_running() r left join pg_database d on d.oid = r.database_oid left join pg_roles o on o.oid = r.role_oid
    where pg_xact_status(r.xid) = 'in progress' order by r.xid`
}

/** Lets readers look past bystanders, where that gets them further; whether it does so now and did not before. */
export async function lookPastBystanders(sql: Db): Promise<boolean> {
  const rows = await sql`
    update installation set feed_held = true
    where not feed_held and feed_attributed_xmin() > pg_snapshot_xmin(pg_current_snapshot())::text::bigint returning 1`
  return rows.length > 0
}

/** Readers no longer look. */
export async function stopLooking(sql: Db): Promise<void> {
  await sql`update installation set feed_held = false where feed_held`
}
