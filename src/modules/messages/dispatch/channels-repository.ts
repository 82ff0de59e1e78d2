/** SQL of channel pauses (throttling), for other processes and operators. */
import type { Tenant } from '../../../api/caller.ts'
import type { Db } from '../../../platform/database/sql.ts'

export interface PauseRow {
  account_id: string
  channel_id: string
  channel_type: string
  process_id: string
  paused_at: string
  paused_until: string
  times: number
  pace: number
}

const keptFor = '1 minute'

/** Also deletes old pauses. */
export async function savePause(sql: Db, row: PauseRow): Promise<void> {
  await sql`
    delete from channel_pauses
    where paused_until < ${row.paused_at}::timestamptz - ${keptFor}::interval
      and channel_id <> ${row.channel_id}`
  await sql`
    insert into channel_pauses as p (
      channel_id, account_id, channel_type, process_id, paused_at, paused_until, times, pace
    )
    values (
      ${row.channel_id}, ${row.account_id}, ${row.channel_type}, ${row.process_id}, ${row.paused_at},
      ${row.paused_until}, ${row.times}, ${row.pace}
    )
    on conflict (channel_id) do update set process_id = excluded.process_id,
      paused_until = excluded.paused_until, times = excluded.times, pace = excluded.pace,
      paused_at = case when excluded.times = 1 then excluded.paused_at else p.paused_at end`
}

export async function deletePause(sql: Db, channel_id: string): Promise<void> {
  await sql`delete from channel_pauses where channel_id = ${channel_id}`
}

export async function listPausesElsewhere(
  sql: Db,
  channel_ids: readonly string[],
  process_id: string,
): Promise<PauseRow[]> {
  return await sql<PauseRow[]>`
    select *
    from channel_pauses
    where channel_id = any(${[...channel_ids]}::text[])
      and process_id <> ${process_id}`
}

/** Includes pauses that ended moments ago. */
export async function listPauses(sql: Db, { account_id }: Pick<Tenant, 'account_id'>, at: string): Promise<PauseRow[]> {
  return await sql<PauseRow[]>`
    select *
    from channel_pauses
    where account_id = ${account_id}
      and paused_until >= ${at}::timestamptz - ${keptFor}::interval
    order by channel_id`
}
