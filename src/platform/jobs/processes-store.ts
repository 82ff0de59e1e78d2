/** SQL of `processes`: which of this installation are heard of. */
import type { Db, Fragment } from '../database/sql.ts'

/** Says that this process, with these roles, lives. */
export async function writeBeat(sql: Db, process_id: string, roles: readonly string[], at: string): Promise<void> {
  await sql`
    insert into processes (id, roles, started_at, heartbeat_at) values (${process_id}, ${[...roles]}::text[], ${at}, ${at})
    on conflict (id) do update set heartbeat_at = excluded.heartbeat_at`
}

/** Whether a process that runs workers was heard of after `alive_since`. */
export async function isAnyWorking(sql: Db, alive_since: string): Promise<boolean> {
  const rows = await sql`select 1 from processes where heartbeat_at > ${alive_since} and 'worker' = any(roles) limit 1`
  return rows.length > 0
}

/** Whether the process that the expression names was heard of after `alive_since`: only then what it has in hand is its own. */
export const isAlive = (sql: Db, process_id: Fragment, alive_since: string): Fragment =>
  sql`exists (select from processes p where p.id = ${process_id} and p.heartbeat_at > ${alive_since})`
