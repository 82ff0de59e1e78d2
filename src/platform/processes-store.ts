/** SQL of `processes`: which of this installation are heard of. */
import type { Db, Fragment } from './database/sql.ts'

/** Whether the process that the expression names was heard of after `alive_since`: only then what it has in hand is its own. */
export const isAlive = (sql: Db, process_id: Fragment, alive_since: string): Fragment =>
  sql`exists (select from processes p where p.id = ${process_id} and p.beat_at > ${alive_since})`
