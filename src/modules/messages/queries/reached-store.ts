/** SQL of whom a channel has reached: to whom templates went, of which those that failed reached nobody. */
import type { Tenant } from '../../../api/caller.ts'
import { idFloor } from '../../../lib/ids.ts'
import type { Db, Fragment } from '../../../platform/database/sql.ts'

/** The templates of one channel from a moment on. */
export interface ReachWindow extends Tenant {
  readonly channel_id: string
  /** Milliseconds since 1970. */
  readonly since_ms: number
}

/** A select of "to", each once, for the statement of whoever asks. */
export const reachedRecipients = (sql: Db, { account_id, mode, channel_id, since_ms }: ReachWindow): Fragment => sql`
  select distinct "to" from messages
  where account_id = ${account_id} and mode = ${mode} and channel_id = ${channel_id} and direction = 'outbound' and id >= ${idFloor('msg', since_ms)}
    and type = 'template' and status <> 'failed'`

/** How many different recipients were reached. */
export async function countReached(sql: Db, window: ReachWindow): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from (${reachedRecipients(sql, window)}) r`
  return row!.count
}

/** Those of these recipients who were reached. */
export async function reachedAmong(
  sql: Db,
  window: ReachWindow,
  recipients: readonly string[],
): Promise<ReadonlySet<string>> {
  if (recipients.length === 0) return new Set()
  const rows = await sql<
    { to: string }[]
  >`select "to" from (${reachedRecipients(sql, window)}) r where "to" = any (${[...recipients]}::text[])`
  return new Set(rows.map(({ to }) => to))
}
