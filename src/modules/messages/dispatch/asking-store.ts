/** SQL of asking providers: whose message one is that a provider tells of. */
import type { Tenant } from '../../../api/caller.ts'
import { jsonRows, type Db } from '../../../platform/database/sql.ts'

/** Whether a message to the same recipient is on its way over the channel, whose provider's id nobody knows yet. Of those in doubt themselves, the first one goes first. */
export async function isAnotherInHand(
  sql: Db,
  { channel_id, message_id, to }: { channel_id: string; message_id: string; to: string },
): Promise<boolean> {
  const rows = await sql`
    select 1 from dispatch_jobs j join messages m on m.account_id = j.account_id and m.mode = j.mode and m.id = j.message_id
    where j.process_id is not null and j.channel_id = ${channel_id} and j.message_id <> ${message_id} and (not j.outcome_unknown or j.message_id < ${message_id}) and m."to" = ${to}
    limit 1`
  return rows.length > 0
}

/** Ids by which a channel's provider is said to know a message. */
export interface ClaimedIds extends Tenant {
  readonly channel_id: string
  readonly message_id: string
  readonly provider_ids: readonly string[]
}

/** Those of these ids by which the provider knows other messages, and which message was said to have them. */
export async function listOthersIds(sql: Db, claims: readonly ClaimedIds[]): Promise<Map<string, string>> {
  const wanted = claims.flatMap(({ provider_ids, ...claim }) =>
    provider_ids.map((provider_id) => ({ ...claim, provider_id })),
  )
  if (wanted.length === 0) return new Map()
  const rows = await sql<{ provider_id: string; message_id: string }[]>`
    select t.provider_id, t.message_id from json_to_recordset(${jsonRows(wanted)}::text::json) as t(account_id text, mode text, channel_id text, message_id text, provider_id text)
    join provider_references r on r.channel_id = t.channel_id and r.provider_id = t.provider_id and r.account_id = t.account_id and r.mode = t.mode and r.message_id <> t.message_id`
  return new Map(rows.map(({ provider_id, message_id }) => [provider_id, message_id]))
}
