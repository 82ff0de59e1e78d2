/** SQL of how many recipients a channel has reached. */
import type { Tenant } from '../../../contract/caller.ts'
import { idFloor } from '../../../lib/ids.ts'
import type { Db } from '../../../platform/database/sql.ts'

/** How many different recipients were sent a template on this channel since `since_ms`; of what failed nobody was. */
export async function countReached(sql: Db, { account_id, mode }: Tenant, channel_id: string, since_ms: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(distinct "to")::int as count from messages
    where account_id = ${account_id} and mode = ${mode} and channel_id = ${channel_id} and direction = 'outbound' and id >= ${idFloor('msg', since_ms)}
      and type = 'template' and status <> 'failed'`
  return row!.count
}
