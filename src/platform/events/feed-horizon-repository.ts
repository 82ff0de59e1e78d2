/** SQL of the feed horizon: which running transactions block it (docs/decisions/feed-horizon.md). */
import type { Db } from '../database/sql.ts'

export interface RunningTransaction {
  readonly xid: string
  /** Writes no event, so it blocks only readers that do not skip it. */
  readonly unrelated: boolean
  readonly database: string | null
  readonly pid: number | null
  readonly role: string | null
  readonly application_name: string | null
  readonly prepared_as: string | null
  readonly started_at: string | null
}

export interface HorizonState {
  /** Of the whole cluster; null if none runs. */
  readonly oldest: string | null
  readonly skips_unrelated: boolean
}

export async function readHorizon(sql: Db): Promise<HorizonState> {
  const [row] = await sql<HorizonState[]>`
    select
      case when pg_snapshot_xmin(s) < pg_snapshot_xmax(s) then pg_snapshot_xmin(s)::text end as oldest,
      feed_skips_unrelated as skips_unrelated
    from installation, pg_current_snapshot() s`
  return row!
}

/** Oldest first. */
export async function listRunning(sql: Db): Promise<RunningTransaction[]> {
  return await sql<RunningTransaction[]>`
    select t.xid::text as xid, t.unrelated, d.datname as database, t.pid, r.rolname as role, t.application_name,
      t.prepared_as, t.started_at
    from feed_running_transactions() t
    left join pg_database d on d.oid = t.database_oid
    left join pg_roles r on r.oid = t.role_oid
    where pg_xact_status(t.xid) = 'in progress'
    order by t.xid`
}

/** If that moves the horizon. False if nothing changed. */
export async function skipUnrelatedTransactions(sql: Db): Promise<boolean> {
  const rows = await sql`
    update installation set feed_skips_unrelated = true
    where not feed_skips_unrelated
      and feed_attributed_xmin() > pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    returning 1`
  return rows.length > 0
}

export async function stopSkippingUnrelated(sql: Db): Promise<void> {
  await sql`update installation set feed_skips_unrelated = false where feed_skips_unrelated`
}
