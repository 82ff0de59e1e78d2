/** Counts waiting locks, so that a test can wait for a blocked statement. */
import type { Db } from '../../src/platform/database/sql.ts'

export async function lockWaits(sql: Db): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    select count(*)::int as waiting
    from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  return row!.waiting
}
