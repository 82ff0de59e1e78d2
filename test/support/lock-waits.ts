/** Who waits for a lock: a test that wants a statement held up waits until it is, and not for a time. */
import type { Db } from '../../src/platform/database/sql.ts'

/** How many statements of this connection's database wait for a lock. */
export async function lockWaits(sql: Db): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return row!.waiting
}
