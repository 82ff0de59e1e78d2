/** SQL of the places that expensive reads of all processes share: advisory locks, which end with the transaction. */
import { advisoryLocks } from './locks.ts'
import type { Db, Transaction } from './sql.ts'

/** The session of this transaction, and whether it took a place among `places` of the installation and one among `own_places` of the account. */
export async function takePlaces(
  tx: Transaction,
  account_id: string,
  places: number,
  own_places: number,
): Promise<{ pid: number; taken: boolean }> {
  const [row] = await tx<{ pid: number; taken: boolean }[]>`
    select pg_backend_pid() as pid,
      (select slot from generate_series(1, ${own_places}::int) slot where pg_try_advisory_xact_lock(hashtextextended(${`expensive read ${account_id} `} || slot, 0)) limit 1) is not null
      and (select slot from generate_series(1, ${places}::int) slot where pg_try_advisory_xact_lock(${advisoryLocks.expensive_reads}::bigint + slot) limit 1) is not null as taken`
  return row!
}

/** Ends the statement that the session runs; of one that rests between statements, nothing. */
export async function cancelStatement(sql: Db, pid: number): Promise<void> {
  await sql`select pg_cancel_backend(${pid})`
}
