/** SQL of `automations`. */
import type { Tenant } from '../../../contract/caller.ts'
import type { Db } from '../../../platform/database/sql.ts'

/** Marks those of a source deleted. */
export async function deleteAutomationsOfSource(sql: Db, { account_id, mode }: Tenant, source_id: string, at: string): Promise<void> {
  await sql`
    update automations set status = 'paused', deleted_at = ${at}, updated_at = ${at}
    where account_id = ${account_id} and mode = ${mode} and source_id = ${source_id} and deleted_at is null`
}

/** What the active automations of a source do about a type of event. */
export interface EnabledEvent {
  readonly source_id: string
  readonly event_type: string
  /** The shortest of theirs. */
  readonly delay_seconds: number
}

/** Of these sources, by type. */
export async function enabledEventsOf(sql: Db, { account_id, mode }: Tenant, source_ids: readonly string[]): Promise<EnabledEvent[]> {
  return await sql<EnabledEvent[]>`
    select source_id, event_type, min(delay_seconds)::int as delay_seconds from automations
    where account_id = ${account_id} and mode = ${mode} and source_id = any (${source_ids as string[]}::text[]) and status = 'active' and deleted_at is null
    group by source_id, event_type order by source_id, event_type`
}
