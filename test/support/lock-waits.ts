/** Counts waiting locks, so that tests wait for a blocked statement and not for a time. */
import type { Db } from '../../src/platform/database/sql.ts'

export async function lockWaits(sql: Db): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    select count(*)::int as waiting
    from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  return row!.waiting
}
