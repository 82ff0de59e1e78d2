/** SQL of what came in on a channel. */
import type { Tenant } from '../../../api/caller.ts'
import { idFloor } from '../../../lib/ids.ts'
import type { Db } from '../../../platform/database/sql.ts'

export interface InboundWindow extends Tenant {
  readonly channel_id: string
  /** Milliseconds since 1970. */
  readonly since_ms: number
  readonly until_ms: number
}

export interface InboundRow {
  readonly id: string
  readonly from: string
  readonly contact_id: string | null
  readonly created_at: string
}

/** An id is made when its message's `created_at` is taken; this much later at most, or earlier. */
const idSlackMs = 1000

/** Up to `limit`, oldest first. */
export async function listInbound(
  sql: Db,
  { account_id, mode, channel_id, since_ms, until_ms }: InboundWindow,
  limit: number,
): Promise<InboundRow[]> {
  const [from, below] = [idFloor('msg', Math.max(0, since_ms - idSlackMs)), idFloor('msg', until_ms + idSlackMs)]
  return await sql<InboundRow[]>`
    select id, "from", contact_id, created_at from messages
    where account_id = ${account_id} and mode = ${mode} and channel_id = ${channel_id} and direction = 'inbound' and id >= ${from} and id < ${below}
    order by id limit ${limit}`
}
